package dev.tidegate.cli;

import dev.tidegate.control.Proxy;
import dev.tidegate.worker.Worker;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Tidegate with a fault that it does not have: once the file named by the system property {@code wedge.when} is there, its
 * first worker never turns again. All arguments are those of {@code tidegate}.
 */
final class WedgedMain {
    private static final String FILE = "wedge.when";
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private WedgedMain() {}

    /** Starts Tidegate. */
    public static void main(String[] arguments) {
        Path file = Path.of(System.getProperty(FILE));
        Main.main(service -> watch(file, service), arguments);
    }

    private static void watch(Path file, Service service) {
        Thread watch = new Thread(
                () -> {
                    while (!Files.exists(file)) {
                        LockSupport.parkNanos(LOOK_NANOS);
                    }
                    wedge(service.proxy());
                },
                "wedge");
        watch.setDaemon(true);
        watch.start();
    }

    private static void wedge(Proxy proxy) {
        try {
            Field field = Proxy.class.getDeclaredField("workers");
            field.setAccessible(true);
            Worker worker = (Worker) ((List<?>) field.get(proxy)).get(0);
            worker.loop().execute(WedgedMain::waitForEver);
        } catch (ReflectiveOperationException changed) {
            throw new LinkageError("the proxy keeps its workers elsewhere now", changed);
        }
    }

    private static void waitForEver() {
        CountDownLatch never = new CountDownLatch(1);
        while (true) {
            try {
                never.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                LockSupport.parkNanos(LOOK_NANOS);
            }
        }
    }
}
