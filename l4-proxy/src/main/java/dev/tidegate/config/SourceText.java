package dev.tidegate.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Locale;
import java.util.Optional;
import org.snakeyaml.engine.v2.scanner.StreamReader;

/** A file's bytes, and bytes to text: UTF-8 or nothing, and no character that YAML forbids. Stateless. */
final class SourceText {
    static final int BYTES_MAX = 1 << 20;

    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private SourceText() {}

    /**
     * The bytes of a file, and one more than there may be of a larger one. A pipe is read to its end, which may take for
     * ever.
     *
     * @throws IOException with words for the operator when it cannot be read
     */
    static byte[] bytes(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new IOException("it is a directory");
        }
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(BYTES_MAX + 1);
        }
    }

    /**
     * The same of a regular file, or of a link to one. A pipe is refused before it is opened: without a writer already the
     * open would take for ever.
     */
    static byte[] bytesOfRegular(Path file) throws IOException {
        if (Files.readAttributes(file, BasicFileAttributes.class).isOther()) {
            throw new IOException("it is a pipe, a socket or a device, which might never end");
        }
        return bytes(file);
    }

    static Optional<String> decode(String file, int source, byte[] bytes, Problems problems) {
        Mark start = new Mark(source, file, 1, 1);
        if (bytes.length > BYTES_MAX) {
            problems.error(
                    start,
                    KeyPath.ROOT,
                    "the file is larger than 1 MiB",
                    "split it with include, or remove what is unused");
            return Optional.empty();
        }
        if (startsAsUtf16(bytes)) {
            problems.error(start, KeyPath.ROOT, "the file is UTF-16", "save it as UTF-8");
            return Optional.empty();
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer in = ByteBuffer.wrap(bytes);
        CharBuffer out = CharBuffer.allocate(bytes.length);
        CoderResult result = decoder.decode(in, out, true);
        out.flip();
        String text = out.length() > 0 && out.charAt(0) == BYTE_ORDER_MARK
                ? out.subSequence(1, out.length()).toString()
                : out.toString();
        if (result.isError()) {
            String bad = String.format(Locale.ROOT, "0x%02x", bytes[in.position()] & 0xff);
            problems.error(
                    markAt(start, text, text.length()),
                    KeyPath.ROOT,
                    "byte " + bad + " is not UTF-8",
                    "save it as UTF-8");
            return Optional.empty();
        }
        return printable(start, text, problems) ? Optional.of(text) : Optional.empty();
    }

    private static boolean startsAsUtf16(byte[] bytes) {
        int first = bytes.length < 2 ? 0 : ((bytes[0] & 0xff) << 8) | (bytes[1] & 0xff);
        return first == 0xfeff || first == 0xfffe;
    }

    private static boolean printable(Mark start, String text, Problems problems) {
        int at = 0;
        while (at < text.length()) {
            int c = text.codePointAt(at);
            if (!StreamReader.isPrintable(c)) {
                problems.error(
                        markAt(start, text, at),
                        KeyPath.ROOT,
                        String.format(Locale.ROOT, "control character U+%04X is not allowed", c),
                        "remove it");
                return false;
            }
            at += Character.charCount(c);
        }
        return true;
    }

    /** The place of a character, lines ending as YAML ends them. */
    private static Mark markAt(Mark start, String text, int index) {
        int line = 1;
        int lineStart = 0;
        for (int i = 0; i < index; i++) {
            char c = text.charAt(i);
            boolean crBeforeLf = c == '\r' && i + 1 < text.length() && text.charAt(i + 1) == '\n';
            if (c == '\n' || (c == '\r' && !crBeforeLf)) {
                line++;
                lineStart = i + 1;
            }
        }
        return new Mark(start.source(), start.file(), line, text.codePointCount(lineStart, index) + 1);
    }
}
