package dev.tidegate.protocol;

import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/**
 * Follows the exchanges of an HTTP/1 connection, and ends it by telling the client {@code Connection: close} in the response
 * to a request that is the last to be passed on (RFC 9112, section 9.6).
 *
 * <p>Which request is the last: the one passed on last, as long as the final head of its response has not passed; else the
 * next one. The life of a retirement:
 *
 * <pre>
 *   retire() -> a last request is chosen -> after its end nothing more is read from the client -----------+-> over
 *      ^             |                  \-> told: its response's final head has passed with close -> ... -+
 *      +-- stay() ---+
 * </pre>
 *
 * <p>No byte is delayed: heads pass as they come. There are clients that look at the first Connection line only (Java's
 * HttpClient, Python's http.client), so ours must stand before one of the endpoint's, such as {@code keep-alive}. In a head
 * that came whole in one read it is inserted before the blank line, or behind the status line if there is such a line, and not
 * at all if that says close. Of a head that comes in pieces nobody knows what is to come: there it is always inserted before the
 * first line at hand. Interim responses
 * (1xx) get nothing, nor does the agreement to speak another protocol (101, and 2xx to CONNECT), after which this tracker is
 * done. Bytes that follow a request for another protocol before its answer may belong to either protocol: opaque. Opaque too
 * is a connection with more than {@link Unanswered#MAX} unanswered requests, with an answer that nobody asked for, and all
 * that {@link MessageReader} cannot take in one sense only.
 *
 * <p>HTTP/1.0 gets the same line: close is what it means without an option, and close prevails over keep-alive wherever both
 * stand (RFC 9112, section 9.3).
 *
 * <p>Confined to the connection's worker. Hot: no allocation, no log, no clock. With its two readers it takes 120 bytes, and a
 * bit for each unanswered request.
 */
final class Http1Tracker implements Tracker {
    private static final byte[] CLOSE_LINE = "Connection: close\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Wire wire;
    private final MessageReader requests = MessageReader.ofRequests();
    private final MessageReader responses = MessageReader.ofResponses();
    private final Unanswered unanswered = new Unanswered();
    private boolean recognised;
    private boolean retiring;

    /** The newest request is the last that is passed on. */
    private boolean lastChosen;

    /** No more is read from the client. */
    private boolean held;

    /** The final head of the last request's response says close; from its blank line on. */
    private boolean told;

    private boolean over;

    /** The endpoint has ended its direction. */
    private boolean unanswerable;

    /**
     * @param wire what is done to the bytes, and what is told of events
     */
    Http1Tracker(Wire wire) {
        this.wire = wire;
    }

    /**
     * The first bytes of what looked like another protocol's beginning have been passed on already. If they cannot begin a
     * request, the bytes that come next are opaque.
     *
     * @param prefix that beginning
     * @param count how many bytes of it came
     */
    void resume(byte[] prefix, int count) {
        if (count > 0) {
            requests.read(Glass.over(Unpooled.wrappedBuffer(prefix, 0, count)), 0, count);
        }
    }

    @Override
    public boolean onBytes(Side from, ByteBuf data) {
        if (over) {
            return true;
        }
        return from == Side.DOWNSTREAM ? onRequestBytes(data) : onResponseBytes(data);
    }

    private boolean onRequestBytes(ByteBuf data) {
        Glass glass = Glass.over(data);
        int at = data.readerIndex();
        int end = data.writerIndex();
        while (at < end) {
            if (requests.phase() == Phase.INVALID || (requests.between() && otherProtocolAsked())) {
                return turnOpaque();
            }
            at = requests.read(glass, at, end);
            if ((requests.phase() == Phase.HEAD && !onRequestHead()) || requests.phase() == Phase.INVALID) {
                return turnOpaque();
            }
            if (lastChosen && requests.phase() == Phase.START) {
                passUpTo(at, data);
                return false;
            }
        }
        return true;
    }

    /** Whether the newest request asks for another protocol, and is not answered. */
    private boolean otherProtocolAsked() {
        return !unanswered.isEmpty() && !requests.inHead() && (requests.isConnect() || requests.asksForUpgrade());
    }

