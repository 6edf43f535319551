package dev.tidegate.protocol;

import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.random.RandomGenerator;

/**
 * The tracker of cleartext HTTP/2: walks the frames of both directions, knows which streams are open, and ends the connection
 * as RFC 9113 section 6.8 wants it, with a GOAWAY that refuses nothing, and one that says what was taken.
 *
 * <p>No frame is ever withheld or changed, as the endpoint and the client share their HPACK state (section 4.3); what comes
 * from us stands between two frames. The one exception from delaying nothing: while our PING is unanswered, the bytes of a
 * client's frame that may be its acknowledgement (16 at most) wait until they are it, and are dropped, or are not.
 *
 * <pre>
 * WATCHING ⇄ ASKED ─→ PINGED ─→ ACKED ─→ OVER
 *                │       └─────────────────↑
 *                └──→ TOLD ────────────────┘   (the endpoint's own GOAWAY names the last stream)
 * </pre>
 *
 * <p>With its two walkers and an empty table it takes 128 bytes, and there is one for each connection: hence no field that
 * another one tells. Confined to the connection's worker. Hot: no allocation, no log, no clock, no lock.
 */
final class Http2Tracker implements Tracker {
    /** RFC 9113 section 3.4. */
    static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    /** A client that opens more streams than that after it has acknowledged does not heed the GOAWAY. */
    static final int UNHEEDED_STREAMS = 100;

    /** What the PING shows of the table's secret. */
    private static final int PING_SECRET = 0xffff;

    /** What {@link #step} returns instead of an index. */
    private static final int INVALID = -1;
    /** What {@link #lowestGoaway} is before the first. */
    private static final int NONE_YET = -1;

    private final Wire wire;
    private final ClientFrames client = new ClientFrames();
    private final EndpointFrames endpoint = new EndpointFrames();
    private final StreamTable streams;

    private Stage stage = Stage.WATCHING;
    private int highestId;
    /** The lowest last stream id that the client was sent, by the endpoint or by us. */
    private int lowestGoaway = NONE_YET;
    /** Until the protocol is recognised: streams opened so far. Then from the acknowledgement on: streams opened after it. */
    private int opened;

    private byte prefaceSeen;
    /** How many bytes of the acknowledgement are held. They are what they are: nothing but their number is kept. */
    private byte held;

    private boolean clientGreeted;
    private boolean endpointGreeted;

    private enum Stage {
        /** Nobody asked for an end. */
        WATCHING,
        /** The first GOAWAY waits for an edge. */
        ASKED,
        /** The endpoint's own GOAWAY has told the client, and the last stream that it names has passed: no PING is needed. */
        TOLD,
        /** The client has been sent a GOAWAY that refuses nothing, and our PING, which is unanswered. */
        PINGED,
        /** The client has seen the first GOAWAY. */
        ACKED,
        /** The last GOAWAY has been sent. */
        OVER
    }

    /**
     * A tracker of a connection whose client seems to speak HTTP/2.
     *
     * @param wire what it acts on
     * @param random for what the client must not be able to guess: the payload of the PING, the places in the table
     */
    Http2Tracker(Wire wire, RandomGenerator random) {
        this.wire = wire;
        this.streams = new StreamTable(random.nextInt());
    }

    /** So many bytes of the preface have been passed on already. */
    void resume(int prefaceBytesSeen) {
        prefaceSeen = (byte) prefaceBytesSeen;
    }

    @Override
    public boolean onBytes(Side from, ByteBuf data) {
        if (stage == Stage.OVER) {
            return isHeardOf(from, data);
        }
        return from == Side.DOWNSTREAM ? onClientBytes(data) : onEndpointBytes(data);
    }

    /** The last word is said: nothing may follow it to the client, such as a GOAWAY of the endpoint with a higher id. */
    private static boolean isHeardOf(Side from, ByteBuf data) {
        if (from == Side.UPSTREAM) {
            data.release();
            return false;
        }
        return true;
    }

