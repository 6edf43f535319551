package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Probe;
import dev.tidegate.health.ProbeContext;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.function.Consumer;

/**
 * A check's one connection: from the connect to the finding, which is told once, and the end. Confined to the loop.
 *
 * <p>The handlers of a protocol say what they wait for ({@link #await}), and hand over what ends it for any protocol:
 * {@link #onClosed} and {@link #onFault}.
 */
final class Conversation implements Probe.Run {
    private static final String CONNECTION = "connection";

    private final Consumer<Finding> done;
    private final Consumer<Channel> ending;
    private Channel channel;
    private String awaited = CONNECTION;
    private boolean over;

    /**
     * A conversation that has not begun.
     *
     * @param done told the finding
     * @param ending how an open connection ends after the finding
     */
    Conversation(Consumer<Finding> done, Consumer<Channel> ending) {
        this.done = done;
        this.ending = ending;
    }

    /** Connects; {@code protocol} puts its handlers into the channel's pipeline. */
    Conversation begin(ProbeContext context, InetSocketAddress address, Consumer<ChannelPipeline> protocol) {
        ChannelHandler setUp = new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                channel = ch;
                ch.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
                setUp(context, ch, protocol);
            }
        };
        ChannelFuture connect = context.connector().connect(address, setUp);
        channel = connect.channel();
        connect.addListener(connected -> {
            if (!connected.isSuccess()) {
                tell(Finding.ofFault(connected.cause()));
            }
        });
        return this;
    }

    /** What throws here would end as a connection that the other side has closed. */
    private void setUp(ProbeContext context, Channel ch, Consumer<ChannelPipeline> protocol) {
        try {
            protocol.accept(ch.pipeline());
        } catch (Throwable fault) {
            context.watch().onOwnFault("set-up", fault);
            tell(Finding.ofOwnFault(fault));
            ch.close();
        }
    }

    /** Whether there is nothing more to tell: what still comes is of no interest. */
    boolean isOver() {
        return over;
    }

    /** Connected, and now waiting for {@code noun}: the word after "no" when it does not come. */
    void await(String noun) {
        awaited = noun;
    }

    /** The other side has closed. */
    void onClosed() {
        onClosed("");
    }

    /** The other side has closed; {@code addition} tells more. */
    void onClosed(String addition) {
        if (isConnected()) {
            fail("connection closed, and no " + awaited + addition);
        }
    }

    /** An exception of the socket, or one that a protocol has no words for. */
    void onFault(Throwable fault) {
        if (fault instanceof ClosedChannelException) {
            onClosed();
        } else if (isConnected()) {
            Finding found = Finding.ofFault(fault);
            tell(new Finding(found.word(), Printable.line(found.detail()) + ", and no " + awaited));
        }
    }

    /** Before that, it is the connect that tells. */
    private boolean isConnected() {
        return !awaited.equals(CONNECTION);
    }

    void fail(String detail) {
        tell(Finding.fail(detail));
    }

    /** The end: ends the connection and tells. After the first, without effect. */
    void tell(Finding finding) {
        if (over) {
            return;
        }
        over = true;
        if (channel != null && channel.isActive()) {
            ending.accept(channel);
        }
        done.accept(finding);
    }

    @Override
    public String cancel() {
        if (!over) {
            over = true;
            closeAtOnce();
        }
        return "no " + awaited;
    }

    /** Past the codecs, some of which would first say goodbye and wait. */
    private void closeAtOnce() {
        ChannelHandlerContext first = channel.pipeline().firstContext();
        if (first == null) {
            channel.close();
        } else {
            first.close();
        }
    }
}
