package dev.tidegate.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * A client or an endpoint as a process of its own, for a network namespace. It says each event as a line: {@code moving}
 * when bytes come, {@code ready} when one went there and back, {@code reset}, {@code fin}.
 *
 * <pre>
 * listen ADDRESS HABIT
 * connect ADDRESS PORT COUNT HABIT
 * </pre>
 */
final class PathPeer {
    /** Enough to be sure that bytes are on their way all the time. */
    private static final long MOVING_BYTES = 1 << 20;

    private static final long BEAT_MILLIS = 20;

    /** What a peer does on a connection. */
    private enum Habit {
        /** Reads, and answers the first byte. */
        ANSWER,
        /** Sends a byte, awaits the answer, and is silent. */
        WAIT,
        /** The same, and then a byte now and then. */
        BEAT,
        /** Sends as much as it can. */
        FLOOD
    }

    private PathPeer() {}

    public static void main(String[] arguments) throws IOException {
        InetAddress address = InetAddress.getByName(arguments[1]);
        Habit habit = Habit.valueOf(arguments[arguments.length - 1]);
        if (arguments[0].equals("listen")) {
            try (ServerSocket listener = new ServerSocket(0, 100, address)) {
                System.out.println("listening " + listener.getLocalPort());
                while (true) {
                    start(listener.accept(), habit);
                }
            }
        } else {
            for (int i = 0; i < Integer.parseInt(arguments[3]); i++) {
                Socket socket = new Socket();
                socket.connect(new InetSocketAddress(address, Integer.parseInt(arguments[2])));
                start(socket, habit);
            }
        }
    }

    private static void start(Socket socket, Habit habit) {
        new Thread(() -> System.out.println(ending(socket, habit))).start();
    }

    private static String ending(Socket socket, Habit habit) {
        try (socket) {
            switch (habit) {
                case ANSWER -> answer(socket);
                case WAIT -> {
                    ping(socket);
                    return socket.getInputStream().read() < 0 ? "fin" : "a byte that nobody asked for";
                }
                case BEAT -> beat(socket);
                case FLOOD -> flood(socket);
            }
            return "fin";
        } catch (IOException e) {
            return String.valueOf(e.getMessage()).startsWith("Connection reset") ? "reset" : e.toString();
        }
    }

    private static void answer(Socket socket) throws IOException {
        byte[] buffer = new byte[64 * 1024];
        long received = 0;
        for (int read; (read = socket.getInputStream().read(buffer)) >= 0; ) {
            if (received == 0) {
                socket.getOutputStream().write(1);
            }
            if (received < MOVING_BYTES && received + read >= MOVING_BYTES) {
                System.out.println("moving");
            }
            received += read;
        }
    }

    private static void ping(Socket socket) throws IOException {
        socket.getOutputStream().write(1);
        if (socket.getInputStream().read() < 0) {
            throw new IOException("no answer");
        }
        System.out.println("ready");
    }

    private static void beat(Socket socket) throws IOException {
        ping(socket);
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        try {
            ScheduledFuture<?> beats = clock.scheduleAtFixedRate(
                    () -> {
                        try {
                            socket.getOutputStream().write(1);
                        } catch (IOException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    0,
                    BEAT_MILLIS,
                    TimeUnit.MILLISECONDS);
            beats.get();
        } catch (ExecutionException e) {
            if (e.getCause().getCause() instanceof IOException fault) {
                throw fault;
            }
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            clock.shutdown();
        }
    }

    private static void flood(Socket socket) throws IOException {
        byte[] buffer = new byte[64 * 1024];
        while (true) {
            socket.getOutputStream().write(buffer);
        }
    }
}