    private boolean onClientBytes(ByteBuf data) {
        int end = data.writerIndex();
        int at = readPreface(data, data.readerIndex(), end);
        boolean whole = true;
        while (at >= 0 && at < end) {
            if (mayBeAck()) {
                int matching = countAckBytes(data, at, end);
                if (matching > 0 && (at + matching == end || held + matching == OwnFrames.PING_BYTES)) {
                    takeOut(data, at, matching);
                    whole = false;
                    at += matching;
                    continue;
                }
                letGo();
            }
            at = step(Side.DOWNSTREAM, client, data, at, end);
        }
        return finish(Side.DOWNSTREAM, data, whole, at);
    }

    private boolean onEndpointBytes(ByteBuf data) {
        int end = data.writerIndex();
        int at = data.readerIndex();
        boolean whole = true;
        while (at >= 0 && at < end) {
            at = step(Side.UPSTREAM, endpoint, data, at, end);
            if (stage == Stage.ASKED && at >= 0 && canTell()) {
                passUpTo(Side.UPSTREAM, data, at);
                whole = false;
                tell();
            }
        }
        return finish(Side.UPSTREAM, data, whole, at);
    }

    /** All of the bytes have been looked at. What follows from them acts once they are passed on. */
    private boolean finish(Side from, ByteBuf data, boolean whole, int at) {
        if (at == INVALID) {
            turnOpaque();
            if (!whole) {
                passRest(from, data);
            }
            return whole;
        }
        boolean ending = canEnd();
        boolean unheeded = isUnheeded();
        if (whole && !ending && !unheeded) {
            return true;
        }
        passRest(from, data);
        if (ending) {
            end();
        } else if (unheeded) {
            // Said once: from here on only the hard limit counts.
            opened = Integer.MIN_VALUE;
            wire.unheeded();
        }
        return false;
    }

    private void passUpTo(Side from, ByteBuf data, int at) {
        if (at > data.readerIndex()) {
            wire.pass(from, data.readRetainedSlice(at - data.readerIndex()));
        }
    }

    private void passRest(Side from, ByteBuf data) {
        if (data.isReadable()) {
            wire.pass(from, data);
        } else {
            data.release();
        }
    }

    /**
     * Nothing is certain any more. If our PING is unanswered, its acknowledgement will reach the endpoint: one that it did not
     * ask for, which RFC 9113 section 6.7 makes no error; better than to take bytes out of what is not understood.
     */
    private void turnOpaque() {
        letGo();
        wire.opaque();
    }

    private int readPreface(ByteBuf data, int from, int end) {
        if (prefaceSeen == PREFACE.length) {
            return from;
        }
        int at = from;
        while (at < end && prefaceSeen < PREFACE.length) {
            if (data.getByte(at++) != PREFACE[prefaceSeen++]) {
                return INVALID;
            }
        }
        if (recognised()) {
            tellIfAsked();
        }
        return at;
    }

    /** Walks on to the end of the frame or of the bytes. Returns the index there, or {@link #INVALID}. */
    private int step(Side from, FrameWalker frame, ByteBuf data, int at, int end) {
        int next = at;
        if (!frame.inPayload()) {
            next = frame.readHead(data, at, end);
            if (!frame.inPayload()) {
                return next;
            }
            if (!frame.begin() || !onHead(from, frame)) {
                return INVALID;
            }
        }
        next = frame.skip(data, next, end);
        if (frame.payloadWhole() && !onFrame(from, frame)) {
            return INVALID;
        }
        return next;
    }

    private boolean onHead(Side from, FrameWalker frame) {
        return from == Side.DOWNSTREAM ? onClientHead(frame) : onEndpointHead(frame);
    }

    private boolean onClientHead(FrameWalker frame) {
        if (!clientGreeted) {
            clientGreeted = true;
            return isGreeting(frame);
        }
        return frame.type() != FrameType.HEADERS || onClientHeaders(frame.streamId());
    }

    private boolean onEndpointHead(FrameWalker frame) {
        if (!endpointGreeted) {
            endpointGreeted = isGreeting(frame);
            if (recognised()) {
                countEarlyRequests();
            }
            return endpointGreeted;
        }
        return true;
    }

