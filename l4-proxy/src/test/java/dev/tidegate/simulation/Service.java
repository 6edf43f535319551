package dev.tidegate.simulation;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** What an endpoint does on one connection: answers requests after a while, piece by piece. */
abstract class Service {
    static final int PIECE_BYTES = 4_000;
    private static final long LONGEST_THOUGHT = TimeUnit.MILLISECONDS.toNanos(600);
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(30);
    /** One in so many tells its clients itself when it has had enough of a connection. */
    private static final int LEAVERS = 6;

    private final SimEndpoint endpoint;
    private final Link link;
    private final RandomGenerator random;
    private final Inbox inbox = new Inbox();
    private Transcript transcript;
    private int leavesAfter;
    private boolean clientEnded;
    private boolean ended;

    Service(SimEndpoint endpoint, Link link, RandomGenerator random) {
        this.endpoint = endpoint;
        this.link = link;
        this.random = random;
        this.leavesAfter = random.nextInt(LEAVERS) == 0 ? 1 + random.nextInt(4) : Integer.MAX_VALUE;
    }

    /** Reads what is in the inbox, as far as it can. */
    abstract void read();

    /** Answers that are owed. */
    abstract boolean isOwing();

    final Inbox inbox() {
        return inbox;
    }

    final RandomGenerator random() {
        return random;
    }

    final void onBytes(byte[] bytes) {
        inbox.add(bytes);
        if (transcript != null) {
            transcript.endpointGot(bytes);
        }
        read();
    }

    final void onFin() {
        clientEnded = true;
        endIfDone();
    }

    /** Whoever has ended its side still gets what it asked for before. */
    final void endIfDone() {
        if (clientEnded && !isOwing()) {
            end();
        }
    }

    final void end() {
        if (!ended) {
            ended = true;
            endpoint.forget(link);
            link.fin();
        }
    }

    /** The client is known by what it has said, which was all that has come so far, whether it is read or not. */
    final void serves(int client, byte[] readSoFar) {
        if (transcript == null) {
            transcript = endpoint.transcript(client);
            transcript.servedBy(link);
            transcript.endpointGot(readSoFar);
            transcript.endpointGot(inbox.peek());
        }
        Judge.check(transcript == endpoint.transcript(client), () -> "one connection brings bytes of two clients");
    }

    final void took(int request) {
        transcript.took(request);
        leavesAfter--;
    }

    /** Whether it has had enough of this connection. */
    final boolean isLeaving() {
        return leavesAfter <= 0;
    }

    final void tellThatItLeaves() {
        transcript.endpointLeaves();
    }

    /** Some of the time in two pieces. */
    final void send(byte[] bytes) {
        if (ended) {
            return;
        }
        transcript.endpointSent(bytes);
        if (bytes.length > 1 && random.nextInt(8) == 0) {
            int cut = 1 + random.nextInt(bytes.length - 1);
            link.send(Arrays.copyOf(bytes, cut));
            link.send(Arrays.copyOfRange(bytes, cut, bytes.length));
        } else {
            link.send(bytes);
        }
    }

    final void afterAThought(Runnable what) {
        in(random.nextLong(LONGEST_THOUGHT), what);
    }

    final void afterAPause(Runnable what) {
        in(random.nextLong(LONGEST_PAUSE), what);
    }

    private void in(long nanos, Runnable what) {
        endpoint.in(nanos, () -> {
            if (!ended && endpoint.isServing(link)) {
                what.run();
            }
        });
    }
}
