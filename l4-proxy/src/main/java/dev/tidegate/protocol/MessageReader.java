package dev.tidegate.protocol;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds where the messages of one direction of an HTTP/1 connection begin and end.
 *
 * <pre>
 *   START -> METHOD -> TARGET -> VERSION -> LINE_LF -> LINE_START -> NAME -> VALUE | LENGTHS | CODINGS | OPTIONS -+
 *     |                            ^ |                   ^   |                                                    |
 *     +--------- a response -------+ +-> STATUS          |   |                     LINE_LF <----------------------+
 *                                                        +---|------------------------+
 *                                                            +-> BLANK -> BLANK_LF -> HEAD
 *   HEAD -> START | FIXED | CHUNK_SIZE | UNTIL_CLOSE
 *   CHUNK_SIZE -> CHUNK_DATA -> CHUNK_SIZE, or after the last one the trailers: LINE_START ... -> TRAILERS_LF -> START
 * </pre>
 *
 * <p>It is stricter than a recipient must be: where RFC 9112 lets recipients differ, two of them can take the same bytes for
 * different messages, so that nobody between them knows where an exchange ends. All that is {@link Phase#INVALID}.
 *
 * <p>Confined to its connection's worker. Hot: no allocation; bodies are skipped by counting. Kept small (40 bytes with
 * compressed references), since every connection has two.
 */
final class MessageReader {
    /** The most bytes that a head, the first line of a chunk, or the last chunk with its trailers may have. */
    static final int HEAD_BYTES_MAX = 65_535;

    // What is known of the present message; REQUESTS and SHOWN are of the direction.
    private static final int REQUESTS = 1;
    private static final int SHOWN = 1 << 1;
    private static final int OF_DIRECTION = REQUESTS | SHOWN;
    private static final int OLD_VERSION = 1 << 2;
    private static final int HEAD_METHOD = 1 << 3;
    private static final int CONNECT_METHOD = 1 << 4;
    private static final int CLOSE = 1 << 5;
    private static final int UPGRADE = 1 << 6;
    private static final int LENGTH = 1 << 7;
    private static final int CODING = 1 << 8;
    private static final int CHUNKED = 1 << 9;
    private static final int IN_TRAILERS = 1 << 10;
    private static final int WORD_OVER = 1 << 11;
    private static final int CONNECTION = 1 << 12;

    private static final byte[] VERSION = ascii("HTTP/1.");
    private static final byte[][] METHODS = {ascii("HEAD"), ascii("CONNECT")};
    private static final byte[][] NAMES = {
        ascii("content-length"), ascii("transfer-encoding"), ascii("connection"), ascii("upgrade")
    };

    /** For each first byte, a bit for each of the names that begin so. */
    private static final byte[] NAMES_THAT_BEGIN = namesThatBegin();

    /** For each length, a bit for each of the names that are so long. */
    private static final byte[] NAMES_OF_LENGTH = namesOfEachLength();

    private static final byte[][] CODING_WORDS = {ascii("chunked")};
    private static final byte[][] OPTION_WORDS = {ascii("close")};

    /** The characters of a token (RFC 9110, section 5.6.2). */
    private static final boolean[] TOKEN = tokenCharacters();

    private static final VarHandle EIGHT = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final long SEVEN_BYTES = 0x00ff_ffff_ffff_ffffL;
    private static final long VERSION_BYTES = (long) EIGHT.get(Arrays.copyOf(VERSION, Long.BYTES), 0);
    private static final long EACH_BYTE = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    /** A digit more may follow a number up to this, in base 10 and in base 16. */
    private static final long NUMBER_MAX = Long.MAX_VALUE / 16 - 1;

    private Phase phase = Phase.START;

    /** Content-Length as far as known. */
    private long length;

    /** Bytes of the body or chunk that still come; before, the number that is being read. */
    private long remaining;

    private char lineBytes;
    private short status;
    private short flags;

    /** Characters of the present word so far, at most 127. */
    private byte index;

    /** A bit for each of the words looked for that the present one may still be. */
    private byte candidates;

    private MessageReader(int kind) {
        flags = (short) kind;
    }