    /** Section 3.4: each side's first frame is SETTINGS, and there is nothing yet that it could acknowledge. */
    private static boolean isGreeting(FrameWalker frame) {
        return frame.type() == FrameType.SETTINGS && !frame.has(FrameType.ACK);
    }

    /** Requests that came before the endpoint had shown what it speaks: only now is it sure that they were some. */
    private void countEarlyRequests() {
        int early = opened;
        opened = 0;
        for (int i = 0; i < early; i++) {
            wire.onRequest();
        }
    }

    /**
     * Section 5.1.1: the ids of new streams rise. One that is not above the highest is a stream's trailers, or of a stream that
     * has ended (the client may not know it yet), and opens nothing.
     */
    private boolean onClientHeaders(int id) {
        if ((id & 1) == 0) {
            return false;
        }
        if (id > highestId) {
            highestId = id;
            // Section 6.8: what is above an endpoint's GOAWAY it does not look at, so there will be no answer to wait
            // for.
            if (id <= lowestGoawayOrMax()) {
                streams.open(id);
            }
            if (!recognised() || stage == Stage.ACKED) {
                opened++;
            }
            if (recognised()) {
                wire.onRequest();
            }
        }
        return true;
    }

    private boolean onFrame(Side from, FrameWalker frame) {
        if (frame.end()) {
            streams.ended(frame.streamId(), from);
        }
        FrameType type = frame.type();
        if (type == FrameType.RST_STREAM) {
            streams.reset(frame.streamId());
        } else if (type == FrameType.PUSH_PROMISE) {
            return onPromise(endpoint.idInPayload());
        } else if (type == FrameType.GOAWAY && from == Side.UPSTREAM) {
            onEndpointGoaway(endpoint.idInPayload());
        }
        return true;
    }

    private boolean onPromise(int id) {
        if (id == 0 || (id & 1) != 0) {
            return false;
        }
        streams.open(id);
        return true;
    }

    private void onEndpointGoaway(int lastId) {
        lowestGoaway = Math.min(lowestGoawayOrMax(), lastId);
        if (lowestGoaway < highestId) {
            streams.refuseAbove(lowestGoaway);
        }
    }

    private int lowestGoawayOrMax() {
        return lowestGoaway == NONE_YET ? FrameWalker.MAX_ID : lowestGoaway;
    }

    @Override
    public void retire() {
        if (stage == Stage.WATCHING) {
            stage = Stage.ASKED;
            tellIfAsked();
            if (canEnd()) {
                end();
            }
        }
    }

    @Override
    public void stay() {
        if (stage == Stage.ASKED) {
            stage = Stage.WATCHING;
        }
    }

    private void tellIfAsked() {
        if (stage == Stage.ASKED && canTell()) {
            tell();
        }
    }

    private boolean canTell() {
        return frameFits() && (!endpoint.isOver() || lastStreamHasPassed());
    }

    /** On an edge the endpoint's first frame is whole, and it was SETTINGS: before it nothing may reach the client. */
    private boolean frameFits() {
        return recognised() && endpoint.onEdge();
    }

    /**
     * Section 6.8: a GOAWAY with the greatest id stops new streams and refuses none; after a round trip, which the PING
     * measures, the last of them is known. An endpoint's own GOAWAY has told the client already, and ours must not be above it.
     */
    private void tell() {
        if (lastStreamHasPassed()) {
            stage = Stage.TOLD;
            return;
        }
        stage = Stage.PINGED;
        ByteBuf frames = wire.buffer(OwnFrames.GOAWAY_BYTES + OwnFrames.PING_BYTES);
        if (lowestGoaway == NONE_YET) {
            lowestGoaway = FrameWalker.MAX_ID;
            OwnFrames.writeGoaway(frames, lowestGoaway);
        }
        OwnFrames.writePing(frames, pingPayload());
        wire.insert(frames);
    }

    /** Whether the client's next frame may be the acknowledgement: it is never its first one (section 3.4). */
    private boolean mayBeAck() {
        return stage == Stage.PINGED && clientGreeted && client.onEdge();
    }

