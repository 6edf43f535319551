package dev.tidegate.connection;

import dev.tidegate.model.CloseReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelOutputShutdownException;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;

/** All that a connection can be told. */
enum ConnectionEvent {
    CLIENT_BYTES {
        @Override
        void happen(ConnectionBench bench) {
            bench.clientHandler.channelRead(null, bytes());
        }
    },
    ENDPOINT_BYTES {
        @Override
        void happen(ConnectionBench bench) {
            // Before it is connected a socket gives no bytes.
            if (bench.connection.picksUnder() == Long.MAX_VALUE) {
                bench.endpointHandler.channelRead(null, bytes());
            }
        }
    },
    CLIENT_FIN {
        @Override
        void happen(ConnectionBench bench) {
            bench.clientHandler.userEventTriggered(null, ChannelInputShutdownEvent.INSTANCE);
        }
    },
    ENDPOINT_FIN {
        @Override
        void happen(ConnectionBench bench) {
            bench.endpointHandler.userEventTriggered(null, ChannelInputShutdownEvent.INSTANCE);
        }
    },
    CLIENT_RESET {
        @Override
        void happen(ConnectionBench bench) {
            bench.clientHandler.exceptionCaught(null, new IOException("Connection reset by peer"));
        }
    },
    ENDPOINT_RESET {
        @Override
        void happen(ConnectionBench bench) {
            bench.endpointHandler.exceptionCaught(null, new IOException("Connection reset by peer"));
        }
    },
    /** A write to the client met a dead socket. */
    CLIENT_REFUSES_BYTES {
        @Override
        void happen(ConnectionBench bench) {
            bench.clientHandler.exceptionCaught(null, new ChannelOutputShutdownException("Broken pipe"));
        }
    },
    /** A write to the endpoint met a dead socket. */
    ENDPOINT_REFUSES_BYTES {
        @Override
        void happen(ConnectionBench bench) {
            bench.endpointHandler.exceptionCaught(null, new ChannelOutputShutdownException("Broken pipe"));
        }
    },
    CLIENT_READS {
        @Override
        void happen(ConnectionBench bench) {
            bench.client.reads();
        }
    },
    CONNECTED {
        @Override
        void happen(ConnectionBench bench) {
            bench.endpoint.connected();
        }
    },
    REFUSED {
        @Override
        void happen(ConnectionBench bench) {
            bench.endpoint.connect.tryFailure(new ConnectException("Connection refused"));
        }
    },
    RETIRED {
        @Override
        void happen(ConnectionBench bench) {
            long now = bench.worker.nowNanos();
            bench.connection.retire(bench.order, now, now + 3_600 * ConnectionBench.SECOND);
        }
    },
    MAY_STAY {
        @Override
        void happen(ConnectionBench bench) {
            bench.connection.stay(bench.order);
        }
    },
    ABORTED {
        @Override
        void happen(ConnectionBench bench) {
            bench.connection.abort(CloseReason.OVERLOAD);
        }
    },
    /** Longer than any time-out. */
    SILENCE {
        @Override
        void happen(ConnectionBench bench) {
            bench.crank.advance(Duration.ofMinutes(2));
        }
    };

    abstract void happen(ConnectionBench bench);

    private static ByteBuf bytes() {
        return Unpooled.directBuffer().writeZero(200_000);
    }
}