    /** Reads what the client sends. */
    static MessageReader ofRequests() {
        return new MessageReader(REQUESTS);
    }

    /** Reads what the endpoint sends. */
    static MessageReader ofResponses() {
        return new MessageReader(0);
    }

    Phase phase() {
        return phase;
    }

    /** Whether this direction has shown "HTTP/1." where it belongs. */
    boolean shown() {
        return has(SHOWN);
    }

    /** Whether a head is begun and not settled. */
    boolean inHead() {
        return phase.head && !has(IN_TRAILERS);
    }

    /** Whether no message is begun and not ended. An empty line before a request is no part of it. */
    boolean between() {
        return phase == Phase.START || phase == Phase.EMPTY_LINE_LF;
    }

    /** Whether the head is settled, and the body has not ended. */
    boolean inBody() {
        return !between() && !inHead();
    }

    /** The status of the present response. */
    int status() {
        return status;
    }

    /** Whether the present message has a Connection line. */
    boolean hasConnectionLine() {
        return has(CONNECTION);
    }

    /** Whether the present message has the connection option {@code close}. */
    boolean saysClose() {
        return has(CLOSE);
    }

    /** Whether the present request's method is HEAD. */
    boolean isHead() {
        return has(HEAD_METHOD);
    }

    /** Whether the present request, or the last one until the next begins, is a CONNECT. */
    boolean isConnect() {
        return has(CONNECT_METHOD);
    }

    /**
     * Whether the present request, or the last one until the next begins, asks for another protocol. In HTTP/1.0 that is to
     * be ignored (RFC 9110, section 7.8).
     */
    boolean asksForUpgrade() {
        return has(UPGRADE) && !has(OLD_VERSION);
    }

    /** Whether the head speaks of a body. */
    boolean announcesBody() {
        return has(CODING) || (has(LENGTH) && length > 0);
    }

    /**
     * Reads on, until a phase that {@linkplain Phase#stops stops} or the end.
     *
     * @return the index of the first byte that was not read
     */
    int read(Glass glass, int from, int end) {
        int at = from;
        do {
            at = phase.looks ? look(glass, at, end) : skip(at, end);
        } while (at < end && !phase.stops);
        return at;
    }

    private int look(Glass glass, int from, int end) {
        glass.moveTo(from, end);
        byte[] bytes = glass.bytes();
        int last = Math.min(end, glass.limit()) - glass.start();
        int at = from - glass.start();
        do {
            int next = step(bytes, at, last);
            count(next - at);
            at = next;
        } while (at < last && phase.looks && !phase.stops);
        return glass.start() + at;
    }

    private void count(int bytes) {
        int sum = lineBytes + bytes;
        if (sum > HEAD_BYTES_MAX) {
            enter(Phase.INVALID);
        } else {
            lineBytes = (char) sum;
        }
    }

    /** The present head is settled: its body begins, as RFC 9112, section 6.3 says. */
    void beginBody() {
        if (has(CHUNKED)) {
            enterChunk();
        } else if (has(LENGTH)) {
            remaining = length;
            enter(length == 0 ? Phase.START : Phase.FIXED);
        } else {
            enter(has(REQUESTS) ? Phase.START : Phase.UNTIL_CLOSE);
        }
    }

    /** The present message ends here: its head was all, or its direction has ended. */
    void end() {
        enter(Phase.START);
    }

    private void enter(Phase next) {
        phase = next;
        if (next == Phase.START) {
            lineBytes = 0;
        }
    }

    private void enterChunk() {
        remaining = 0;
        index = 0;
        lineBytes = 0;
        enter(Phase.CHUNK_SIZE);
    }

