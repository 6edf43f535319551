package dev.tidegate.real;

import dev.tidegate.testkit.SeededStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Files and hashes of {@link SeededStream}'s bytes. */
final class Bytes {
    static final int KIB = 1024;
    static final int MIB = 1024 * KIB;

    private Bytes() {}

    /** Writes the first {@code bytes} of the stream of {@code seed} to a file. */
    static Path write(Path file, long seed, int bytes) throws IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(SeededStream.bytes(seed, bytes));
        }
        return file;
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is required of every Java platform", e);
        }
    }

    /** SHA-256 in lower-case hex. */
    static String sha256(byte[] bytes) {
        return hex(sha256().digest(bytes));
    }

    static String hex(byte[] digest) {
        return HexFormat.of().formatHex(digest);
    }
}
