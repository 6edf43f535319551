package dev.tidegate.admin;

import dev.tidegate.admin.view.EventView;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.DefaultHttpContent;
import java.nio.charset.StandardCharsets;

/**
 * One follower of events (server-sent events, as the HTML standard has them). What it does not take is not kept for long: a
 * follower with too much waiting is dropped when the next event comes, and may come back with {@code Last-Event-ID}.
 * Confined to the admin loop.
 */
final class EventStream {
    private final Channel channel;
    private final Caller caller;
    private long toldId = Long.MIN_VALUE;

    EventStream(Channel channel, Caller caller) {
        this.channel = channel;
        this.caller = caller;
    }

    Caller caller() {
        return caller;
    }

    Channel channel() {
        return channel;
    }

    /** Sends what was before, however much it is. */
    void begin(byte[] frames, long lastId) {
        toldId = lastId;
        write(frames);
    }

    /** Tells an event, once. False: it takes too slowly, and must be dropped. */
    boolean tryTell(EventView event, byte[] frame) {
        if (event.id() <= toldId) {
            return true;
        }
        toldId = event.id();
        return trySend(frame);
    }

    /** A sign of life. False: it takes too slowly, and must be dropped. */
    boolean tryBeat() {
        return trySend(": still here\n\n".getBytes(StandardCharsets.UTF_8));
    }

    /** Tells how things stand, unless it has yet to take what it was told before: the next time will do. */
    void tellStats(byte[] frame) {
        if (channel.isActive() && channel.isWritable()) {
            write(frame);
        }
    }

    private boolean trySend(byte[] frame) {
        if (!channel.isActive()) {
            return true; // its end is on its way
        }
        if (!channel.isWritable()) {
            return false;
        }
        write(frame);
        return true;
    }

    private void write(byte[] frame) {
        channel.writeAndFlush(
                new DefaultHttpContent(Unpooled.wrappedBuffer(frame))); // the bytes are shared, and only read
    }
}