    private int step(byte[] bytes, int at, int end) {
        return switch (phase) {
            case START -> start(bytes, at);
            case EMPTY_LINE_LF -> expect(bytes, at, '\n', Phase.START);
            case METHOD -> method(bytes, at, end);
            case TARGET -> target(bytes, at, end);
            case VERSION -> version(bytes, at, end);
            case STATUS -> status(bytes, at, end);
            case LINE_LF -> expect(bytes, at, '\n', Phase.LINE_START);
            case LINE_START -> lineStart(bytes, at, end);
            case NAME -> name(bytes, at, end);
            case VALUE -> value(bytes, at, end);
            case LENGTHS -> lengths(bytes, at, end);
            case CODINGS -> codings(bytes, at, end);
            case OPTIONS -> options(bytes, at, end);
            case BLANK -> expect(bytes, at, '\r', Phase.BLANK_LF);
            case BLANK_LF -> expect(bytes, at, '\n', Phase.HEAD);
            case CHUNK_SIZE -> chunkSize(bytes, at, end);
            case CHUNK_PAD -> chunkPad(bytes, at, end);
            case CHUNK_EXTENSIONS -> restOfLine(bytes, at, end, Phase.CHUNK_SIZE_LF);
            case CHUNK_SIZE_LF -> chunkSizeLf(bytes, at);
            case CHUNK_DATA_CR -> expect(bytes, at, '\r', Phase.CHUNK_DATA_LF);
            case CHUNK_DATA_LF -> chunkDataLf(bytes, at);
            case TRAILERS_LF -> expect(bytes, at, '\n', Phase.START);
            case FIXED, CHUNK_DATA, UNTIL_CLOSE, HEAD, INVALID ->
                throw new IllegalStateException("phase " + phase + " does not look at bytes");
        };
    }

    /** A request may have empty lines before it (RFC 9112, section 2.2), a response may not. */
    private int start(byte[] bytes, int at) {
        int c = bytes[at];
        index = 0;
        if (!has(REQUESTS)) {
            beginMessage();
            enter(Phase.VERSION);
            return at;
        } else if (c == '\r') {
            enter(Phase.EMPTY_LINE_LF);
            return at + 1;
        }
        beginMessage();
        candidates = 0b11;
        enter(Phase.METHOD);
        return at;
    }

    private void beginMessage() {
        flags = (short) (flags & OF_DIRECTION);
        length = 0;
        status = 0;
    }

    /** Methods are case-sensitive (RFC 9110, section 9.1). */
    private int method(byte[] bytes, int from, int end) {
        for (int at = from; at < end; at++) {
            int c = bytes[at];
            if (c == ' ' && index > 0) {
                int whole = wholeWord(METHODS);
                mark(whole == 0 ? HEAD_METHOD : whole == 1 ? CONNECT_METHOD : 0);
                index = 0;
                enter(Phase.TARGET);
                return at + 1;
            } else if (!isToken(c)) {
                return invalid(at);
            }
            if (candidates != 0) {
                match(METHODS, c);
            }
        }
        return end;
    }

    /** Any bytes but white space and controls: what a target means is not our matter. */
    private int target(byte[] bytes, int from, int end) {
        int at = below(bytes, from, end, 0x21);
        if (at > from) {
            index = 1;
        }
        if (at == end) {
            return end;
        } else if (bytes[at] != ' ' || index == 0) {
            return invalid(at);
        }
        index = 0;
        enter(Phase.VERSION);
        return at + 1;
    }

    /** "HTTP/1.0" or "HTTP/1.1", in this case (RFC 9112, section 2.3), and the one byte that may follow it. */
    private int version(byte[] bytes, int from, int end) {
        int start = from;
        if (index == 0 && end - from >= Long.BYTES && ((long) EIGHT.get(bytes, from) & SEVEN_BYTES) == VERSION_BYTES) {
            index = (byte) VERSION.length;
            start += VERSION.length;
        }
        for (int at = start; at < end; at++) {
            int c = bytes[at];
            if (index < VERSION.length) {
                if (c != VERSION[index]) {
                    return invalid(at);
                }
            } else if (index == VERSION.length) {
                if (c != '0' && c != '1') {
                    return invalid(at);
                }
                mark(c == '0' ? OLD_VERSION | SHOWN : SHOWN);
            } else if (c == (has(REQUESTS) ? '\r' : ' ')) {
                index = 0;
                enter(has(REQUESTS) ? Phase.LINE_LF : Phase.STATUS);
                return at + 1;
            } else {
                return invalid(at);
            }
            index++;
        }
        return end;
    }

