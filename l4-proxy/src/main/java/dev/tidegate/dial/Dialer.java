package dev.tidegate.dial;

import dev.tidegate.lifetime.Deadlines;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.telemetry.WorkerCounters;
import io.netty.channel.EventLoop;
import java.util.random.RandomGenerator;

/**
 * What every dial of one worker shares. Confined to its worker's loop.
 *
 * @param loop the worker's loop
 * @param deadlines the worker's deadlines
 * @param ticker monotonic time
 * @param random the worker's randomness
 * @param counters the worker's counters
 * @param opener makes channels
 */
public record Dialer(
        EventLoop loop,
        Deadlines deadlines,
        Ticker ticker,
        RandomGenerator random,
        WorkerCounters counters,
        ChannelOpener opener) {}
