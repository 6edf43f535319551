package dev.tidegate.protocol;

import static dev.tidegate.protocol.Http2Bytes.ACK;
import static dev.tidegate.protocol.Http2Bytes.CONTINUATION;
import static dev.tidegate.protocol.Http2Bytes.DATA;
import static dev.tidegate.protocol.Http2Bytes.END_HEADERS;
import static dev.tidegate.protocol.Http2Bytes.END_STREAM;
import static dev.tidegate.protocol.Http2Bytes.HEADERS;
import static dev.tidegate.protocol.Http2Bytes.MAX_ID;
import static dev.tidegate.protocol.Http2Bytes.NONE;
import static dev.tidegate.protocol.Http2Bytes.PADDED;
import static dev.tidegate.protocol.Http2Bytes.PREFACE;
import static dev.tidegate.protocol.Http2Bytes.PUSH_PROMISE;
import static dev.tidegate.protocol.Http2Bytes.WITH_PRIORITY;
import static dev.tidegate.protocol.Http2Bytes.frame;
import static dev.tidegate.protocol.Http2Bytes.goaway;
import static dev.tidegate.protocol.Http2Bytes.integer;
import static dev.tidegate.protocol.Http2Bytes.join;
import static dev.tidegate.protocol.Http2Bytes.ping;
import static dev.tidegate.protocol.Http2Bytes.priority;
import static dev.tidegate.protocol.Http2Bytes.requestFields;
import static dev.tidegate.protocol.Http2Bytes.reset;
import static dev.tidegate.protocol.Http2Bytes.settings;
import static dev.tidegate.protocol.Http2Bytes.settingsAck;
import static dev.tidegate.protocol.Http2Bytes.statusFields;
import static dev.tidegate.protocol.Http2Bytes.trailerFields;
import static dev.tidegate.protocol.Http2Bytes.windowUpdate;

import dev.tidegate.model.Side;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Draws what a valid client and a valid endpoint say to each other, one frame or header block after the other: any interleaving
 * of streams, with all that HTTP/2 allows in between.
 */
final class Http2Script {
    /** Whole frames of one side, after which that side stands on an edge. */
    static final class Said {
        private final Side by;
        private final byte[] bytes;

        Said(Side by, byte[] bytes) {
            this.by = by;
            this.bytes = bytes;
        }

        Side by() {
            return by;
        }

        byte[] bytes() {
            return bytes;
        }
    }

    private static final class Talk {
        final int id;
        boolean clientEnded;
        boolean endpointEnded;

        Talk(int id) {
            this.id = id;
            // What is promised is asked for already.
            this.clientEnded = id % 2 == 0;
        }
    }

    private static final int MAX_CONTINUATIONS = 8;

    private final RandomGenerator random;
    private final Deque<Said> greeting = new ArrayDeque<>();
    private final List<Talk> talks = new ArrayList<>();
    private int lastClientId = -1;
    private int lastPromisedId;
    /** How many streams the client has opened. */
    private int requests;

    private boolean opening = true;
    private int lastGoaway = MAX_ID;

    Http2Script(RandomGenerator random) {
        this.random = random;
        byte[] client = join(PREFACE, settings(random.nextInt(3)));
        byte[] endpoint = settings(random.nextInt(3));
        boolean endpointFirst = random.nextInt(4) == 0;
        greeting.add(endpointFirst ? new Said(Side.UPSTREAM, endpoint) : new Said(Side.DOWNSTREAM, client));
        if (!endpointFirst && random.nextBoolean()) {
            greeting.add(open());
        }
        greeting.add(endpointFirst ? new Said(Side.DOWNSTREAM, client) : new Said(Side.UPSTREAM, endpoint));
        greeting.add(new Said(Side.DOWNSTREAM, settingsAck()));
        greeting.add(new Said(Side.UPSTREAM, settingsAck()));
    }

    int requests() {
        return requests;
    }

    int highestId() {
        return Math.max(0, lastClientId);
    }

    boolean idle() {
        return talks.isEmpty();
    }

    /** Whether an endpoint's GOAWAY says that nothing above what the client has opened is answered. */
    boolean endpointNamedTheLastStream() {
        return lastGoaway == highestId();
    }

    /** The client heeds a GOAWAY: it opens nothing more, and nothing more is promised. */
    void stopOpening() {
        opening = false;
    }

    Said next() {
        if (!greeting.isEmpty()) {
            return greeting.remove();
        }
        if (opening && (talks.isEmpty() || (talks.size() < 40 && random.nextInt(4) == 0))) {
            return open();
        }
        if (random.nextInt(300) == 0) {
            return endpointGoesAway();
        }
        return talks.isEmpty() || random.nextInt(5) == 0 ? aside() : goOn(talks.get(random.nextInt(talks.size())));
    }

    private Said open() {
        lastClientId += 2 + 2 * (random.nextInt(8) / 7);
        requests++;
        Talk talk = new Talk(lastClientId);
        talk.clientEnded = random.nextBoolean();
        talks.add(talk);
        int flags = talk.clientEnded ? END_STREAM : NONE;
        byte[] before = new byte[0];
        if (random.nextInt(4) == 0) {
            flags |= WITH_PRIORITY;
            before = join(integer(0), new byte[] {15});
        }
        return new Said(Side.DOWNSTREAM, block(HEADERS, flags, talk.id, before, requestFields()));
    }