    /** Three digits, 100 or more (RFC 9110, section 15). Some servers leave out the space before an empty reason. */
    private int status(byte[] bytes, int from, int end) {
        for (int at = from; at < end; at++) {
            int c = bytes[at];
            if (index < 3) {
                if (!isDigit(c) || (c == '0' && index == 0)) {
                    return invalid(at);
                }
                status = (short) (status * 10 + c - '0');
                index++;
            } else if (c == ' ' || c == '\r') {
                enter(c == ' ' ? Phase.VALUE : Phase.LINE_LF);
                return at + 1;
            } else {
                return invalid(at);
            }
        }
        return end;
    }

    /** No line may begin with white space: a folded one (RFC 9112, section 5.2), or one before the first (section 2.2). */
    private int lineStart(byte[] bytes, int at, int end) {
        if (bytes[at] != '\r') {
            index = 0;
            candidates = has(IN_TRAILERS) ? 0 : NAMES_THAT_BEGIN[bytes[at] & 0xff];
            enter(Phase.NAME);
            return name(bytes, at, end);
        } else if (has(IN_TRAILERS)) {
            enter(Phase.TRAILERS_LF);
            return at + 1;
        }
        enter(framingIsClear() ? Phase.BLANK : Phase.INVALID);
        return at;
    }

    /**
     * Not beside Content-Length, not in HTTP/1.0, and with chunked as the last coding (RFC 9112, sections 6.1 and 6.3). A
     * response whose last coding is another one would end with its connection, but not every recipient knows.
     */
    private boolean framingIsClear() {
        return !has(CODING) || (has(CHUNKED) && !has(LENGTH) && !has(OLD_VERSION));
    }

    /** A token, and a colon right behind it (RFC 9112, section 5.1). */
    private int name(byte[] bytes, int from, int end) {
        int at = from;
        while (at < end && isToken(bytes[at])) {
            at++;
        }
        boolean begins = index == 0;
        if (begins && at < end) {
            // The whole name is here, and mostly its length tells that it is none of those looked for.
            candidates = (byte) (candidates & namesOfLength(at - from));
        }
        for (int i = from; i < at && candidates != 0; i++) {
            match(NAMES, bytes[i] | 0x20);
        }
        if (at == end) {
            index = (byte) Math.max(index, 1);
            return end;
        } else if (bytes[at] != ':' || (begins && at == from)) {
            return invalid(at);
        }
        enterValue();
        return at + 1;
    }

    private static int namesOfLength(int length) {
        return length < NAMES_OF_LENGTH.length ? NAMES_OF_LENGTH[length] : 0;
    }

    private void enterValue() {
        int name = candidates == 0 ? -1 : wholeWord(NAMES);
        remaining = 0;
        switch (name) {
            case 0 -> enterWords(Phase.LENGTHS);
            case 1 -> enterWords(Phase.CODINGS);
            case 2 -> {
                mark(CONNECTION);
                enterWords(Phase.OPTIONS);
            }
            case 3 -> {
                mark(UPGRADE);
                enter(Phase.VALUE);
            }
            default -> enter(Phase.VALUE);
        }
    }

    private void enterWords(Phase words) {
        beginWord();
        enter(words);
    }

    /** Each of the lists of words that values are matched against has one. */
    private void beginWord() {
        index = 0;
        candidates = 1;
        clear(WORD_OVER);
    }

    /** One number; more of them, here or in further lines, must be the same (RFC 9110, section 8.6). */
    private int lengths(byte[] bytes, int from, int end) {
        for (int at = from; at < end; at++) {
            int c = bytes[at];
            if (isDigit(c)) {
                if (has(WORD_OVER) || remaining > NUMBER_MAX) {
                    return invalid(at);
                }
                remaining = remaining * 10 + c - '0';
                index = 1;
            } else if (isWhite(c)) {
                endWord();
            } else if (c == '\r' || c == ',') {
                if (index == 0 || (has(LENGTH) && length != remaining)) {
                    return invalid(at);
                }
                length = remaining;
                remaining = 0;
                mark(LENGTH);
                beginWord();
                if (c == '\r') {
                    return lineEnd(bytes, at + 1, end);
                }
            } else {
                return invalid(at);
            }
        }
        return end;
    }

