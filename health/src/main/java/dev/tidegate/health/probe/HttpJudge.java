package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Says of one answer, as its parts come, what it means. Confined to the loop. */
final class HttpJudge {
    private final HttpProbe.Expected expected;
    private final Regex.Effort effort = new Regex.Effort();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private int status;

    HttpJudge(HttpProbe.Expected expected) {
        this.expected = expected;
    }

    /** The final status has come. Empty: the body decides. */
    Optional<Finding> onStatus(int newStatus) {
        status = newStatus;
        if (isIn(expected.notReady())) {
            return Optional.of(Finding.notReady("HTTP " + status));
        }
        if (!isIn(expected.passing())) {
            String passing = expected.passing().stream().map(Object::toString).collect(Collectors.joining(", "));
            return Optional.of(Finding.fail("HTTP " + status + ", expected " + passing));
        }
        return expected.body().isPresent() ? Optional.empty() : Optional.of(Finding.pass("HTTP " + status));
    }

    private boolean isIn(List<HttpProbe.Statuses> ranges) {
        return ranges.stream().anyMatch(range -> range.has(status));
    }

    /** Some of the body; what is beyond its first 64 KiB is not looked at. */
    void onBody(ByteBuf piece) {
        int wanted = Math.min(piece.readableBytes(), HttpProbe.BODY_MAX_BYTES - body.size());
        try {
            piece.getBytes(piece.readerIndex(), body, wanted);
        } catch (IOException e) {
            throw new UncheckedIOException("an array in memory took no bytes", e);
        }
    }

    /** Whether no more of the body is wanted. */
    boolean isFull() {
        return body.size() >= HttpProbe.BODY_MAX_BYTES;
    }

    /** Looks at the body so far. Empty: what is yet to come may decide. */
    Optional<Finding> look(boolean complete) {
        return complete || isFull() ? lookAtLast() : lookAtPart();
    }

    private Optional<Finding> lookAtPart() {
        try {
            return isFound(false, effort) ? Optional.of(found()) : Optional.empty();
        } catch (Regex.TooMuchWork e) {
            // A body in many small pieces is looked at as often. From here on each look ends at once, up to the last
            // one.
            return Optional.empty();
        }
    }

    private Optional<Finding> lookAtLast() {
        try {
            return Optional.of(isFound(true, new Regex.Effort()) ? found() : notFound());
        } catch (Regex.TooMuchWork e) {
            return Optional.of(Finding.fail(e.getMessage()));
        }
    }

    private boolean isFound(boolean last, Regex.Effort effortOfLook) throws Regex.TooMuchWork {
        return wanted().isFound(body.toString(StandardCharsets.UTF_8), last, effortOfLook);
    }

    private Finding found() {
        return Finding.pass("HTTP " + status + ", " + wanted() + " found");
    }

    private Finding notFound() {
        String where = isFull() ? "the first 64 KiB of the body" : "the body";
        return Finding.fail("HTTP " + status + ", no " + wanted() + " in " + where + "; it begins: "
                + Printable.quoted(body.toByteArray()));
    }

    private Regex wanted() {
        return expected.body().orElseThrow();
    }
}