    /** All that was asked so far is answered still, and perhaps a little more; the client sees it at once. */
    private Said endpointGoesAway() {
        if (random.nextBoolean()) {
            lastGoaway = Math.min(lastGoaway, highestId() + 2 * random.nextInt(3));
            stopOpening();
        }
        return new Said(Side.UPSTREAM, goaway(lastGoaway));
    }

    /** A header block: perhaps padded, perhaps in several frames. */
    private byte[] block(int type, int flags, int id, byte[] before, byte[] fields) {
        int first = random.nextInt(3) == 0 ? random.nextInt(fields.length) : fields.length;
        byte[] payload = join(before, Arrays.copyOf(fields, first));
        int firstFlags = flags | (first == fields.length ? END_HEADERS : NONE);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(maybePadded(type, firstFlags, id, payload));
        int frames = 0;
        for (int at = first; at < fields.length; frames++) {
            // Readers lose patience with a block in many small frames.
            int next = frames == MAX_CONTINUATIONS ? fields.length : at + random.nextInt(fields.length - at + 1);
            bytes.writeBytes(frame(
                    CONTINUATION,
                    next == fields.length ? END_HEADERS : NONE,
                    id,
                    Arrays.copyOfRange(fields, at, next)));
            at = next;
        }
        return bytes.toByteArray();
    }

    private byte[] maybePadded(int type, int flags, int id, byte[] payload) {
        if (random.nextInt(3) > 0) {
            return frame(type, flags, id, payload);
        }
        int padding = random.nextInt(6);
        return frame(type, flags | PADDED, id, join(new byte[] {(byte) padding}, payload, new byte[padding]));
    }

    /** What has to do with no stream, or with one that is not open. */
    private Said aside() {
        Side by = random.nextBoolean() ? Side.DOWNSTREAM : Side.UPSTREAM;
        int idle = 1_000_001 + 2 * random.nextInt(1_000);
        return new Said(
                by,
                switch (random.nextInt(9)) {
                    case 0 -> windowUpdate(0);
                    case 1 -> windowUpdate(idle);
                    case 2 -> priority(idle);
                    case 3 -> reset(idle);
                    case 4 -> ping(NONE, random.nextLong());
                    case 5 -> ping(ACK, random.nextLong());
                    case 6 -> settings(random.nextInt(4));
                    case 7 -> settingsAck();
                    default ->
                        frame(
                                0x0a + random.nextInt(200),
                                random.nextInt(256),
                                random.nextInt(9),
                                new byte[random.nextInt(40)]);
                });
    }

    private Said goOn(Talk talk) {
        boolean client = !talk.clientEnded && (talk.endpointEnded || random.nextBoolean());
        Side by = client ? Side.DOWNSTREAM : Side.UPSTREAM;
        if (random.nextInt(12) == 0) {
            talks.remove(talk);
            return new Said(random.nextBoolean() ? Side.DOWNSTREAM : Side.UPSTREAM, reset(talk.id));
        }
        if (!client && opening && talk.id % 2 == 1 && random.nextInt(12) == 0) {
            return promise(talk);
        }
        boolean last = random.nextInt(4) == 0;
        byte[] bytes = client ? fromClient(talk, last) : fromEndpoint(talk, last);
        if (last) {
            end(talk, client);
        }
        return new Said(by, bytes);
    }

    private Said promise(Talk talk) {
        lastPromisedId += 2;
        talks.add(new Talk(lastPromisedId));
        return new Said(Side.UPSTREAM, block(PUSH_PROMISE, NONE, talk.id, integer(lastPromisedId), requestFields()));
    }

    private byte[] fromClient(Talk talk, boolean last) {
        return last && random.nextBoolean() ? trailers(talk.id) : data(talk.id, last);
    }

    private byte[] fromEndpoint(Talk talk, boolean last) {
        return switch (random.nextInt(3)) {
            case 0 ->
                block(
                        HEADERS,
                        last ? END_STREAM : NONE,
                        talk.id,
                        new byte[0],
                        statusFields(last ? 200 : 100 + random.nextInt(4)));
            case 1 -> last ? trailers(talk.id) : data(talk.id, false);
            default -> data(talk.id, last);
        };
    }

    private byte[] trailers(int id) {
        return block(HEADERS, END_STREAM, id, new byte[0], trailerFields());
    }

    private byte[] data(int id, boolean last) {
        int length = random.nextInt(20) == 0 ? random.nextInt(16_000) : random.nextInt(60);
        return maybePadded(DATA, last ? END_STREAM : NONE, id, new byte[length]);
    }

    private void end(Talk talk, boolean client) {
        if (client) {
            talk.clientEnded = true;
        } else {
            talk.endpointEnded = true;
        }
        if (talk.clientEnded && talk.endpointEnded) {
            talks.remove(talk);
        }
    }
}
