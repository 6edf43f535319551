package dev.tidegate.telemetry;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Set;

/**
 * A log file that is appended to, or standard output. A named pipe is opened with the first bytes, for that waits for a
 * reader.
 */
final class ChannelSink implements LogSink {
    private static final Set<StandardOpenOption> APPEND =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);

    private final Path path; // null for standard output
    private FileChannel channel; // null until first needed
    private Object fileKey;

    private ChannelSink(Path path) {
        this.path = path;
    }

    static ChannelSink stdout() {
        ChannelSink sink = new ChannelSink(null);
        sink.channel = new FileOutputStream(FileDescriptor.out).getChannel();
        return sink;
    }

    static ChannelSink file(Path path) throws IOException {
        ChannelSink sink = new ChannelSink(path);
        if (!Files.exists(path) || Files.isRegularFile(path) || Files.isDirectory(path)) {
            sink.reopen();
            if (endsWithinLine(path)) {
                sink.write(ByteBuffer.wrap(new byte[] {'\n'}));
            }
        }
        return sink;
    }

    /** Whether an earlier process was stopped in the middle of a line, by a full disk or by force. */
    private static boolean endsWithinLine(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            ByteBuffer last = ByteBuffer.allocate(1);
            return file.size() > 0 && file.read(last, file.size() - 1) == 1 && last.get(0) != '\n';
        }
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
        if (channel == null) {
            reopen();
        }
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) == 0) {
                throw new IOException("no byte is taken now");
            }
        }
    }

    @Override
    public boolean reopen() throws IOException {
        if (path == null) {
            return false;
        }
        FileChannel next = FileChannel.open(
                path, APPEND, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r-----")));
        Object nextKey;
        try {
            nextKey = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        } catch (IOException | RuntimeException e) {
            next.close(); // it is opened again at the next try
            throw e;
        }
        boolean other = !Objects.equals(nextKey, fileKey);
        if (channel != null) {
            channel.close();
        }
        channel = next;
        fileKey = nextKey;
        return other;
    }

    @Override
    public void close() throws IOException {
        if (path != null && channel != null) {
            channel.close();
        }
    }
}