    /**
     * Always the same for one connection, and drawn from 2^16. A client that guessed it would only be taken for one that has
     * seen its GOAWAY. One that computes back what it was drawn from learns half of the table's secret, and not the half that
     * it would need to choose ids that fall together.
     */
    private long pingPayload() {
        return OwnFrames.payload(streams.salt() & PING_SECRET);
    }

    /** Whether no stream can come that the endpoint would answer: a GOAWAY of its own stands at or below the highest seen. */
    private boolean lastStreamHasPassed() {
        return lowestGoawayOrMax() <= highestId;
    }

    /** How many bytes from {@code at} on go on with the acknowledgement, after those that are held. */
    private int countAckBytes(ByteBuf data, int at, int end) {
        int most = Math.min(end - at, OwnFrames.PING_BYTES - held);
        long payload = pingPayload();
        int count = 0;
        while (count < most && data.getByte(at + count) == OwnFrames.ackByte(held + count, payload)) {
            count++;
        }
        return count;
    }

    /** Takes so many bytes of the acknowledgement out of the client's flow, for the time being or for ever. */
    private void takeOut(ByteBuf data, int at, int count) {
        passUpTo(Side.DOWNSTREAM, data, at);
        data.skipBytes(count);
        held += (byte) count;
        if (held == OwnFrames.PING_BYTES) {
            held = 0;
            stage = Stage.ACKED;
            opened = 0;
        }
    }

    /** Passes on what is held, as what it is by then: a frame like any other. */
    private void letGo() {
        if (held == 0) {
            return;
        }
        ByteBuf bytes = wire.buffer(held);
        long payload = pingPayload();
        for (int i = 0; i < held; i++) {
            bytes.writeByte(OwnFrames.ackByte(i, payload));
        }
        held = 0;
        step(Side.DOWNSTREAM, client, bytes, bytes.readerIndex(), bytes.writerIndex());
        wire.pass(Side.DOWNSTREAM, bytes);
    }

    private boolean canEnd() {
        boolean told = stage == Stage.TOLD || stage == Stage.PINGED;
        return (stage == Stage.ACKED || (told && lastStreamHasPassed()))
                && !exchangeOpen()
                && endpoint.onEdge()
                && client.onEdge()
                && held == 0;
    }

    private void end() {
        insertLastGoaway();
        stage = Stage.OVER;
        wire.over();
    }

    /** Section 6.8: the id must not rise. A GOAWAY that the client has had already would say nothing. */
    private void insertLastGoaway() {
        int lastId = Math.min(highestId, lowestGoawayOrMax());
        if (lastId != lowestGoaway) {
            lowestGoaway = lastId;
            ByteBuf frame = wire.buffer(OwnFrames.GOAWAY_BYTES);
            OwnFrames.writeGoaway(frame, lastId);
            wire.insert(frame);
        }
    }

    private boolean isUnheeded() {
        return stage == Stage.ACKED && opened > UNHEEDED_STREAMS;
    }

    @Override
    public void onFin(Side from) {
        if (from == Side.DOWNSTREAM) {
            letGo();
        } else {
            endpoint.onFin();
        }
    }

    @Override
    public boolean recognised() {
        return prefaceSeen == PREFACE.length && endpointGreeted;
    }

    @Override
    public boolean told() {
        return stage.compareTo(Stage.TOLD) >= 0;
    }

    @Override
    public Protocol protocol() {
        return Protocol.HTTP2;
    }

    @Override
    public RetireHow how() {
        return RetireHow.GOAWAY;
    }

    @Override
    public boolean endsBySilence() {
        return !recognised();
    }

    @Override
    public boolean midExchange() {
        return exchangeOpen()
                || !client.onEdge()
                || !endpoint.onEdge()
                || held > 0
                || (prefaceSeen > 0 && prefaceSeen < PREFACE.length);
    }

    @Override
    public boolean exchangeOpen() {
        return !streams.isEmpty();
    }

    @Override
    public boolean lastWord() {
        letGo();
        if (!frameFits()) {
            return false;
        }
        insertLastGoaway();
        stage = Stage.OVER;
        return true;
    }

    @Override
    public String toString() {
        return stage + ", " + streams + ", highest id " + highestId;
    }
}
