package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Probe;
import dev.tidegate.health.ProbeContext;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A dialogue: passes when its last step is done. Immutable.
 *
 * <p>What is awaited may come in pieces and with other bytes around it; up to 64 KiB are looked at. The connection ends by
 * a FIN of this side, after which what comes is discarded, so that the endpoint sees no reset; the TIME_WAIT stays here.
 *
 * @param steps in order
 * @param notReady looked for first in all that is awaited, read as ISO 8859-1; where found, the target is not ready
 */
public record SendExpectProbe(List<Step> steps, Optional<Regex> notReady) implements Probe {
    static final int AWAITED_MAX_BYTES = 64 * 1024;

    /** Copies the list. */
    public SendExpectProbe {
        steps = List.copyOf(steps);
        Objects.requireNonNull(notReady, "notReady");
    }

    @Override
    public Run start(ProbeContext context, InetSocketAddress address, Consumer<Finding> done) {
        Conversation conversation = new Conversation(done, PoliteClose::finFirst);
        return conversation.begin(context, address, pipeline -> pipeline.addLast(new Dialogue(this, conversation)));
    }

    /** One step of a dialogue. */
    public sealed interface Step permits Send, Expect, ExpectRegex {}

    /**
     * Send.
     *
     * @param bytes what
     */
    public record Send(Bytes bytes) implements Step {}

    /**
     * Wait for some bytes in what has come since the last step that waited.
     *
     * @param bytes which
     */
    public record Expect(Bytes bytes) implements Step {
        @Override
        public String toString() {
            return bytes.toString();
        }
    }

    /**
     * Wait until an expression is found in what has come since the last step that waited, read as ISO 8859-1.
     *
     * @param regex which
     */
    public record ExpectRegex(Regex regex) implements Step {
        @Override
        public String toString() {
            return regex.toString();
        }
    }

    private static final class Dialogue extends SimpleChannelInboundHandler<ByteBuf> {
        private final SendExpectProbe probe;
        private final Conversation conversation;
        private final Regex.Effort effort = new Regex.Effort();
        private ByteBuf came;
        private int at;
        private int searchedBytes;

        Dialogue(SendExpectProbe probe, Conversation conversation) {
            this.probe = probe;
            this.conversation = conversation;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            came = ctx.alloc().heapBuffer();
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            came.release();
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            conversation.await("end of the dialogue");
            goOn(ctx);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf more) {
            if (!conversation.isOver()) {
                came.writeBytes(more);
                if (came.readableBytes() > AWAITED_MAX_BYTES) {
                    goOn(ctx);
                }
            }
        }

        /** Not for every piece: one look at all that the socket had. */
        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            goOn(ctx);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            conversation.onClosed("; came: " + Printable.quoted(came));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable fault) {
            conversation.onFault(fault);
        }

        private void goOn(ChannelHandlerContext ctx) {
            try {
                while (!conversation.isOver() && at < probe.steps.size() && isDone(probe.steps.get(at), ctx)) {
                    at++;
                }
            } catch (Regex.TooMuchWork e) {
                conversation.fail(e.getMessage());
            }
            ctx.flush();
            if (at == probe.steps.size()) {
                conversation.tell(Finding.pass(at == 1 ? "1 step done" : "all " + at + " steps done"));
            }
        }

        private boolean isDone(Step step, ChannelHandlerContext ctx) throws Regex.TooMuchWork {
            if (step instanceof Send send) {
                ctx.write(send.bytes.toBuffer());
                return true;
            }
            conversation.await(step.toString());
            if (isNotReady()) {
                conversation.tell(Finding.notReady("answered " + Printable.quoted(came)));
                return false;
            }
            int end = endOfFound(step);
            if (end >= 0) {
                came.skipBytes(end).discardReadBytes();
                searchedBytes = 0;
                return true;
            }
            if (came.readableBytes() > AWAITED_MAX_BYTES) {
                conversation.fail("no " + step + " in the first 64 KiB; came: " + Printable.quoted(came));
            }
            return false;
        }

        private boolean isNotReady() throws Regex.TooMuchWork {
            return probe.notReady.isPresent() && probe.notReady.get().endOfFound(text(), effort) >= 0;
        }

        /** How many of the bytes that came end with what is awaited; -1 if it is not among them. */
        private int endOfFound(Step step) throws Regex.TooMuchWork {
            if (step instanceof ExpectRegex expect) {
                return expect.regex.endOfFound(text(), effort);
            }
            Bytes wanted = ((Expect) step).bytes;
            int from = Math.max(0, searchedBytes - wanted.length() + 1);
            ByteBuf lookedAt = lookedAt();
            searchedBytes = lookedAt.readableBytes();
            int found = wanted.indexIn(lookedAt, from);
            return found < 0 ? -1 : found + wanted.length();
        }

        private String text() {
            return lookedAt().toString(StandardCharsets.ISO_8859_1);
        }

        private ByteBuf lookedAt() {
            return came.slice(came.readerIndex(), Math.min(came.readableBytes(), AWAITED_MAX_BYTES));
        }
    }
}
