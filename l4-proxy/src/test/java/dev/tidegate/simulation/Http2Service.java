package dev.tidegate.simulation;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/** Answers HTTP/2, as many streams at once as the client opens. */
final class Http2Service extends Service {
    private static final byte[] OWN_PING = {'e', 'n', 'd', 'p', 'o', 'i', 'n', 't'};
    private static final Frame PING = new Frame(Frame.PING, 0, 0, OWN_PING);
    private static final int GOES_ON = Integer.MAX_VALUE;

    /** A request that is not answered whole. */
    private record Request(int number, int count) {}

    private final Map<Integer, Request> owed = new TreeMap<>(); // by stream
    private int client;
    private int prefaceLeft = Frame.PREFACE.length;
    private int pings; // of its own, unanswered
    private int lastStream;
    private int refusedAbove = GOES_ON;

    Http2Service(SimEndpoint endpoint, Link link, RandomGenerator random) {
        super(endpoint, link, random);
    }

    @Override
    void read() {
        if (prefaceLeft > 0) {
            if (inbox().size() < prefaceLeft) {
                return;
            }
            Judge.check(Arrays.equals(inbox().take(prefaceLeft), Frame.PREFACE), () -> "no preface of HTTP/2");
            prefaceLeft = 0;
        }
        for (Frame frame = Frame.next(inbox()); frame != null; frame = Frame.next(inbox())) {
            on(frame);
        }
    }

    private void on(Frame frame) {
        switch (frame.type()) {
            case Frame.SETTINGS -> {
                if (!frame.has(Frame.ACK)) {
                    greet(frame);
                }
            }
            case Frame.PING -> onPing(frame);
            case Frame.HEADERS -> onRequest(frame);
            case Frame.DATA -> endRequest(frame);
            default -> throw new AssertionError(frame + " has come to an endpoint");
        }
    }

    private void greet(Frame settings) {
        client = ByteBuffer.wrap(settings.payload()).getInt(2);
        ByteBuffer read = ByteBuffer.allocate(Frame.PREFACE.length + settings.bytes().length);
        serves(client, read.put(Frame.PREFACE).put(settings.bytes()).array());
        send(new Frame(Frame.SETTINGS, 0, 0, new byte[0]).bytes());
        send(new Frame(Frame.SETTINGS, Frame.ACK, 0, new byte[0]).bytes());
    }

    private void onPing(Frame frame) {
        if (frame.isPing(false)) {
            send(frame.acknowledged().bytes());
        } else {
            Judge.check(
                    pings > 0 && frame.sameAs(PING.acknowledged()),
                    () -> "an acknowledgement has come to an endpoint that did not ask for it");
            pings--;
        }
    }

    private void onRequest(Frame head) {
        Judge.check(head.stream() > lastStream, () -> "stream " + head.stream() + " comes after " + lastStream);
        lastStream = head.stream();
        if (head.stream() < refusedAbove) {
            owed.put(head.stream(), new Request(head.number(0), head.number(1)));
            endRequest(head);
        }
    }

    private void endRequest(Frame frame) {
        Request request = owed.get(frame.stream());
        if (request == null || !frame.has(Frame.END_STREAM)) {
            return;
        }
        took(frame.stream());
        afterAThought(() -> answer(frame.stream()));
        if (isLeaving() && refusedAbove == GOES_ON) {
            refusedAbove = lastStream + 1;
            tellThatItLeaves();
            send(Frame.ofInts(Frame.GOAWAY, 0, 0, lastStream, 0).bytes());
        }
    }

    private void answer(int stream) {
        Request request = owed.get(stream);
        if (random().nextInt(20) == 0) {
            send(Frame.ofInts(Frame.RST_STREAM, 0, stream, 2).bytes());
            done(stream);
            return;
        }
        int flags = request.count() == 0 ? Frame.END_STREAM : 0;
        byte[] block = {(byte) 0x88};
        if (random().nextInt(4) == 0) {
            send(new Frame(Frame.HEADERS, flags, stream, block).bytes());
            send(new Frame(Frame.CONTINUATION, Frame.END_HEADERS, stream, block).bytes());
        } else {
            send(new Frame(Frame.HEADERS, flags | Frame.END_HEADERS, stream, block).bytes());
        }
        if (request.count() == 0) {
            done(stream);
        } else {
            body(stream, 0);
        }
    }

    private void body(int stream, int from) {
        Request request = owed.get(stream);
        int piece = Math.min(PIECE_BYTES, request.count() - from);
        boolean last = from + piece == request.count();
        send(new Frame(
                        Frame.DATA,
                        last ? Frame.END_STREAM : 0,
                        stream,
                        Talk.answer(client, request.number(), from, piece))
                .bytes());
        if (last) {
            done(stream);
        } else {
            afterAPause(() -> body(stream, from + piece));
        }
    }

    private void done(int stream) {
        owed.remove(stream);
        if (owed.isEmpty() && refusedAbove != GOES_ON) {
            end();
        } else if (random().nextInt(8) == 0) {
            pings++;
            send(PING.bytes());
        }
        endIfDone();
    }

    @Override
    boolean isOwing() {
        return !owed.isEmpty();
    }
}
