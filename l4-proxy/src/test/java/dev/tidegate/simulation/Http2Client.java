package dev.tidegate.simulation;

import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * A client of HTTP/2 with some streams at once. It obeys a GOAWAY: it opens no more streams, asks again elsewhere what the
 * endpoint did not look at, and waits for the rest. A stubborn one does not obey.
 */
final class Http2Client extends SimClient {
    private static final int MOST_STREAMS = 4;
    private static final int LARGEST_BODY = 2_000;
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(60);
    private static final int NONE = Integer.MAX_VALUE;

    /** A request that waits for its answer. */
    private static final class Asked {
        final int number;
        final int wanted;
        final long arrivedNanos;
        int got;
        boolean begun;

        Asked(int number, int wanted, long arrivedNanos) {
            this.number = number;
            this.wanted = wanted;
            this.arrivedNanos = arrivedNanos;
        }
    }

    private final int id;
    private final Map<Integer, Asked> owed = new TreeMap<>(); // by stream
    private final Inbox inbox = new Inbox();
    private int nextStream = 1;
    private int lastStream = NONE; // that is looked at, by the last GOAWAY
    private boolean told;
    private long toldNanos;
    private long refusedNanos = Long.MAX_VALUE; // after it was told first

    Http2Client(Crowd crowd, SimNetwork network, RandomGenerator random, int id, Temper temper) {
        super(crowd, network, random, id, temper);
        this.id = id;
    }

    @Override
    Speech speech() {
        return Speech.HTTP2;
    }

    /** Its settings hold who it is, under a name that HTTP/2 does not know: such are ignored (RFC 9113 section 6.5.2). */
    @Override
    void greet() {
        send(Frame.PREFACE);
        send(new Frame(Frame.SETTINGS, 0, 0, new byte[] {
                    (byte) 0xfe, 0, (byte) (id >> 24), (byte) (id >> 16), (byte) (id >> 8), (byte) id
                })
                .bytes());
    }

    @Override
    boolean canAsk() {
        boolean obeys = told && !temper().stubborn();
        return !obeys && owed.size() < (temper().eager() ? MOST_STREAMS : 1);
    }

    @Override
    void ask(int number, int answerBytes) {
        int stream = nextStream;
        nextStream += 2;
        boolean uploads = random().nextInt(4) == 0;
        int flags = Frame.END_HEADERS | (uploads ? 0 : Frame.END_STREAM);
        Frame head = Frame.ofInts(Frame.HEADERS, flags, stream, number, answerBytes);
        long arrives = sendReturningArrival(head.bytes());
        if (stream <= lastStream) {
            owed.put(stream, new Asked(number, answerBytes, arrives));
        }
        if (uploads) {
            byte[] body = Talk.answer(id, number, 0, random().nextInt(LARGEST_BODY));
            Frame data = new Frame(Frame.DATA, Frame.END_STREAM, stream, body);
            if (temper().manner() == Temper.Manner.HASTY) {
                send(data.bytes());
            } else {
                in(random().nextLong(LONGEST_PAUSE), () -> send(data.bytes()));
            }
        } else if (random().nextInt(8) == 0) {
            send(Frame.ofInts(Frame.PING, 0, 0, id, number).bytes());
        }
    }

    @Override
    void understand(byte[] bytes) {
        inbox.add(bytes);
        for (Frame frame = Frame.next(inbox); frame != null; frame = Frame.next(inbox)) {
            on(frame);
        }
    }

    private void on(Frame frame) {
        switch (frame.type()) {
            case Frame.SETTINGS -> {
                if (!frame.has(Frame.ACK)) {
                    send(frame.acknowledged().bytes());
                }
            }
            case Frame.CONTINUATION -> {}
            case Frame.PING -> {
                if (frame.isPing(false)) {
                    send(frame.acknowledged().bytes());
                }
            }
            case Frame.GOAWAY -> onGoaway(frame.number(0), frame.number(1));
            case Frame.HEADERS, Frame.DATA, Frame.RST_STREAM -> onAnswer(frame);
            default -> throw new AssertionError(frame + " is what no endpoint sends: " + this);
        }
    }

    private void onAnswer(Frame frame) {
        Asked asked = owed.get(frame.stream());
        if (asked == null) {
            throw new AssertionError(frame + " is of a stream that is not open: " + this);
        }
        asked.begun = true;
        if (frame.type() == Frame.DATA) {
            Talk.checkAnswer(frame.payload(), id, asked.number, asked.got, this);
            asked.got += frame.length();
        }
        if (frame.type() == Frame.RST_STREAM || frame.has(Frame.END_STREAM)) {
            if (frame.type() != Frame.RST_STREAM && asked.got != asked.wanted) {
                throw new AssertionError(
                        asked.got + " bytes instead of " + asked.wanted + " of answer " + asked.number + ": " + this);
            }
            owed.remove(frame.stream());
            if (told && !temper().stubborn()) {
                leaveIfDone();
            } else {
                goOn();
            }
        }
    }

    private void onGoaway(int last, int error) {
        Judge.check(error == 0, () -> "a GOAWAY with error " + error + ": " + this);
        Judge.check(
                last <= lastStream || lastStream == NONE,
                () -> "a GOAWAY of " + last + " after " + lastStream + ": " + this);
        lastStream = last;
        int unheard = 0;
        for (Iterator<Integer> streams = owed.keySet().iterator(); streams.hasNext(); ) {
            if (streams.next() > last) {
                streams.remove();
                unheard++;
            }
        }
        toldNanos = told ? toldNanos : now();
        told = true;
        if (!temper().stubborn()) {
            if (unheard > 0) {
                refusedNanos = Math.min(refusedNanos, now() - toldNanos);
            }
            if (!hasEnded()) {
                comeAgain(unheard);
            }
            leaveIfDone();
        }
    }

    /** Half of them go as soon as nothing is owed, the others wait for the end. */
    private void leaveIfDone() {
        if (owed.isEmpty() && (id & 1) == 0) {
            end();
        }
    }

    @Override
    int lastLookedAt() {
        return lastStream;
    }

    /** Whether streams that it had opened in good faith were refused, less than that after it was told first. */
    boolean isRefusedWithin(long nanos) {
        return refusedNanos < nanos;
    }

    @Override
    boolean isTold() {
        return told;
    }

    @Override
    boolean isOwed() {
        return !owed.isEmpty();
    }

    @Override
    boolean isBegun() {
        return inbox.size() > 0 || owed.values().stream().anyMatch(each -> each.begun);
    }

    @Override
    long owedSinceNanos() {
        return owed.values().iterator().next().arrivedNanos;
    }
}
