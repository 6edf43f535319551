package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Requirement;
import dev.tidegate.testkit.RunningTool;
import dev.tidegate.testkit.Tool;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Two network namespaces of a test's own, and one link between them that can be lost. Nothing of it is seen outside them;
 * closing takes them away.
 */
final class TwoNetworks implements AutoCloseable {
    /** Tidegate's address in {@link #near()}. */
    static final String NEAR = "192.0.2.1";

    /** The only address in {@link #far()}. */
    static final String FAR = "192.0.2.2";

    private static final Duration BOUND = Duration.ofSeconds(10);
    private static final AtomicInteger MADE = new AtomicInteger();

    private final Tool ip = Tool.require("ip");
    private final String near = "tidegate-near-" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();
    private final String far = near.replace("near", "far");

    /** Makes them, where this process may, with the kernel's own patience. */
    TwoNetworks() {
        this(1_000);
    }

    /**
     * The same.
     *
     * @param probeMillis after which a neighbour that does not answer is asked again; after three it is known to be gone
     */
    TwoNetworks(int probeMillis) {
        Tool.Result made = ip.run(BOUND, "netns", "add", near);
        Requirement.met(made.exit() == 0, "needs root, to make network namespaces: " + made);
        try {
            ip("netns", "add", far);
            ip("link", "add", "link0", "netns", near, "type", "veth", "peer", "name", "link0", "netns", far);
            up(near, NEAR);
            up(far, FAR);
            String probe = "/proc/sys/net/ipv4/neigh/link0/retrans_time_ms";
            ip("netns", "exec", near, "sh", "-c", "echo " + probeMillis + " > " + probe);
        } catch (AssertionError e) {
            close();
            throw e;
        }
    }

    private void up(String namespace, String address) {
        ip("-n", namespace, "addr", "add", address + "/24", "dev", "link0");
        ip("-n", namespace, "link", "set", "lo", "up");
        ip("-n", namespace, "link", "set", "link0", "up");
    }

    /** The namespace that Tidegate is in. */
    String near() {
        return near;
    }

    /** The other. */
    String far() {
        return far;
    }

    /** From now on nothing crosses, and nobody is told: no FIN, no reset. */
    void loseThePath() {
        ip("-n", far, "link", "set", "link0", "down");
    }

    /** Starts a {@link PathPeer} in one of them. */
    RunningTool peer(String namespace, String... arguments) {
        List<String> command = new ArrayList<>(List.of("netns", "exec", namespace));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp", classes(), PathPeer.class.getName()));
        command.addAll(List.of(arguments));
        return ip.start(command.toArray(String[]::new));
    }

    private static String classes() {
        try {
            return Path.of(PathPeer.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new AssertionError("test classes are in no directory", e);
        }
    }

    /** Waits until a peer has said that line so many times. */
    static void await(RunningTool peer, long times, String line) {
        Await.until(
                times + " times \"" + line + "\", peer " + peer.pid(),
                Duration.ofSeconds(30),
                () -> peer.stdout().lines().filter(line::equals).count() == times || !peer.isAlive());
        assertEquals(times, peer.stdout().lines().filter(line::equals).count(), peer::toString);
    }

    private void ip(String... arguments) {
        Tool.Result result = ip.run(BOUND, arguments);
        assertEquals(0, result.exit(), () -> "ip " + List.of(arguments) + ": " + result);
    }

    /** Takes them away, and the link with them. */
    @Override
    public void close() {
        ip.run(BOUND, "netns", "del", far);
        ip.run(BOUND, "netns", "del", near);
    }
}