    /**
     * A request's head is whole; its last byte is not passed on yet.
     *
     * @return false: it cannot be followed
     */
    private boolean onRequestHead() {
        // A body of CONNECT has no meaning that all share (RFC 9110, section 9.3.6).
        if (unanswered.isFull() || (requests.isConnect() && requests.announcesBody())) {
            return false;
        }
        wire.onRequest();
        lastChosen = canChoose();
        unanswered.add(requests.isHead());
        requests.beginBody();
        return true;
    }

    /** The last request ends here: what follows stays. */
    private void passUpTo(int at, ByteBuf data) {
        int count = at - data.readerIndex();
        if (count == data.readableBytes()) {
            wire.pass(Side.DOWNSTREAM, data);
            hold(Unpooled.EMPTY_BUFFER);
        } else {
            wire.pass(Side.DOWNSTREAM, data.readRetainedSlice(count));
            hold(data);
        }
        endIfOver();
    }

    private void hold(ByteBuf rest) {
        held = true;
        wire.hold(rest);
    }

    private boolean onResponseBytes(ByteBuf data) {
        Glass glass = Glass.over(data);
        int at = data.readerIndex();
        int end = data.writerIndex();
        int head = at;
        boolean onLine = responses.phase() == Phase.LINE_START;
        int closeAt = -1;
        Answer answer = Answer.GOES_ON;
        while (at < end && answer == Answer.GOES_ON) {
            if (responses.phase() == Phase.START) {
                if (unanswered.isEmpty()) {
                    answer = Answer.OPAQUE;
                    break;
                }
                head = at;
                onLine = false;
            }
            at = responses.read(glass, at, end);
            recognise();
            answer = switch (responses.phase()) {
                case HEAD -> onResponseHead();
                case INVALID -> Answer.OPAQUE;
                default -> Answer.GOES_ON;
            };
            if (responses.phase() == Phase.BLANK && !told && tellsClient()) {
                told = true;
                closeAt = closeAt(onLine ? head : firstLine(data, head, at + 1), at);
            }
        }
        if (responses.inHead() && !told && tellsClient()) {
            closeAt = responses.saysClose() ? -1 : onLine ? head : firstLine(data, head, end);
            told = responses.saysClose() || closeAt >= 0;
        }
        return finish(data, closeAt, answer);
    }

    /** Where the line goes in a head of which these two lines are at hand, or the latter; -1 when it is there already. */
    private int closeAt(int firstLine, int blankLine) {
        if (responses.saysClose()) {
            return -1;
        }
        return responses.hasConnectionLine() && firstLine >= 0 ? firstLine : blankLine;
    }

    /**
     * The beginning of the first line that begins behind {@code from}; -1 when none does. Its first byte must be at hand: if
     * it is white space, it goes on with the line before, and ours must not stand between them.
     */
    private static int firstLine(ByteBuf data, int from, int end) {
        int lineFeed = data.indexOf(from, end - 1, (byte) '\n');
        return lineFeed < 0 ? -1 : lineFeed + 1;
    }

    /** How a response goes on. */
    private enum Answer {
        GOES_ON,
        SWITCHED,
        OPAQUE
    }

    /** Both sides have shown it: a response is read only after the head of a request. */
    private void recognise() {
        if (!recognised && responses.shown()) {
            recognised = true;
            chooseLast();
        }
    }

    /** Whether the response before whose blank line we stand is the final one to the last request. */
    private boolean tellsClient() {
        int status = responses.status();
        return lastChosen && unanswered.size() == 1 && status >= 200 && !(status < 300 && answersConnect());
    }

    /** Whether the present response is to a CONNECT: nothing is read behind one until it is answered. */
    private boolean answersConnect() {
        return unanswered.size() == 1 && !requests.inHead() && requests.isConnect();
    }

