package dev.tidegate.protocol;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * A valid HTTP/1 connection of several exchanges, drawn from a seed, with the truth about where everything in it begins and
 * ends. Offsets count from the first byte of their direction.
 */
final class Http1Script {
    private static final String[] FIELDS = {
        "Host: a.example",
        "X-Content-Length: 7",
        "Content-Lengths: 7",
        "Content-Lengt: 7",
        "Transfer-Encodings: chunked",
        "Connections: close",
        "X: close",
        "Connection: keep-alive",
        "connection: foo ,, bar",
        "Upgrades: x",
        "A:",
        "B: \t ",
        "C: a:b, \"c\"; d=\u00e9\tf",
        "Cookie: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    };
    private static final String[] CLOSING = {"Connection: close", "CONNECTION: x, Close", "Connection:close ,y"};
    private static final String LIKE_HTTP =
            "GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nHTTP/1.1 200 OK\r\n\r\n0\r\n\r\n";

    /** What is true of one exchange. */
    record Exchange(
            boolean head,
            boolean saysClose,
            int status,
            int requestStart,
            int requestHeadEnd,
            int requestEnd,
            int responseStart,
            int finalHeadEnd,
            int responseEnd) {}

    private final Random random;
    private final ByteArrayOutputStream requests = new ByteArrayOutputStream();
    private final ByteArrayOutputStream responses = new ByteArrayOutputStream();
    private final List<Exchange> exchanges = new ArrayList<>();
    private boolean untilClose;

    Http1Script(Random random) {
        this.random = random;
        int count = 1 + random.nextInt(chance(20) ? 40 : 6);
        for (int i = 0; i < count; i++) {
            exchanges.add(exchange(i == count - 1));
        }
    }

    byte[] requests() {
        return requests.toByteArray();
    }

    byte[] responses() {
        return responses.toByteArray();
    }

    List<Exchange> exchanges() {
        return exchanges;
    }

    /** Whether the last response ends with the endpoint's direction. */
    boolean untilClose() {
        return untilClose;
    }

    private boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }

    private Exchange exchange(boolean last) {
        String method = pick("GET", "HEAD", "POST", "PUT", "OPTIONS", "HEADER", "CONNECTED", "head", "DELETE");
        if (chance(10)) {
            write(requests, "\r\n".repeat(1 + random.nextInt(2)));
        }
        int requestStart = requests.size();
        write(requests, method + " " + pick("/", "*", "/a?b=" + "c".repeat(random.nextInt(40)), "http://a/") + " ");
        boolean old = chance(8);
        write(requests, old ? "HTTP/1.0\r\n" : "HTTP/1.1\r\n");
        fields(requests);
        boolean request = method.equals("POST") || method.equals("PUT");
        int requestHeadEnd;
        if (request && !old && random.nextBoolean()) {
            requestHeadEnd = chunked(requests);
        } else if (request || chance(9)) {
            requestHeadEnd = fixed(requests);
        } else {
            requestHeadEnd = blankLine(requests);
        }
        int requestEnd = requests.size();
        int responseStart = responses.size();
        for (int i = chance(4) ? 1 + random.nextInt(3) : 0; i > 0; i--) {
            write(responses, "HTTP/1.1 " + pick("100 Continue", "102 x", "103 Early Hints", "199 ") + "\r\n");
            fields(responses);
            blankLine(responses);
        }
        return response(method.equals("HEAD"), last, requestStart, requestHeadEnd, requestEnd, responseStart);
    }

    private Exchange response(
            boolean head, boolean last, int requestStart, int requestHeadEnd, int requestEnd, int responseStart) {
        boolean old = chance(8);
        int status = Integer.parseInt(pick("200", "200", "200", "204", "304", "404", "500", "299", "206"));
        write(responses, (old ? "HTTP/1.0 " : "HTTP/1.1 ") + status + pick(" OK", " ", " a b\u00e9c", "") + "\r\n");
        fields(responses);
        boolean saysClose = chance(12);
        if (saysClose) {
            write(responses, pick(CLOSING) + "\r\n");
            fields(responses);
        }
        boolean bodiless = head || status == 204 || status == 304;
        int finalHeadEnd;
        if (bodiless) {
            // A body is spoken of that is not there.
            String framing = pick("", "Content-Length: 12\r\n", old ? "" : "Transfer-Encoding: chunked\r\n");
            write(responses, status == 204 ? "" : framing);
            finalHeadEnd = blankLine(responses);
        } else if (last && chance(3)) {
            untilClose = true;
            finalHeadEnd = blankLine(responses);
            write(responses, body());
        } else if (!old && random.nextBoolean()) {
            finalHeadEnd = chunked(responses);
        } else {
            finalHeadEnd = fixed(responses);
        }
        return new Exchange(
                head,
                saysClose,
                status,
                requestStart,
                requestHeadEnd,
                requestEnd,
                responseStart,
                finalHeadEnd,
                responses.size());
    }

    private void fields(ByteArrayOutputStream out) {
        for (int i = random.nextInt(4); i > 0; i--) {
            write(out, pick(FIELDS) + "\r\n");
        }
    }

    private static int blankLine(ByteArrayOutputStream out) {
        write(out, "\r\n");
        return out.size();
    }

    private int fixed(ByteArrayOutputStream out) {
        String body = body();
        String line = pick("Content-Length: ", "content-length:", "CONTENT-LENGTH:\t") + body.length() + pick("", " ");
        write(out, line + "\r\n" + (chance(20) ? line + "\r\n" : ""));
        fields(out);
        int headEnd = blankLine(out);
        write(out, body);
        return headEnd;
    }

    private int chunked(ByteArrayOutputStream out) {
        write(out, pick("Transfer-Encoding: chunked", "transfer-encoding:CHUNKED ", "Transfer-Encoding: chunked\t"));
        write(out, "\r\n");
        fields(out);
        int headEnd = blankLine(out);
        for (int i = random.nextInt(4); i > 0; i--) {
            String data = body();
            if (!data.isEmpty()) {
                String size = Integer.toHexString(data.length());
                write(out, pick("", "0", "000") + pick(size, size.toUpperCase(Locale.ROOT)));
                write(out, pick("", "", ";a", ";a=b;c=d") + "\r\n" + data + "\r\n");
            }
        }
        write(out, pick("0", "00", "0;x=y") + "\r\n");
        if (chance(3)) {
            write(out, pick("X-Sum: 1\r\n", "A: b\r\nC: d\r\n", "Server-Timing: x, close\r\n"));
        }
        write(out, "\r\n");
        return headEnd;
    }

    private String body() {
        return switch (random.nextInt(8)) {
            case 0 -> "";
            case 1 -> LIKE_HTTP;
            case 2 -> "x".repeat(random.nextInt(5_000));
            case 3 -> "\r\n".repeat(random.nextInt(4));
            default -> "y\u0000".repeat(random.nextInt(20));
        };
    }

    private String pick(String... words) {
        return words[random.nextInt(words.length)];
    }

    private static void write(ByteArrayOutputStream out, String text) {
        out.writeBytes(WatchedHttp1.bytes(text));
    }
}
