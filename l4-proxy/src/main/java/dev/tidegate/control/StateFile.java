package dev.tidegate.control;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/**
 * The file of runtime state in its directory. Written beside and renamed, so that at any moment, power cuts included, it
 * has one whole text or the one before. For one thread at a time.
 */
final class StateFile {
    static final String NAME = "runtime.json";
    static final String BAD_NAME = NAME + ".bad";

    private static final String TEMPORARY_SUFFIX = ".tmp";

    private final Path directory;
    private final Path file;

    StateFile(Path directory) {
        this.directory = directory;
        this.file = directory.resolve(NAME);
    }

    Path path() {
        return file;
    }

    /**
     * Makes the directory, for its owner alone, if it is not there.
     *
     * @throws IOException if it cannot be, or cannot be written to
     */
    void makeDirectory() throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        if (!Files.isWritable(directory)) {
            throw new IOException(directory + ": not writable by this process");
        }
    }

    /**
     * What the file has.
     *
     * @return empty when there is none
     * @throws StateFormat.Unreadable if it is no file of runtime state
     * @throws IOException if it cannot be read
     */
    Optional<RuntimeState> read() throws StateFormat.Unreadable, IOException {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new StateFormat.Unreadable("is no regular file");
        }
        byte[] text;
        try (InputStream in = Files.newInputStream(file)) {
            text = in.readNBytes(StateFormat.BYTES_MAX + 1);
        }
        if (text.length > StateFormat.BYTES_MAX) {
            throw new StateFormat.Unreadable("is larger than " + StateFormat.BYTES_MAX + " bytes");
        }
        return Optional.of(StateFormat.decode(text));
    }

    /** Keeps a file that could not be read beside, in place of an earlier such one, and says where. */
    Path setAside() throws IOException {
        Path bad = directory.resolve(BAD_NAME);
        return Files.move(file, bad, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Removes what writers that were killed left behind. */
    void removeTemporaries() throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(directory, NAME + ".*" + TEMPORARY_SUFFIX)) {
            for (Path each : left) {
                Files.deleteIfExists(each);
            }
        }
    }

    /** The file has this text when this returns, and will still have it after a power cut. */
    void write(byte[] text) throws IOException {
        makeDirectory();
        Path temporary = writeBeside(text);
        try {
            putInPlace(temporary);
        } catch (IOException failed) {
            deleteAfter(failed, temporary);
            throw failed;
        }
    }

    /** The first step: the text in a file of its own, on the disk. */
    Path writeBeside(byte[] text) throws IOException {
        Path temporary = Files.createTempFile(directory, NAME + ".", TEMPORARY_SUFFIX);
        try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
            ByteBuffer rest = ByteBuffer.wrap(text);
            while (rest.hasRemaining()) {
                channel.write(rest);
            }
            channel.force(true);
        } catch (IOException failed) {
            deleteAfter(failed, temporary);
            throw failed;
        }
        return temporary;
    }

    /** The second step: that file takes the name, and the name is on the disk too. */
    void putInPlace(Path temporary) throws IOException {
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    private static void deleteAfter(IOException failed, Path temporary) {
        try {
            Files.deleteIfExists(temporary);
        } catch (IOException alsoFailed) {
            failed.addSuppressed(alsoFailed);
        }
    }
}
