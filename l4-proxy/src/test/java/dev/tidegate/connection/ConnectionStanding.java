package dev.tidegate.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;

/** The states, and the marks within RELAYING and CLOSING that make a difference. */
enum ConnectionStanding {
    DIALING {
        @Override
        void reach(ConnectionBench bench) {
            assertEquals("open, open, lives", bench.outcome());
        }
    },
    /** The client has sent something and ended its side. */
    DIALING_FOR_ENDED {
        @Override
        void reach(ConnectionBench bench) {
            ConnectionEvent.CLIENT_BYTES.happen(bench);
            ConnectionEvent.CLIENT_FIN.happen(bench);
        }
    },
    RELAYING {
        @Override
        void reach(ConnectionBench bench) {
            ConnectionEvent.CONNECTED.happen(bench);
        }
    },
    CLIENT_ENDED {
        @Override
        void reach(ConnectionBench bench) {
            RELAYING.reach(bench);
            ConnectionEvent.CLIENT_FIN.happen(bench);
            assertEquals("open, fin, lives", bench.outcome());
        }
    },
    ENDPOINT_ENDED {
        @Override
        void reach(ConnectionBench bench) {
            RELAYING.reach(bench);
            ConnectionEvent.ENDPOINT_FIN.happen(bench);
            assertEquals("fin, open, lives", bench.outcome());
        }
    },
    /** The client does not read, and bytes wait for it. */
    BLOCKED {
        @Override
        void reach(ConnectionBench bench) {
            RELAYING.reach(bench);
            bench.client.blocked = true;
            ConnectionEvent.ENDPOINT_BYTES.happen(bench);
            assertEquals(false, bench.endpoint.config().isAutoRead());
        }
    },
    /** The client has ended its side and does not read its answer. */
    ANSWER_BLOCKED {
        @Override
        void reach(ConnectionBench bench) {
            BLOCKED.reach(bench);
            ConnectionEvent.CLIENT_FIN.happen(bench);
            assertEquals("open, fin, lives", bench.outcome());
        }
    },
    /** Neither side reads, and bytes wait for both. */
    BOTH_BLOCKED {
        @Override
        void reach(ConnectionBench bench) {
            BLOCKED.reach(bench);
            bench.endpoint.blocked = true;
            ConnectionEvent.CLIENT_BYTES.happen(bench);
        }
    },
    /** A write has met the endpoint's dead socket, whose end is still to be read. */
    ENDPOINT_REFUSES {
        @Override
        void reach(ConnectionBench bench) {
            RELAYING.reach(bench);
            ConnectionEvent.ENDPOINT_REFUSES_BYTES.happen(bench);
        }
    },
    RETIRING {
        @Override
        void reach(ConnectionBench bench) {
            RELAYING.reach(bench);
            ConnectionEvent.RETIRED.happen(bench);
        }
    },
    /** CLOSING after the endpoint's reset, with bytes that wait for the client. */
    FLUSHING {
        @Override
        void reach(ConnectionBench bench) {
            BLOCKED.reach(bench);
            ConnectionEvent.ENDPOINT_RESET.happen(bench);
            assertEquals("open, reset, lives", bench.outcome());
        }
    },
    /** CLOSING at a quiet moment. */
    LINGERING {
        @Override
        void reach(ConnectionBench bench) {
            RETIRING.reach(bench);
            bench.crank.advance(Duration.ofSeconds(6));
            assertEquals("fin, closed, lives", bench.outcome());
        }
    },
    CLOSED {
        @Override
        void reach(ConnectionBench bench) {
            RELAYING.reach(bench);
            ConnectionEvent.ABORTED.happen(bench);
        }
    };

    abstract void reach(ConnectionBench bench);
}
