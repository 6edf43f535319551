package dev.tidegate.cli;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.config.Durations;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.model.Backend;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.RetireHow;
import dev.tidegate.telemetry.BackendRow;
import dev.tidegate.telemetry.EndpointRow;
import dev.tidegate.telemetry.FrontendRow;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A running demo: three endpoints and one that joins, a balancer before them that is built as {@code run} builds it, an
 * operator at its admin API, and clients with long-lived connections, in one process. Endpoints and clients share the one
 * loop {@code tidegate-demo}.
 *
 * <p>Used by the thread that made it.
 */
final class Demo implements AutoCloseable {
    private static final List<String> NAMES = List.of("a", "b", "c");
    private static final String ENDPOINTS = "/v1/backends/hello/endpoints";

    private final DemoStory story;
    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("tidegate-demo", true), NioIoHandler.newFactory());
    private final EventLoop loop = group.next();
    private final Map<String, DemoEndpoint> endpoints = new LinkedHashMap<>();
    private final Duration length; // null without an end
    private Path directory; // of the configuration and the admin socket
    private Path configFile;
    private DemoOperator operator;
    private boolean joined; // asked for
    private boolean drained; // asked for
    private Service service;
    private DemoCrowd crowd;
    private DemoSticky sticky;
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
            open(name);
        }
        directory = Files.createTempDirectory("tidegate-demo-");
        directory.toFile().deleteOnExit();
        configFile = directory.resolve("tidegate.yaml");
        configFile.toFile().deleteOnExit();
        Files.writeString(configFile, yaml());
        service = Service.start(config(), Optional.empty(), Map.of(), new WarmUp(Optional.empty()));
        operator = new DemoOperator(adminSocket());
        startNanos = System.nanoTime();
        var random = new SplittableRandom(startNanos);
        crowd = DemoCrowd.mixed(loop, balancer(), random);
        sticky = new DemoSticky(
                Durations.format(story.maxAge()),
                DemoCrowd.sticky(loop, address(DemoSticky.WITHOUT), random),
                DemoCrowd.sticky(loop, address(DemoSticky.WITH), random));
        crowd.start();
        sticky.start();
    }

    private DemoEndpoint open(String name) throws IOException {
        DemoEndpoint endpoint = new DemoEndpoint(name, loop);
        endpoint.open();
        endpoints.put(name, endpoint);
        return endpoint;
    }

    private static String hostPort(DemoEndpoint endpoint) {
        return endpoint.address().getAddress().getHostAddress() + ":"
                + endpoint.address().getPort();
    }

    private Config config() throws IOException {
        ConfigResult result =
                ConfigReader.readText(configFile.toString(), Files.readAllBytes(configFile), System::getenv);
        return result.config()
                .orElseThrow(() -> new IllegalStateException("the demo's own configuration: " + result.problems()));
    }

    private String yaml() {
        String lines = endpoints.values().stream()
                .map(endpoint -> "      - {name: " + endpoint.name() + ", address: \"" + hostPort(endpoint) + "\"}\n")
                .collect(Collectors.joining());
        return """
                # What `tidegate demo` runs. Its endpoints end with it. Port 0: the system chooses.
                process:
                  shutdown: {deadline: 1s, spread: 200ms}
                admin: {listen: ["127.0.0.1:0", "unix:%s"]}
                log: {level: warn, access: {path: none}}
                frontends:
                  - {name: demo, listen: "127.0.0.1:0", backend: hello}
                  - {name: %s, listen: "127.0.0.1:0", backend: %s}
                  - {name: %s, listen: "127.0.0.1:0", backend: %s, lifetime: {max-age: %s}}
                backends:
                  - {name: %s, balance: least-connections, endpoints: [{name: a, address: "%s"}]}
                  - {name: %s, balance: least-connections, endpoints: [{name: a, address: "%s"}]}
                  - name: hello
                    balance: power-of-two
                    endpoints:
                %s""".formatted(
                        adminSocket(),
                        DemoSticky.WITHOUT,
                        DemoSticky.WITHOUT,
                        DemoSticky.WITH,
                        DemoSticky.WITH,
                        Durations.format(story.maxAge()),
                        DemoSticky.WITHOUT,
                        hostPort(endpoints.get("a")),
                        DemoSticky.WITH,
                        hostPort(endpoints.get("a")),
                        lines);
    }

    /** Where clients connect. */
    InetSocketAddress balancer() {
        return address("demo");
    }

    private InetSocketAddress address(String frontend) {
        return service.proxy().listeningOn().entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(frontend + " "))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow();
    }

    /** Where the admin API and the status page are, to look only. */
    String adminAddress() {
        return service.adminAddresses().get(0).toString();
    }

    /** Where the admin API takes writes. */
    Path adminSocket() {
        return directory.resolve("admin.sock");
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
        long elapsed = elapsedNanos();
        sticky.look(service.proxy().snapshot(), joined, elapsed);
        restart(endpoints.get(DemoStory.RESTARTED), story.isOpen(elapsed));
        if (story.hasJoined(elapsed) && !joined) {
            join();
        }
        if (story.isDrained(elapsed) != drained) {
            drained = !drained;
            String drain = ENDPOINTS + "/" + DemoStory.DRAINED + "/drain";
            if (drained) {
                operator.post(
                        "POST",
                        drain,
                        "{\"deadline\": \"" + Durations.format(DemoStory.DRAIN_DEADLINE) + "\", \"spread\": \""
                                + Durations.format(DemoStory.DRAIN_SPREAD) + "\"}");
            } else {
                operator.post("DELETE", drain, "");
            }
        }
    }

    private void restart(DemoEndpoint restarted, boolean open) {
        if (restarted.isOpen() && !open) {
            // The kernel resets what waits to be accepted on a port that is closed, which no balancer can mend: so
            // it waits for a moment when nobody is on the way.
            boolean held = crowd.tryHold();
            if (sticky.tryHold() && held) {
                restarted.closePort();
                release();
            }
        } else if (!restarted.isOpen() && open) {
            reopen(restarted);
        } else {
            release();
        }
    }

    private void release() {
        crowd.release();
        sticky.release();
    }

    private void join() {
        joined = true;
        try {
            String address = hostPort(open(DemoStory.JOINING));
            add("hello", DemoStory.JOINING, address);
            for (DemoEndpoint endpoint : endpoints.values()) {
                if (!endpoint.name().equals("a")) {
                    add(DemoSticky.WITHOUT, endpoint.name(), hostPort(endpoint));
                    add(DemoSticky.WITH, endpoint.name(), hostPort(endpoint));
                }
            }
        } catch (IOException noPort) {
            trouble = noPort.getMessage();
        }
    }

    private void add(String backend, String name, String address) {
        operator.post(
                "POST",
                "/v1/backends/" + backend + "/endpoints",
                "{\"name\": \"" + name + "\", \"address\": \"" + address + "\"}");
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
        Backend backend = service.proxy().snapshot().backends().stream()
                .filter(each -> each.name().equals("hello"))
                .findFirst()
                .orElseThrow();
        List<DemoView.Row> rows = new ArrayList<>();
        for (Endpoint seen : backend.endpoints().all()) {
            rows.add(row(endpoints.get(seen.name()), seen));
        }
        long retries = 0;
        long left = 0;
        long cut = 0;
        int frontend = service.proxy().snapshot().frontends().get(0).cell().slot();
        for (WorkerCounters counters : service.proxy().counters()) {
            BackendRow row = counters.readBackend(backend.slot());
            retries += row == null ? 0 : row.retries;
            FrontendRow ends = counters.readFrontend(frontend);
            left += ends == null
                    ? 0
                    : ends.retired(CloseReason.DRAIN, RetireHow.QUIET)
                            + ends.retired(CloseReason.DRAIN, RetireHow.RESPONSE);
            cut += ends == null ? 0 : ends.retired(CloseReason.DRAIN, RetireHow.CUT);
        }
        long elapsed = elapsedNanos();
        return new DemoView(elapsed, rows, crowd.totals(), retries, left, cut, sticky.view(), news(elapsed));
    }

    private String news(long elapsed) {
        String refused = operator.trouble();
        return trouble != null ? trouble : refused != null ? refused : story.news(elapsed);
    }

    private DemoView.Row row(DemoEndpoint endpoint, Endpoint seen) {
        long connects = 0;
        long refused = 0;
        long requests = 0;
        for (WorkerCounters counters : service.proxy().counters()) {
            EndpointRow row = counters.readEndpoint(seen.cell().slot());
            if (row != null) {
                connects += row.connects(ConnectResult.OK);
                refused += row.connects(ConnectResult.REFUSED);
                requests += row.requests;
            }
        }
        return new DemoView.Row(
                seen.name(), state(endpoint, seen.cell()), seen.cell().inFlight(), connects, refused, requests);
    }

    /** Null is an endpoint that a visitor has added by the admin API. */
    private static DemoView.State state(DemoEndpoint endpoint, EndpointCell cell) {
        if (endpoint != null && !endpoint.isOpen()) {
            return DemoView.State.CLOSED;
        }
        return cell.closed(EndpointCell.Closed.DRAINING) ? DemoView.State.DRAINING : DemoView.State.READY;
    }

    private long elapsedNanos() {
        return System.nanoTime() - startNanos;
    }

    /** Lets every client leave, with the answer to what it has asked. */
    void endClients() {
        if (crowd != null) {
            crowd.leave();
        }
        if (sticky != null) {
            sticky.leave();
        }
    }

    /** Ends all: clients first, then the balancer, then the endpoints. */
    @Override
    public void close() {
        endClients();
        if (operator != null) {
            operator.close();
        }
        if (service != null) {
            service.stopNow();
            service.awaitStopped();
        }
        endpoints.values().forEach(DemoEndpoint::close);
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
