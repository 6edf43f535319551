package dev.tidegate.simulation;

import java.util.Arrays;

/**
 * What may have happened to a connection's bytes on their way through the balancer: nothing, but for what it is to insert
 * ({@code Connection: close} in one head of HTTP/1; at most two GOAWAYs and a PING between frames of HTTP/2) and to take out
 * (the acknowledgement of its PING). What has come is what was sent, as far as it came.
 */
final class Passage {
    private static final byte[] CLOSE_LINE = Http1Client.ascii("Connection: close\r\n");
    private static final int MOST_GOAWAYS = 2;
    private static final int MOST_PINGS = 1;

    private Passage() {}

    static void checkToClient(SimClient client, boolean opaque) {
        byte[] sent = client.transcript().sentByEndpoint();
        byte[] came = client.transcript().cameToClient();
        switch (opaque ? Speech.OPAQUE : client.speech()) {
            case OPAQUE -> checkSame(sent, came, 0, 0, client);
            case HTTP1 -> checkHttp1(sent, came, client);
            case HTTP2 -> checkHttp2(sent, came, client);
        }
    }

    static void checkToEndpoint(SimClient client, boolean opaque) {
        byte[] sent = client.transcript().sentByClient();
        byte[] came = client.transcript().cameToEndpoint();
        if (opaque || client.speech() != Speech.HTTP2 || isStartOf(sent, came)) {
            checkSame(sent, came, 0, 0, client);
        } else {
            checkWithoutAcknowledgement(sent, came, client);
        }
    }

    private static boolean isStartOf(byte[] sent, byte[] came) {
        int end = Arrays.mismatch(sent, came);
        return end < 0 || end == came.length;
    }

    /** What came from there on is what was sent from there on. */
    private static void checkSame(byte[] sent, byte[] came, int sentFrom, int cameFrom, SimClient client) {
        int same = Arrays.mismatch(sent, sentFrom, sent.length, came, cameFrom, came.length);
        Judge.check(
                same < 0 || cameFrom + same == came.length,
                () -> "byte " + (cameFrom + same) + " that came was not sent so: " + client);
    }

    private static void checkHttp1(byte[] sent, byte[] came, SimClient client) {
        int differs = Arrays.mismatch(sent, came);
        if (differs < 0 || differs == came.length) {
            return;
        }
        int line = differs;
        while (line > 0 && came[line - 1] != '\n') {
            line--;
        }
        int end = Math.min(came.length, line + CLOSE_LINE.length);
        Judge.check(
                Arrays.equals(came, line, end, CLOSE_LINE, 0, end - line),
                () -> "byte " + differs + " that came was not sent, and is not of Connection: close: " + client);
        checkSame(sent, came, line, end, client);
    }

    private static void checkHttp2(byte[] sent, byte[] came, SimClient client) {
        Inbox ofEndpoint = inboxOf(sent, 0);
        Inbox ofClient = inboxOf(came, 0);
        Frame expected = Frame.next(ofEndpoint);
        int goaways = 0;
        int pings = 0;
        for (Frame frame = Frame.next(ofClient); frame != null; frame = Frame.next(ofClient)) {
            if (frame.sameAs(expected)) {
                expected = Frame.next(ofEndpoint);
            } else {
                goaways += frame.type() == Frame.GOAWAY ? 1 : 0;
                pings += frame.isPing(false) ? 1 : 0;
                if (frame.type() != Frame.GOAWAY && !frame.isPing(false)) {
                    throw new AssertionError(frame + " came, and was not sent, but " + expected + ": " + client);
                }
            }
        }
        if (goaways > MOST_GOAWAYS || pings > MOST_PINGS) {
            throw new AssertionError(goaways + " GOAWAYs and " + pings + " PINGs were inserted: " + client);
        }
    }

    /** Frame by frame: an acknowledgement may be missing. Only part of one may have come when the end was there before it was whole. */
    private static void checkWithoutAcknowledgement(byte[] sent, byte[] came, SimClient client) {
        Inbox ofClient = inboxOf(sent, Frame.PREFACE.length);
        int at = Frame.PREFACE.length;
        int missing = 0;
        for (Frame frame = Frame.next(ofClient); frame != null && at < came.length; frame = Frame.next(ofClient)) {
            byte[] bytes = frame.bytes();
            int length = Math.min(bytes.length, came.length - at);
            if (Arrays.equals(came, at, at + length, bytes, 0, length)) {
                at += length;
            } else if (frame.isPing(true) && missing < MOST_PINGS) {
                missing++;
            } else {
                throw new AssertionError(frame + " has not come as it was sent: " + client);
            }
        }
    }

    private static Inbox inboxOf(byte[] bytes, int from) {
        Inbox inbox = new Inbox();
        inbox.add(Arrays.copyOfRange(bytes, from, bytes.length));
        return inbox;
    }
}