    /** A response's head is whole: what it is to its request settles whether it has a body (RFC 9112, section 6.3). */
    private Answer onResponseHead() {
        int status = responses.status();
        if (status == 101) {
            return requests.between() && unanswered.size() == 1 && requests.asksForUpgrade()
                    ? Answer.SWITCHED
                    : Answer.OPAQUE;
        } else if (status < 200) {
            responses.end();
            return Answer.GOES_ON;
        } else if (status < 300 && answersConnect()) {
            return Answer.SWITCHED;
        }
        boolean toHead = unanswered.poll();
        if (toHead || status == 204 || status == 304) {
            responses.end();
        } else {
            responses.beginBody();
        }
        return Answer.GOES_ON;
    }

    /** Passes the bytes on, with the line where it belongs if there is one, and then tells what they brought. */
    private boolean finish(ByteBuf data, int closeAt, Answer answer) {
        if (closeAt < 0 && answer == Answer.GOES_ON && !isOver()) {
            return true;
        }
        if (closeAt >= 0) {
            if (closeAt > data.readerIndex()) {
                wire.pass(Side.UPSTREAM, data.readRetainedSlice(closeAt - data.readerIndex()));
            }
            wire.insert(wire.buffer(CLOSE_LINE.length).writeBytes(CLOSE_LINE));
        }
        if (answer == Answer.OPAQUE) {
            wire.opaque();
        }
        wire.pass(Side.UPSTREAM, data);
        if (answer == Answer.SWITCHED) {
            wire.switched();
        }
        if (answer == Answer.GOES_ON) {
            endIfOver();
        } else {
            release();
        }
        return false;
    }

    /** Only after the wire knows that no more is to be shown. */
    private void release() {
        if (held) {
            held = false;
            wire.release();
        }
    }

    private boolean turnOpaque() {
        wire.opaque();
        release();
        return true;
    }

    private boolean isOver() {
        return told && responses.phase() == Phase.START && requests.between();
    }

    private void endIfOver() {
        if (!over && isOver()) {
            over = true;
            wire.over();
        }
    }

    @Override
    public void onFin(Side from) {
        if (from == Side.DOWNSTREAM) {
            if (requests.inBody()) {
                requests.end();
            }
        } else {
            unanswerable = true;
            if (responses.phase() == Phase.UNTIL_CLOSE) {
                responses.end();
            }
        }
        endIfOver();
    }

    @Override
    public boolean recognised() {
        return recognised;
    }

    @Override
    public void retire() {
        if (!retiring) {
            retiring = true;
            chooseLast();
        }
    }

    /** A request whose head is begun will be the last once that is whole: part of it has been passed on. */
    private void chooseLast() {
        if (canChoose() && !requests.inHead() && newestCanBeTold()) {
            lastChosen = true;
            if (requests.between()) {
                hold(Unpooled.EMPTY_BUFFER);
            }
        }
    }

    /** Behind the endpoint's end nobody can be told any more, and there is nothing that a held request would wait for. */
    private boolean canChoose() {
        return retiring && recognised && !unanswerable;
    }

    /** Behind the CR of the blank line it is too late. */
    private boolean newestCanBeTold() {
        boolean headPassing = responses.phase() == Phase.BLANK_LF && responses.status() >= 200;
        return unanswered.size() > (headPassing ? 1 : 0);
    }

    @Override
    public void stay() {
        if (retiring && !told) {
            retiring = false;
            lastChosen = false;
            release();
        }
    }

    @Override
    public boolean told() {
        return told;
    }

    @Override
    public Protocol protocol() {
        return Protocol.HTTP1;
    }

    @Override
    public RetireHow how() {
        return RetireHow.RESPONSE;
    }

    @Override
    public boolean endsBySilence() {
        return !recognised || !midExchange();
    }

    @Override
    public boolean midExchange() {
        return exchangeOpen() || !requests.between() || !responses.between();
    }

    @Override
    public boolean exchangeOpen() {
        return !unanswered.isEmpty() || requests.inBody() || responses.inBody();
    }

    /** HTTP/1 has no last word of its own: between exchanges a FIN is enough (RFC 9112, section 9.5). */
    @Override
    public boolean lastWord() {
        return !midExchange();
    }

    @Override
    public String toString() {
        return "http1: " + requests + ", " + responses + ", " + unanswered.size() + " unanswered"
                + (retiring ? ", retiring" : "") + (told ? ", told" : "");
    }
}
