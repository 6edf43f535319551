package dev.tidegate.admin;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The status page: one file, whose scripts and styles are the only ones that a browser may run, by their digests. It has no
 * data; it asks for that with the operator's token. Immutable.
 */
final class StatusPage {
    private static final String RESOURCE = "status.html";
    private static final Pattern SCRIPT = Pattern.compile("<script>(.*?)</script>", Pattern.DOTALL);
    private static final Pattern STYLE = Pattern.compile("<style>(.*?)</style>", Pattern.DOTALL);

    private final Answer answer;

    private StatusPage(Answer answer) {
        this.answer = answer;
    }

    /** Reads it from the jar. */
    static StatusPage load() {
        try (InputStream in = StatusPage.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException("the build has no " + RESOURCE);
            }
            return new StatusPage(of(in.readAllBytes()));
        } catch (IOException e) {
            throw new IllegalStateException(RESOURCE + " cannot be read", e);
        }
    }

    Answer answer() {
        return answer;
    }

    private static Answer of(byte[] page) {
        String text = new String(page, StandardCharsets.UTF_8);
        String policy = "default-src 'none'; script-src " + digests(SCRIPT, text) + "; style-src "
                + digests(STYLE, text) + "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                + "frame-ancestors 'none'";
        return Answer.ok("text/html; charset=utf-8", page)
                .with("content-security-policy", policy)
                .with("x-frame-options", "DENY")
                .with("referrer-policy", "no-referrer")
                .with("cross-origin-opener-policy", "same-origin");
    }

    private static String digests(Pattern element, String text) {
        String all = element.matcher(text)
                .results()
                .map(found -> "'sha256-" + digest(found.group(1)) + "'")
                .collect(Collectors.joining(" "));
        return all.isEmpty() ? "'none'" : all;
    }

    private static String digest(String content) {
        try {
            return Base64.getEncoder()
                    .encodeToString(
                            MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