    /**
     * Codings, of which chunked is the last and stands there once, without parameters (RFC 9112, sections 6.1 and 7). Others
     * with parameters are given up too, and so are empty elements, on which recipients differ.
     */
    private int codings(byte[] bytes, int from, int end) {
        for (int at = from; at < end; at++) {
            int c = bytes[at];
            if (isToken(c)) {
                if (has(WORD_OVER)) {
                    return invalid(at);
                }
                match(CODING_WORDS, c | 0x20);
            } else if (isWhite(c)) {
                endWord();
            } else if (c == '\r' || c == ',') {
                if (index == 0 || has(CHUNKED)) {
                    return invalid(at);
                }
                mark(wholeWord(CODING_WORDS) == 0 ? CODING | CHUNKED : CODING);
                beginWord();
                if (c == '\r') {
                    return lineEnd(bytes, at + 1, end);
                }
            } else {
                return invalid(at);
            }
        }
        return end;
    }

    /** Options, in any case, of which empty ones are ignored (RFC 9110, sections 5.6.1 and 7.6.1). */
    private int options(byte[] bytes, int from, int end) {
        for (int at = from; at < end; at++) {
            int c = bytes[at];
            if (isWhite(c)) {
                endWord();
            } else if (c == '\r' || c == ',') {
                mark(wholeWord(OPTION_WORDS) == 0 ? CLOSE : 0);
                beginWord();
                if (c == '\r') {
                    return lineEnd(bytes, at + 1, end);
                }
            } else if (c == '\n' || c == 0) {
                return invalid(at);
            } else if (has(WORD_OVER)) {
                candidates = 0;
            } else if (candidates != 0) {
                match(OPTION_WORDS, isToken(c) ? c | 0x20 : 0);
            }
        }
        return end;
    }

    private void endWord() {
        if (index > 0) {
            mark(WORD_OVER);
        }
    }

    /** Hexadecimal digits, at least one (RFC 9112, section 7.1). */
    private int chunkSize(byte[] bytes, int from, int end) {
        for (int at = from; at < end; at++) {
            int c = bytes[at];
            int digit = Character.digit(c, 16);
            if (digit >= 0) {
                if (remaining > NUMBER_MAX) {
                    return invalid(at);
                }
                remaining = remaining * 16 + digit;
                index = 1;
            } else if (index == 0) {
                return invalid(at);
            } else {
                return afterChunkSize(c, at);
            }
        }
        return end;
    }

    private int chunkPad(byte[] bytes, int from, int end) {
        int at = from;
        while (at < end && isWhite(bytes[at])) {
            at++;
        }
        if (at == end) {
            return end;
        }
        return bytes[at] == ';' ? afterChunkSize(';', at) : invalid(at);
    }

    /** White space only before a semicolon (RFC 9112, section 7.1.1). */
    private int afterChunkSize(int c, int at) {
        switch (c) {
            case '\r' -> enter(Phase.CHUNK_SIZE_LF);
            case ';' -> enter(Phase.CHUNK_EXTENSIONS);
            case ' ', '\t' -> enter(Phase.CHUNK_PAD);
            default -> enter(Phase.INVALID);
        }
        return at + 1;
    }

    private int chunkSizeLf(byte[] bytes, int at) {
        if (remaining > 0) {
            return expect(bytes, at, '\n', Phase.CHUNK_DATA);
        }
        mark(IN_TRAILERS);
        return expect(bytes, at, '\n', Phase.LINE_START);
    }

    private int chunkDataLf(byte[] bytes, int at) {
        int next = expect(bytes, at, '\n', Phase.CHUNK_SIZE);
        if (phase == Phase.CHUNK_SIZE) {
            enterChunk();
        }
        return next;
    }

    private int skip(int at, int end) {
        if (phase == Phase.UNTIL_CLOSE) {
            return end;
        }
        int count = (int) Math.min(remaining, end - at);
        remaining -= count;
        if (remaining == 0) {
            enter(phase == Phase.FIXED ? Phase.START : Phase.CHUNK_DATA_CR);
        }
        return at + count;
    }

