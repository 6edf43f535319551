package dev.tidegate.cli;

import dev.tidegate.admin.AdminAddress;
import dev.tidegate.admin.AdminServer;
import dev.tidegate.config.AccessLogConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.ProcessConfig;
import dev.tidegate.control.FdLimit;
import dev.tidegate.control.Proxy;
import dev.tidegate.control.ProxyAdmin;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.telemetry.AccessLog;
import dev.tidegate.telemetry.AccessLogFormat;
import dev.tidegate.telemetry.AccessLogTarget;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.LogLevels;
import dev.tidegate.telemetry.Metrics;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A running process: the proxy with its logs and its admin API, wired together. Real time and real chance enter here.
 *
 * <p>Any thread.
 */
final class Service {
    private static final Logger log = LoggerFactory.getLogger(Service.class);

    private final FloodLog floods;
    private final AccessLog accessLog;
    private final Proxy proxy;
    private final AdminServer admin;
    private final TransportChoice choice;
    private final AtomicInteger terms = new AtomicInteger();

    private Service(FloodLog floods, AccessLog accessLog, Proxy proxy, AdminServer admin, TransportChoice choice) {
        this.floods = floods;
        this.accessLog = accessLog;
        this.proxy = proxy;
        this.admin = admin;
        this.choice = choice;
    }

    /**
     * Starts everything, or nothing.
     *
     * @throws IOException when an address or a file cannot be had; its message is for the operator
     * @throws TransportChoice.UnavailableException when a transport was asked for that cannot be had
     */
    static Service start(Config config, Map<String, String> environment)
            throws IOException, TransportChoice.UnavailableException {
        LogLevels.set(Level.valueOf(config.log().level().name()));
        TransportChoice choice = TransportChoice.choose(
                TransportChoice.Wish.valueOf(config.process().transport().name()));
        int workers = config.process().workers().orElse(Runtime.getRuntime().availableProcessors());
        int maxConnections = maxConnections(config.process());
        Ticker ticker = System::nanoTime;
        FloodLog floods = new FloodLog(System::nanoTime);
        floods.start();
        AccessLog accessLog = AccessLog.open(
                target(config.log().access()),
                AccessLogFormat.valueOf(config.log().access().format().name()),
                AccessLog.CAPACITY,
                InstantSource.system(),
                floods);
        Proxy proxy;
        try {
            proxy = Proxy.start(
                    config,
                    new Proxy.Parts(
                            choice.transport(),
                            workers,
                            maxConnections,
                            ticker,
                            System.nanoTime(),
                            floods,
                            accessLog::offer,
                            DnsServerAddressStreamProviders.platformDefault()));
        } catch (IOException failed) {
            accessLog.close();
            floods.close();
            throw failed;
        }
        Metrics metrics =
                new Metrics(proxy::snapshot, proxy.counters(), proxy.reloads(), accessLog, VersionCommand.version());
        AdminServer admin = new AdminServer(new ProxyAdmin(proxy, metrics));
        try {
            startAdmin(admin, AdminListens.of(config.admin(), environment));
        } catch (IOException failed) {
            admin.close();
            proxy.close();
            accessLog.close();
            floods.close();
            throw failed;
        }
        log.info(
                "started version={} transport={} ({}) workers={} max-connections={}",
                VersionCommand.version(),
                choice.transport().name(),
                choice.reason(),
                workers,
                maxConnections);
        proxy.listeningOn().forEach((name, address) -> log.info("listening frontend={} bound={}", name, address));
        return new Service(floods, accessLog, proxy, admin, choice);
    }

    private static void startAdmin(AdminServer admin, List<AdminAddress> addresses) throws IOException {
        if (addresses.isEmpty()) {
            log.warn("admin API off: no admin.listen, and neither RUNTIME_DIRECTORY nor XDG_RUNTIME_DIR is set");
        }
        admin.start(addresses).forEach(address -> log.info("admin API on {}", address));
    }

    private static int maxConnections(ProcessConfig process) throws IOException {
        long descriptors = FdLimit.descriptors();
        int possible = FdLimit.connections(descriptors);
        int wanted = process.maxConnections().orElse(possible);
        if (wanted > possible) {
            throw new IOException("process.max-connections: " + wanted + " needs " + FdLimit.descriptorsFor(wanted)
                    + " file descriptors, the limit is " + descriptors + "; raise it (LimitNOFILE, ulimit -n) or take "
                    + possible + " at most");
        }
        return wanted;
    }

    private static AccessLogTarget target(AccessLogConfig config) {
        return switch (config.path()) {
            case "stdout" -> new AccessLogTarget.Stdout();
            case "none" -> new AccessLogTarget.None();
            default -> new AccessLogTarget.File(Path.of(config.path()));
        };
    }

    /** The balancer itself. */
    Proxy proxy() {
        return proxy;
    }

    /** Which transport it uses, and why. */
    TransportChoice choice() {
        return choice;
    }

    /** Where the admin API listens, with real ports. */
    List<AdminAddress> adminAddresses() {
        return admin.addresses();
    }

    /** The first asks for a graceful stop, the second for one now. */
    void onTerm() {
        if (terms.getAndIncrement() == 0) {
            proxy.stopGracefully();
        } else {
            stopNow();
        }
    }

    void stopNow() {
        proxy.stopNow();
    }

    void reopenLogs() {
        accessLog.reopen();
    }

    /** Waits until the proxy has stopped, and ends what it was wired to. */
    void awaitStopped() {
        proxy.stopped().join();
        admin.close();
        accessLog.close();
        floods.close();
    }
}
