package dev.tidegate.admin;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Bounds each phase of an admin connection: a request must be complete in time from its first byte (the first one from
 * accept), an answer must be taken in time, and a pause may last only so long; so may the work for an answer, which is not the
 * client's time. A deadline is not moved by progress within a phase, so a client that sends one byte a second gains nothing.
 *
 * <p>Confined to the admin loop.
 */
final class ExchangeClock extends ChannelInboundHandlerAdapter {
    /** Far beyond what anything takes, a reload of ten thousand endpoints on a starved machine included. */
    private static final Duration WORK_TIME = Duration.ofMinutes(2);

    private final AdminLimits limits;
    private ChannelHandlerContext ctx;
    private Future<?> deadline;
    private boolean idle;

    ExchangeClock(AdminLimits limits) {
        this.limits = limits;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        arm(limits.requestTime());
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        deadline.cancel(false);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (idle) {
            idle = false;
            arm(limits.requestTime());
        }
        context.fireChannelRead(message);
    }

    /** A request is complete, and carried out now. */
    void working() {
        idle = false;
        arm(WORK_TIME);
    }

    /** The answer is on its way. */
    void answering() {
        idle = false;
        arm(limits.requestTime());
    }

    /** The answer is out; a next request may come. */
    void idle() {
        idle = true;
        arm(limits.idleTime());
    }

    /** The last answer is out; the client may take it. */
    void closing() {
        idle = false;
        arm(limits.lingerTime());
    }

    /** The answer goes on for as long as the client likes. */
    void streaming() {
        idle = false;
        deadline.cancel(false);
    }

    private void arm(Duration time) {
        if (deadline != null) {
            deadline.cancel(false);
        }
        deadline = ctx.executor().schedule(() -> ctx.close(), time.toNanos(), TimeUnit.NANOSECONDS);
    }
}
