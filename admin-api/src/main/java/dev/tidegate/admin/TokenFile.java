package dev.tidegate.admin;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of tokens and the roles that they give. Only digests are kept. The file is read again when it has changed; one
 * that has become unreadable or wrong leaves in force what was read before, and says so.
 *
 * <p>Made by any thread, then confined to the admin loop.
 */
final class TokenFile {
    private static final Logger log = LoggerFactory.getLogger(TokenFile.class);
    private static final long LOOK_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long SIZE_MAX = 1024 * 1024;
    private static final int SHORT_TOKEN = 16;
    private static final String WANTED = "write a role (viewer, operator or admin), a space and a token";
    /** RFC 6750, section 2.1. */
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

    private final Path path;
    private List<Entry> entries;
    private Stamp stamp;
    private long lookedNanos;

    private static final class Entry {
        private final Role role;
        private final byte[] digest;

        Entry(Role role, byte[] digest) {
            this.role = role;
            this.digest = digest;
        }
    }

    /** What tells that a file has changed; its mode too, since one that was refused for it may be mended. */
    private record Stamp(FileTime modified, long size, Set<PosixFilePermission> permissions) {}

    private TokenFile(Path path, List<Entry> entries, Stamp stamp, long nowNanos) {
        this.path = path;
        this.entries = entries;
        this.stamp = stamp;
        this.lookedNanos = nowNanos;
    }

    /**
     * Reads the file.
     *
     * @throws IOException when it cannot be read or is wrong, with all that is wrong, one a line
     */
    static TokenFile open(Path path, long nowNanos) throws IOException {
        Stamp stamp = stampOf(path);
        return new TokenFile(path, read(path), stamp, nowNanos);
    }

    /** The role that a token of that digest gives; {@link Role#ANYONE} for none. Takes as long for any digest. */
    Role roleOf(byte[] digest) {
        Role role = Role.ANYONE;
        for (Entry entry : entries) {
            if (MessageDigest.isEqual(entry.digest, digest)) {
                role = entry.role;
            }
        }
        return role;
    }

    /** Reads the file again if it has changed; looks at most once a second. */
    void look(long nowNanos) {
        if (nowNanos - lookedNanos < LOOK_EVERY_NANOS) {
            return;
        }
        lookedNanos = nowNanos;
        try {
            Stamp now = stampOf(path);
            if (!now.equals(stamp)) {
                stamp = now;
                entries = read(path);
                log.info("token file read again path={} tokens={}", path, entries.size());
            }
        } catch (IOException e) {
            log.warn("token file not taken, the tokens read before stay in force: {}", e.getMessage());
        }
    }

    /** Reads the file again, changed or not. */
    void reload() {
        try {
            stamp = stampOf(path);
            entries = read(path);
        } catch (IOException e) {
            log.warn("token file not taken, the tokens read before stay in force: {}", e.getMessage());
        }
    }

    private static Stamp stampOf(Path path) throws IOException {
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            return new Stamp(attributes.lastModifiedTime(), attributes.size(), permissionsOf(path));
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    private static List<Entry> read(Path path) throws IOException {
        checkAccess(path);
        String text;
        try {
            if (Files.size(path) > SIZE_MAX) {
                throw new IOException("token file \"" + path + "\" has more than " + SIZE_MAX + " bytes");
            }
            text = Files.readString(path, StandardCharsets.UTF_8);
        } catch (java.nio.charset.CharacterCodingException e) {
            throw new IOException("token file \"" + path + "\" is not UTF-8 text", e);
        } catch (java.nio.file.FileSystemException e) {
            throw unreadable(path, e);
        }
        return parse(path, text);
    }

    private static IOException unreadable(Path path, IOException cause) {
        String why = cause instanceof NoSuchFileException
                ? "does not exist; check the path"
                : "cannot be read: "
                        + (cause instanceof AccessDeniedException
                                ? "permission denied; let the user of this process read it"
                                : cause.getMessage());
        return new IOException("token file \"" + path + "\" " + why, cause);
    }

    /** Nobody's where files have no such thing. */
    private static Set<PosixFilePermission> permissionsOf(Path path) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(path, PosixFileAttributeView.class);
        return view == null ? Set.of() : view.readAttributes().permissions();
    }

    private static void checkAccess(Path path) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new IOException("token file \"" + path + "\" is no regular file, and no link to one");
        }
        Set<PosixFilePermission> permissions;
        try {
            permissions = permissionsOf(path);
        } catch (IOException e) {
            throw unreadable(path, e);
        }
        if (permissions.contains(PosixFilePermission.OTHERS_WRITE)) {
            throw new IOException("token file \"" + path
                    + "\" can be written by everyone, who could make themselves admin; chmod 600 it");
        }
        if (permissions.contains(PosixFilePermission.OTHERS_READ)) {
            log.warn("token file \"{}\" can be read by everyone on this machine; chmod 600 it", path);
        }
    }

    // A message never shows a word of the file: it may be a token.
    private static List<Entry> parse(Path path, String text) throws IOException {
        List<Entry> entries = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        List<String> lines = text.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            String problem = parseLine(line, entries);
            if (problem != null) {
                problems.add(path + ":" + (i + 1) + ": " + problem);
            } else if (line.split("\\s+", -1)[1].length() < SHORT_TOKEN) {
                log.warn(
                        "{}:{}: the token is short enough to be guessed; make one with openssl rand -hex 32",
                        path,
                        i + 1);
            }
        }
        if (problems.isEmpty() && entries.isEmpty()) {
            problems.add("token file \"" + path + "\" has no token; " + WANTED + " on a line");
        }
        if (!problems.isEmpty()) {
            throw new IOException(String.join("\n", problems));
        }
        return List.copyOf(entries);
    }

    private static String parseLine(String line, List<Entry> entries) {
        String[] words = line.split("\\s+", -1);
        if (words.length != 2) {
            return "has " + words.length + " words, not 2; " + WANTED;
        }
        Role role = role(words[0]);
        if (role == null) {
            return "begins with no role; " + WANTED;
        }
        if (!TOKEN.matcher(words[1]).matches()) {
            return "the token has characters that no Bearer token may have; use letters, digits and - . _ ~ + /";
        }
        byte[] digest = digest(words[1]);
        if (entries.stream().anyMatch(entry -> MessageDigest.isEqual(entry.digest, digest))) {
            return "the token stands on a line before; give each line its own";
        }
        entries.add(new Entry(role, digest));
        return null;
    }

    private static Role role(String word) {
        for (Role role : Role.values()) {
            if (role != Role.ANYONE && role.word().equals(word.toLowerCase(Locale.ROOT))) {
                return role;
            }
        }
        return null;
    }

    static byte[] digest(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
