package dev.tidegate.simulation;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** A client of HTTP/1.1 that keeps its connection until it is told otherwise, and asks ahead if it is eager. */
final class Http1Client extends SimClient {
    private static final int MOST_AHEAD = 3;
    private static final int LARGEST_BODY = 3_000;
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(60);

    private enum Reading {
        HEAD,
        BODY,
        CHUNK_SIZE,
        CHUNK,
        CHUNK_END
    }

    /** A request that waits for its answer. */
    private record Asked(int number, int wanted, long arrivedNanos) {}

    private final int id;
    private final Deque<Asked> owed = new ArrayDeque<>();
    private final Inbox inbox = new Inbox();
    private Reading reading = Reading.HEAD;
    private int left; // of the body, or of its chunk
    private int got;
    private boolean uploading;
    private boolean told;
    private int lastLookedAt = Integer.MAX_VALUE;

    Http1Client(Crowd crowd, SimNetwork network, RandomGenerator random, int id, Temper temper) {
        super(crowd, network, random, id, temper);
        this.id = id;
    }

    @Override
    Speech speech() {
        return Speech.HTTP1;
    }

    @Override
    void greet() {
        // The client speaks with its first request.
    }

    @Override
    boolean canAsk() {
        return !told && !uploading && owed.size() < (temper().eager() ? MOST_AHEAD : 1);
    }

    @Override
    void ask(int number, int answerBytes) {
        boolean uploads = random().nextInt(4) == 0;
        int body = uploads ? 1 + random().nextInt(LARGEST_BODY) : 0;
        boolean chunked = random().nextBoolean();
        String head = (uploads ? "PUT" : "GET") + " /" + id + "/" + number + "/" + answerBytes
                + " HTTP/1.1\r\nHost: simulated\r\n"
                + (!uploads ? "" : chunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: " + body + "\r\n")
                + "\r\n";
        owed.add(new Asked(number, answerBytes, sendReturningArrival(ascii(head))));
        if (uploads) {
            byte[] bytes = Talk.answer(id, number, 0, body);
            uploading = true;
            in(random().nextLong(LONGEST_PAUSE), () -> upload(chunked ? chunk(bytes) : bytes));
            if (hasToHurry()) {
                // Who ends its side with a request has to send it first.
                upload(chunked ? chunk(bytes) : bytes);
            }
        }
    }

    private boolean hasToHurry() {
        return temper().manner() == Temper.Manner.HASTY;
    }

    private void upload(byte[] body) {
        if (uploading) {
            uploading = false;
            send(body);
        }
    }

    static byte[] chunk(byte[] bytes) {
        byte[] head = ascii(Integer.toHexString(bytes.length) + "\r\n");
        byte[] tail = ascii("\r\n0\r\n\r\n");
        byte[] all = new byte[head.length + bytes.length + tail.length];
        System.arraycopy(head, 0, all, 0, head.length);
        System.arraycopy(bytes, 0, all, head.length, bytes.length);
        System.arraycopy(tail, 0, all, head.length + bytes.length, tail.length);
        return all;
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    void understand(byte[] bytes) {
        inbox.add(bytes);
        while (step()) {
            // One part after the other.
        }
    }

    /** Reads one part of an answer. Answers whether there may be another. */
    private boolean step() {
        return switch (reading) {
            case HEAD -> onHead(inbox.takeThrough("\r\n\r\n"));
            case CHUNK_SIZE -> onChunkSize(inbox.takeThrough("\r\n"));
            case CHUNK_END -> onChunkEnd(inbox.takeThrough("\r\n"));
            case BODY, CHUNK -> onBody();
        };
    }

    private boolean onHead(String head) {
        if (head == null) {
            return false;
        }
        if (!head.startsWith("HTTP/1.1 ") || owed.isEmpty() || told) {
            throw new AssertionError("this is no answer, or nobody waits for one: " + head + ", " + this);
        }
        if (head.startsWith("HTTP/1.1 1")) {
            Judge.check(!head.contains("close"), () -> "an interim answer says close: " + head);
            return true;
        }
        String lower = head.toLowerCase(Locale.ROOT);
        told = lower.contains("\r\nconnection: close");
        if (lower.contains("\r\ntransfer-encoding: chunked")) {
            reading = Reading.CHUNK_SIZE;
        } else {
            left = Integer.parseInt(lower.replaceAll("(?s).*\r\ncontent-length: (\\d+).*", "$1"));
            reading = Reading.BODY;
        }
        got = 0;
        return left > 0 || reading == Reading.CHUNK_SIZE || onAnswered();
    }

    private boolean onChunkSize(String line) {
        if (line == null) {
            return false;
        }
        left = Integer.parseInt(line, 16);
        reading = left == 0 ? Reading.CHUNK_END : Reading.CHUNK;
        return true;
    }

    private boolean onChunkEnd(String line) {
        if (line == null) {
            return false;
        }
        if (!line.isEmpty()) {
            throw new AssertionError("a chunk ends in " + line + ", " + this);
        }
        if (left == 0) {
            return onAnswered();
        }
        left = 0;
        reading = Reading.CHUNK_SIZE;
        return true;
    }

    private boolean onBody() {
        int number = owed.element().number();
        int count = Math.min(left, inbox.size());
        Talk.checkAnswer(inbox.take(count), id, number, got, this);
        got += count;
        left -= count;
        if (left > 0) {
            return false;
        }
        if (reading == Reading.BODY) {
            return onAnswered();
        }
        left = 1; // not the last one
        reading = Reading.CHUNK_END;
        return true;
    }

    private boolean onAnswered() {
        Asked answered = owed.remove();
        if (got != answered.wanted()) {
            throw new AssertionError(got + " bytes for " + answered + ", " + this);
        }
        reading = Reading.HEAD;
        if (told) {
            lastLookedAt = answered.number();
            onTold();
        } else {
            goOn();
        }
        return inbox.size() > 0;
    }

    /** What was asked after the answer that said close was not looked at (RFC 9112 section 9.6). */
    private void onTold() {
        if (!hasEnded()) {
            comeAgain(owed.size());
            if (!temper().stubborn()) {
                end();
            }
        }
        owed.clear();
    }

    @Override
    int lastLookedAt() {
        return lastLookedAt;
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
        return reading != Reading.HEAD || inbox.size() > 0;
    }

    @Override
    long owedSinceNanos() {
        return owed.element().arrivedNanos();
    }
}
