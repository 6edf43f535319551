package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Probe;
import dev.tidegate.health.ProbeContext;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.function.Consumer;

/**
 * Does the target take a connection? To be connected is to pass. Immutable.
 *
 * <p>The check is over then; the connection still has to end, in one of two ways:
 *
 * <ul>
 *   <li>Politely (the default): FIN, then what the target says is read and thrown away until its own FIN, for at most 1 s.
 *       A server that greets first, such as SSH, sees the end of the stream and no reset. This machine keeps a TIME_WAIT
 *       for each check, for a minute: an interval of 2 s makes 30 a target, each on a source port that other targets can
 *       use too.
 *   <li>By reset: no TIME_WAIT. On Linux with epoll the last acknowledgement of the handshake is held back, so that most
 *       often the reset comes first and the target's program never hears of the connection; where it does, it sees a
 *       reset. A PROXY header ahead of it carries the acknowledgement: then it hears of each.
 * </ul>
 *
 * @param reset whether it ends by reset
 */
public record TcpProbe(boolean reset) implements Probe {
    @Override
    public Run start(ProbeContext context, InetSocketAddress address, Consumer<Finding> done) {
        Connecting run = new Connecting(reset, done);
        ChannelFuture connect = context.connector().connect(address, run);
        run.connect = connect;
        connect.addListener(run::onConnect);
        return run;
    }

    /** A connect, and after it the end of the connection. Confined to the loop. */
    private static final class Connecting extends ChannelInboundHandlerAdapter implements Run {
        private final boolean reset;
        private final Consumer<Finding> done;
        private ChannelFuture connect;
        private boolean over;

        Connecting(boolean reset, Consumer<Finding> done) {
            this.reset = reset;
            this.done = done;
        }

        /** The socket is there, its connect is not under way yet. */
        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            if (reset) {
                ctx.channel().config().setOption(ChannelOption.SO_LINGER, 0);
                // Other sockets than epoll's do not know it, and say so by false.
                ctx.channel().config().setOption(EpollChannelOption.TCP_QUICKACK, false);
            }
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            if (reset) {
                ctx.close();
            } else {
                PoliteClose.finFirst(ctx.channel());
            }
            tell(Finding.pass("connected"));
        }

        private void onConnect(Future<? super Void> connected) {
            if (!connected.isSuccess()) {
                tell(Finding.ofFault(connected.cause()));
            }
        }

        private void tell(Finding finding) {
            if (!over) {
                over = true;
                done.accept(finding);
            }
        }

        /** The target has reset it: it is over either way, and the check has passed. */
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }

        @Override
        public String cancel() {
            if (!over) {
                over = true;
                connect.channel().close();
            }
            return "no connection";
        }
    }
}
