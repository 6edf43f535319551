package dev.tidegate.cli;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.model.Backend;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.Endpoint;
import dev.tidegate.telemetry.BackendRow;
import dev.tidegate.telemetry.EndpointRow;
import dev.tidegate.telemetry.WorkerCounters;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A running demo: three endpoints, a balancer before them that is built as {@code run} builds it, and clients with
 * long-lived connections, in one process. Endpoints and clients share the one loop {@code tidegate-demo}.
 *
 * <p>Used by the thread that made it.
 */
final class Demo implements AutoCloseable {
    private static final List<String> NAMES = List.of("a", "b", "c");
    private static final int RESTARTED = 1; // the endpoint of the story

    private final DemoStory story;
    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("tidegate-demo", true), NioIoHandler.newFactory());
    private final EventLoop loop = group.next();
    private final List<DemoEndpoint> endpoints = new ArrayList<>();
    private final Duration length; // null without an end
    private Path configFile;
    private Service service;
    private DemoCrowd crowd;
    private long startNanos;
    private String trouble; // null while there is none

    private Demo(Duration length) {
        this.length = length;
        story = new DemoStory(length);
    }

    /**
     * Starts everything, or nothing.
     *
     * @param length how long it is going to run; null without an end
     * @throws IOException when a port or the temporary file cannot be had
     * @throws TransportChoice.UnavailableException never: any transport will do
     */
    static Demo start(Duration length) throws IOException, TransportChoice.UnavailableException {
        Demo demo = new Demo(length);
        try {
            demo.startAll();
            return demo;
        } catch (IOException | TransportChoice.UnavailableException | RuntimeException failed) {
            demo.close();
            throw failed;
        }
    }

    private void startAll() throws IOException, TransportChoice.UnavailableException {
        for (String name : NAMES) {
            DemoEndpoint endpoint = new DemoEndpoint(name, loop);
            endpoint.open();
            endpoints.add(endpoint);
        }
        configFile = Files.createTempFile("tidegate-demo-", ".yaml");
        configFile.toFile().deleteOnExit();
        Files.writeString(configFile, yaml());
        service = Service.start(config(), Optional.empty(), Map.of());
        startNanos = System.nanoTime();
        crowd = new DemoCrowd(loop, balancer(), new SplittableRandom(startNanos));
        crowd.start();
    }

    private Config config() throws IOException {
        ConfigResult result =
                ConfigReader.readText(configFile.toString(), Files.readAllBytes(configFile), System::getenv);
        return result.config()
                .orElseThrow(() -> new IllegalStateException("the demo's own configuration: " + result.problems()));
    }

    private String yaml() {
        String lines = endpoints.stream()
                .map(endpoint -> "      - {name: " + endpoint.name() + ", address: \""
                        + endpoint.address().getAddress().getHostAddress() + ":"
                        + endpoint.address().getPort() + "\"}\n")
                .collect(Collectors.joining());
        return """
                # What `tidegate demo` runs. Its endpoints end with it. Port 0: the system chooses.
                process:
                  shutdown: {deadline: 1s, spread: 200ms}
                admin: {listen: "127.0.0.1:0"}
                log: {level: warn, access: {path: none}}
                frontends:
                  - {name: demo, listen: "127.0.0.1:0", backend: hello}
                backends:
                  - name: hello
                    balance: power-of-two
                    endpoints:
                %s""".formatted(lines);
    }

    /** Where clients connect. */
    InetSocketAddress balancer() {
        return service.proxy().listeningOn().values().iterator().next();
    }

    /** Where the admin API is. */
    String adminAddress() {
        return service.adminAddresses().get(0).toString();
    }

    /** The file that holds the configuration while the demo runs. */
    Path configFile() {
        return configFile;
    }

    /** Which transport is used, and why. */
    TransportChoice choice() {
        return service.choice();
    }

    /** Whether its time is over. */
    boolean isOver() {
        return length != null && elapsedNanos() >= length.toNanos();
    }

    /** Lets happen what is due. */
    void advance() {
        DemoEndpoint restarted = endpoints.get(RESTARTED);
        boolean open = story.isOpen(elapsedNanos());
        if (restarted.isOpen() && !open) {
            // The kernel resets what waits to be accepted on a port that is closed, which no balancer can mend: so
            // it waits for a moment when nobody is on the way.
            if (crowd.tryHold()) {
                restarted.closePort();
                crowd.release();
            }
        } else if (!restarted.isOpen() && open) {
            reopen(restarted);
        } else {
            crowd.release();
        }
    }

    private void reopen(DemoEndpoint endpoint) {
        try {
            endpoint.open();
            trouble = null;
        } catch (IOException taken) {
            // Somebody else got the port meanwhile. The table says so, and the next look tries again.
            trouble = taken.getMessage();
        }
    }

    /** What there is to see now. */
    DemoView view() {
        Backend backend = service.proxy().snapshot().backends().get(0);
        List<DemoView.Row> rows = new ArrayList<>();
        for (int i = 0; i < endpoints.size(); i++) {
            rows.add(row(endpoints.get(i), backend.endpoints().at(i)));
        }
        long retries = 0;
        for (WorkerCounters counters : service.proxy().counters()) {
            BackendRow row = counters.readBackend(backend.slot());
            retries += row == null ? 0 : row.retries;
        }
        long elapsed = elapsedNanos();
        String news = trouble == null ? story.news(elapsed, NAMES.get(RESTARTED)) : trouble;
        return new DemoView(elapsed, rows, crowd.totals(), retries, news);
    }

    private DemoView.Row row(DemoEndpoint endpoint, Endpoint seen) {
        long connects = 0;
        long refused = 0;
        for (WorkerCounters counters : service.proxy().counters()) {
            EndpointRow row = counters.readEndpoint(seen.cell().slot());
            if (row != null) {
                connects += row.connects(ConnectResult.OK);
                refused += row.connects(ConnectResult.REFUSED);
            }
        }
        return new DemoView.Row(
                endpoint.name(), endpoint.isOpen(), seen.cell().inFlight(), connects, refused, endpoint.requests());
    }

    private long elapsedNanos() {
        return System.nanoTime() - startNanos;
    }

    /** Lets every client leave, with the answer to what it has asked. */
    void endClients() {
        if (crowd != null) {
            crowd.leave();
        }
    }

    /** Ends all: clients first, then the balancer, then the endpoints. */
    @Override
    public void close() {
        endClients();
        if (service != null) {
            service.stopNow();
            service.awaitStopped();
        }
        endpoints.forEach(DemoEndpoint::close);
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