    private int value(byte[] bytes, int from, int end) {
        int at = restOfLine(bytes, from, end, Phase.LINE_LF);
        return phase == Phase.LINE_LF ? lineEnd(bytes, at, end) : at;
    }

    /** No NUL, no LF alone and no CR alone (RFC 9112, section 2.2; RFC 9110, section 5.5). */
    private int restOfLine(byte[] bytes, int from, int end, Phase after) {
        int at = below(bytes, from, end, 0x10);
        while (at < end) {
            int c = bytes[at];
            if (c == '\r') {
                enter(after);
                return at + 1;
            } else if (c == '\n' || c == 0) {
                return invalid(at);
            }
            at = below(bytes, at + 1, end, 0x10);
        }
        return end;
    }

    /** Behind the CR of a line. Mostly the LF is here too. */
    private int lineEnd(byte[] bytes, int at, int end) {
        if (at < end && bytes[at] == '\n') {
            enter(Phase.LINE_START);
            return at + 1;
        }
        enter(Phase.LINE_LF);
        return at;
    }

    private int expect(byte[] bytes, int at, char wanted, Phase after) {
        if (bytes[at] != wanted) {
            return invalid(at);
        }
        enter(after);
        return at + 1;
    }

    private int invalid(int at) {
        enter(Phase.INVALID);
        return at;
    }

    /** The index of the first byte below a bound of at most 0x80, eight at a time; or the end. */
    private static int below(byte[] bytes, int from, int end, int bound) {
        int at = from;
        while (end - at >= Long.BYTES) {
            long eight = (long) EIGHT.get(bytes, at);
            // A borrow can only mark bytes above the first that is truly below.
            long hits = eight - EACH_BYTE * bound & ~eight & HIGH_BITS;
            if (hits != 0) {
                return at + (Long.numberOfTrailingZeros(hits) >>> 3);
            }
            at += Long.BYTES;
        }
        while (at < end && (bytes[at] & 0xff) >= bound) {
            at++;
        }
        return at;
    }

    private void match(byte[][] words, int c) {
        int matching = candidates;
        for (int left = matching; left != 0; left &= left - 1) {
            int i = Integer.numberOfTrailingZeros(left);
            if (index >= words[i].length || words[i][index] != c) {
                matching &= ~(1 << i);
            }
        }
        candidates = (byte) matching;
        if (index < Byte.MAX_VALUE) {
            index++;
        }
    }

    /** Which of the words the present one is; -1: none. */
    private int wholeWord(byte[][] words) {
        for (int i = 0; i < words.length; i++) {
            if ((candidates >>> i & 1) != 0 && index == words[i].length) {
                return i;
            }
        }
        return -1;
    }

    private boolean has(int flag) {
        return (flags & flag) != 0;
    }

    private void mark(int flag) {
        flags = (short) (flags | flag);
    }

    private void clear(int flag) {
        flags = (short) (flags & ~flag);
    }

    private static boolean isToken(int c) {
        return TOKEN[c & 0xff];
    }

    private static boolean isWhite(int c) {
        return c == ' ' || c == '\t';
    }

    private static boolean isDigit(int c) {
        return c >= '0' && c <= '9';
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] namesThatBegin() {
        byte[] names = new byte[256];
        for (int i = 0; i < NAMES.length; i++) {
            int lower = NAMES[i][0];
            names[lower] = (byte) (names[lower] | 1 << i);
            names[lower & ~0x20] = names[lower];
        }
        return names;
    }

    private static byte[] namesOfEachLength() {
        byte[] names = new byte[Byte.MAX_VALUE];
        for (int i = 0; i < NAMES.length; i++) {
            names[NAMES[i].length] = (byte) (names[NAMES[i].length] | 1 << i);
        }
        return names;
    }

    private static boolean[] tokenCharacters() {
        boolean[] token = new boolean[256];
        for (char c = '0'; c <= 'z'; c++) {
            token[c] = Character.isLetterOrDigit(c);
        }
        for (byte c : ascii("!#$%&'*+-.^_`|~")) {
            token[c] = true;
        }
        return token;
    }

    @Override
    public String toString() {
        return (has(REQUESTS) ? "requests " : "responses ") + phase;
    }
}
