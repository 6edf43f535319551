package dev.tidegate.simulation;

import static dev.tidegate.simulation.Http1Client.ascii;
import static dev.tidegate.simulation.Http1Client.chunk;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.random.RandomGenerator;

/** Answers HTTP/1.1, one request after the other, with or without the lengths of bodies known before. */
final class Http1Service extends Service {
    /** A request whose answer is owed. */
    private record Request(int client, int number, int count) {}

    private final Deque<Request> owed = new ArrayDeque<>();
    private Request reading; // its body
    private int bodyLeft;
    private boolean left;

    Http1Service(SimEndpoint endpoint, Link link, RandomGenerator random) {
        super(endpoint, link, random);
    }

    @Override
    void read() {
        while (!left && (reading == null ? readHead() : readBody())) {
            // One part after the other.
        }
    }

    private boolean readHead() {
        String head = inbox().takeThrough("\r\n\r\n");
        if (head == null) {
            return false;
        }
        String[] words = head.split("[ /\r\n]+", 5);
        Request request =
                new Request(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
        serves(request.client(), ascii(head + "\r\n\r\n"));
        bodyLeft = head.contains("chunked")
                ? -1
                : head.contains("Length: ") ? Integer.parseInt(head.replaceAll("(?s).*Length: (\\d+).*", "$1")) : 0;
        reading = request;
        return true;
    }

    private boolean readBody() {
        if (bodyLeft == -1) {
            String size = inbox().takeThrough("\r\n");
            if (size == null) {
                return false;
            }
            // The chunk, its end, and the end of all of them.
            bodyLeft = Integer.parseInt(size, 16) + 7;
        }
        int count = Math.min(bodyLeft, inbox().size());
        inbox().take(count);
        bodyLeft -= count;
        if (bodyLeft > 0) {
            return false;
        }
        Request request = reading;
        reading = null;
        took(request.number());
        owed.add(request);
        left = isLeaving();
        if (owed.size() == 1) {
            afterAThought(this::answer);
        }
        return true;
    }

    private void answer() {
        if (random().nextInt(8) == 0) {
            send(ascii("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"));
            afterAPause(this::answerFinally);
        } else {
            answerFinally();
        }
    }

    private void answerFinally() {
        Request request = owed.element();
        boolean chunked = random().nextBoolean();
        boolean last = left && owed.size() == 1;
        String connection =
                last ? "Connection: close\r\n" : random().nextInt(4) == 0 ? "Connection: keep-alive\r\n" : "";
        if (last) {
            tellThatItLeaves();
        }
        String length = chunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: " + request.count() + "\r\n";
        send(ascii("HTTP/1.1 200 OK\r\nServer: simulated\r\n"
                + (random().nextBoolean() ? connection + length : length + connection) + "\r\n"));
        body(request, 0, chunked);
    }

    private void body(Request request, int from, boolean chunked) {
        int piece = Math.min(PIECE_BYTES, request.count() - from);
        boolean last = from + piece == request.count();
        byte[] bytes = Talk.answer(request.client(), request.number(), from, piece);
        if (!chunked) {
            send(bytes);
        } else if (last) {
            send(piece == 0 ? ascii("0\r\n\r\n") : chunk(bytes));
        } else {
            byte[] whole = chunk(bytes);
            send(Arrays.copyOf(whole, whole.length - 5));
        }
        if (!last) {
            afterAPause(() -> body(request, from + piece, chunked));
            return;
        }
        owed.remove();
        if (!owed.isEmpty()) {
            afterAThought(this::answer);
        } else if (left) {
            end();
        } else {
            endIfDone();
        }
    }

    @Override
    boolean isOwing() {
        return !owed.isEmpty();
    }
}
