package dev.tidegate.health.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.CheckPlan;
import dev.tidegate.health.Condition;
import dev.tidegate.health.Finding;
import dev.tidegate.health.HealthChecker;
import dev.tidegate.health.Recorder;
import dev.tidegate.health.Target;
import dev.tidegate.health.Targets;
import dev.tidegate.health.Word;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.InvariantsExtension;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.Sockets;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TcpProbeTest {
    @RegisterExtension
    final InvariantsExtension invariants = new InvariantsExtension();

    private final Recorder recorder = new Recorder();

    private enum Io {
        EPOLL,
        NIO;

        HealthChecker.Io io() {
            return this == EPOLL ? HealthChecker.Io.epoll() : HealthChecker.Io.nio();
        }
    }

    private HealthChecker checker(Io io) {
        return checker(io.io());
    }

    private HealthChecker checker(HealthChecker.Io io) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(7);
        return invariants.subject(new HealthChecker(
                new HealthChecker.Settings(System::nanoTime, InstantSource.system(), random, io), recorder));
    }

    private static CheckPlan plan(boolean reset) {
        return Targets.plan(new TcpProbe(reset), Duration.ofMillis(100), Duration.ofMillis(50));
    }

    /** Checks it once or more, until something is found. */
    private Finding check(Io io, Target target) {
        HealthChecker checker = checker(io);
        checker.follow(List.of(target));
        Await.until("a verdict", () -> !recorder.told().isEmpty());
        return recorder.told().get(0).verdict().finding();
    }

    @ParameterizedTest
    @EnumSource
    void connectingIsPassing(Io io) {
        ScriptedBackend backend = invariants.peer(ScriptedBackend.start(Scripts.readToEnd()));

        Finding found = check(io, Targets.target("a", plan(false), backend.address()));

        assertEquals(Finding.pass("connected"), found);
        assertEquals(Condition.UP, recorder.condition("a"));
    }

    /** A name has come to be of the other family: what cannot be looked at is not down. */
    @ParameterizedTest
    @EnumSource
    void fromASourceOfTheOtherFamilyACheckIsVoidAndSaysSo(Io io) {
        InetSocketAddress six = new InetSocketAddress(NetUtil.createInetAddressFromIpAddressString("::1"), 9);

        Finding found = check(io, fromLoopback(six));

        assertEquals(Finding.voided("source 127.0.0.1 cannot reach [::1]:9, which is IPv6"), found);
        assertEquals(Condition.UNKNOWN, recorder.condition("a"));
    }

    @ParameterizedTest
    @EnumSource
    void anAddressOfTheSourcesFamilyIsEnough(Io io) {
        ScriptedBackend backend = invariants.peer(ScriptedBackend.start(Scripts.readToEnd()));
        InetSocketAddress six = new InetSocketAddress(NetUtil.createInetAddressFromIpAddressString("::1"), 9);

        Finding found = check(io, fromLoopback(six, backend.address()));

        assertEquals(Word.PASS, found.word());
    }

    private static Target fromLoopback(InetSocketAddress... addresses) {
        Target plain = Targets.target("a", plan(false), addresses);
        return new Target(
                plain.id(),
                plain.subject(),
                plain.addresses(),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                plain.greeting(),
                plain.plan());
    }

    /** haproxy/haproxy#560. */
    @ParameterizedTest
    @EnumSource
    void endpointSeesTheEndOfTheStreamAndNoResetEvenIfItGreetsFirst(Io io) {
        BlockingQueue<End.Kind> ends = new LinkedBlockingQueue<>();
        byte[] banner = "SSH-2.0-Someone_1.0\r\n".repeat(500).getBytes(StandardCharsets.US_ASCII);
        ScriptedBackend backend = invariants.peer(ScriptedBackend.start(c -> {
            c.send(banner);
            End.Kind end = c.readToEnd().kind();
            // Whoever had closed its socket by now, instead of reading on, would answer this with a reset.
            c.send(banner);
            ends.add(end);
        }));

        check(io, Targets.target("a", plan(false), backend.address()));

        Await.until("five checks have ended", () -> ends.size() >= 5);
        assertTrue(ends.stream().allMatch(end -> end == End.Kind.FIN), ends::toString);
        assertTrue(
                backend.connections().stream().allMatch(c -> c.scriptEnd().isEmpty()),
                () -> backend.connections().toString());
    }

    @ParameterizedTest
    @EnumSource
    void refusalFailsInPlainWords(Io io) {
        ScriptedBackend backend = invariants.peer(ScriptedBackend.refusing());

        Finding found = check(io, Targets.target("a", plan(false), backend.address()));

        assertEquals(Finding.fail("connection refused"), found);
        assertEquals(Condition.DOWN, recorder.condition("a"));
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void silenceTimesOutAndSaysHowFarItCame(Io io) {
        ScriptedBackend backend = invariants.peer(ScriptedBackend.blackHole());

        Finding found = check(io, Targets.target("a", plan(false), backend.address()));

        assertEquals(Finding.fail("time-out after 1000 ms: no connection"), found);
    }

    @Test
    void byResetAProgramMostOftenHearsNothingAndNoTimeWaitIsLeft() {
        ScriptedBackend backend = invariants.peer(ScriptedBackend.start(Scripts.readToEnd()));
        long before = timeWaitsTo(List.of(backend.address())); // of whoever had this port within the last minute
        HealthChecker checker = checker(Io.EPOLL);
        checker.follow(List.of(Targets.target("a", plan(true), backend.address())));

        Await.until("ten checks", () -> recorder.told().size() >= 10);

        assertTrue(recorder.of("a").stream().allMatch(v -> v.finding().equals(Finding.pass("connected"))));
        assertTrue(backend.connections().size() < 10, () -> "accepted: " + backend.connections());
        long left = timeWaitsTo(List.of(backend.address())) - before;
        assertTrue(left <= 0, () -> "in TIME_WAIT: " + left);
    }

    /** zhouchangxun/ngx_healthcheck_module#69. */
    @Test
    @Tag("slow")
    void fiveHundredTargetsCheckedByResetLeaveNoPileOfTimeWaits() {
        // An address that nobody else here uses: the kernel's table has the waits of all.
        InetAddress host = NetUtil.createInetAddressFromIpAddressString("127.0.69.69");
        List<InetSocketAddress> servers = serveOnPortsOf(host, 500);
        HealthChecker checker = checker(Io.EPOLL);
        long before = timeWaitsTo(servers); // of whoever had these ports within the last minute

        checker.follow(targets(servers, true));
        Await.until("each has been checked three times", () -> recorder.told().size() >= 1_800);
        checker.follow(List.of());

        assertTrue(recorder.told().stream().allMatch(t -> t.verdict().finding().word() == Word.PASS));
        long byReset = timeWaitsTo(servers) - before;
        assertTrue(byReset <= 10, () -> "in TIME_WAIT after checks by reset: " + byReset);

        checker.follow(targets(servers, false));
        Await.until("polite ones leave one each", () -> timeWaitsTo(servers) >= 400);
    }

    private static List<Target> targets(List<InetSocketAddress> servers, boolean reset) {
        CheckPlan plan = Targets.plan(new TcpProbe(reset), Duration.ofMillis(500), Duration.ofMillis(500));
        return servers.stream()
                .map(server -> Targets.target("t" + server.getPort(), plan, server))
                .toList();
    }

    private static long timeWaitsTo(List<InetSocketAddress> servers) {
        Set<InetSocketAddress> all = Set.copyOf(servers);
        return Sockets.count(Sockets.State.TIME_WAIT, entry -> all.contains(entry.remote()));
    }

    /** Each connection is read to its end, then closed. */
    private List<InetSocketAddress> serveOnPortsOf(InetAddress host, int count) {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        invariants.peer(() -> group.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly());
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new QuietServer());
                    }
                });
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Channel server = bootstrap.bind(host, 0).syncUninterruptibly().channel();
            addresses.add((InetSocketAddress) server.localAddress());
        }
        return addresses;
    }

    private static final class QuietServer extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** haproxy/haproxy#2145. */
    @Test
    @Tag("slow")
    void threeHundredTargetsAreCheckedApartAndInOneStreamEachThoughTheSetIsGivenAgain() {
        Queue<Long> arrivalsNanos = new ConcurrentLinkedQueue<>();
        ScriptedBackend backend = invariants.peer(ScriptedBackend.start(c -> {
            arrivalsNanos.add(System.nanoTime());
            c.readToEnd();
        }));
        List<Target> targets = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            targets.add(Targets.target(
                    "t" + i,
                    Targets.plan(new TcpProbe(false), Duration.ofSeconds(1), Duration.ofSeconds(1)),
                    backend.address()));
        }
        HealthChecker checker = checker(Io.EPOLL);
        checker.follow(targets);
        CompletableFuture<Void> firstRound = checker.firstRoundOver();
        Await.until("the first round", firstRound::isDone);
        for (int round = 1; round <= 3; round++) {
            int sofar = round * 300;
            Await.until("some more", () -> arrivalsNanos.size() >= sofar);
            checker.follow(List.copyOf(targets));
        }
        Await.until("five rounds", () -> arrivalsNanos.size() >= 1_500);
        checker.follow(List.of());

        List<Long> arrivals = new ArrayList<>(arrivalsNanos);
        double seconds = (arrivals.get(1_499) - arrivals.get(0)) / 1e9;
        // 300 a second, and the first round on top; two streams each would take half of that.
        assertTrue(seconds >= 3, () -> "1,500 checks took " + seconds + " s");
        // Bursts would leave most tenths of a second empty; on a busy machine some are.
        long tenths = arrivals.stream().map(at -> at / 100_000_000).distinct().count();
        assertTrue(tenths >= seconds * 5, () -> "checks arrived in " + tenths + " tenths of " + seconds + " s");
    }

    @ParameterizedTest
    @EnumSource
    void theGreetingComesFirst(Io io) {
        ScriptedBackend v1 = invariants.peer(ScriptedBackend.start(Scripts.readToEnd()));
        ScriptedBackend v2 = invariants.peer(ScriptedBackend.start(Scripts.readToEnd()));
        HealthChecker checker = checker(io);
        checker.follow(List.of(
                Targets.target("v1", plan(false), Target.Greeting.PROXY_V1, v1.address()),
                Targets.target("v2", plan(false), Target.Greeting.PROXY_V2, v2.address())));

        v1.connection(0);
        v2.connection(0);
        Await.equal("v1", "PROXY UNKNOWN\r\n", () -> v1.connection(0).firstText());
        Await.equal(
                "v2",
                "0d0a0d0a000d0a515549540a20000000",
                () -> HexFormat.of().formatHex(v2.connection(0).firstBytes()));
        Await.equal("how it ended", Ending.FIN, () -> v2.connection(0).ending());
    }

    @ParameterizedTest
    @EnumSource
    void checksComeFromTheSourceThatIsAskedFor(Io io) {
        ScriptedBackend backend = invariants.peer(ScriptedBackend.start(Scripts.readToEnd()));
        Target plain = Targets.target("a", plan(false), backend.address());

        check(io, from(plain, "127.0.0.9"));

        assertEquals(
                "127.0.0.9", backend.connection(0).remoteAddress().getAddress().getHostAddress());
    }

    private static Target from(Target target, String source) {
        return new Target(
                target.id(),
                target.subject(),
                target.addresses(),
                new InetSocketAddress(source, 0),
                target.greeting(),
                target.plan());
    }

    /** 192.0.2.1 is nobody's address: here no socket can be bound to it. */
    @ParameterizedTest
    @EnumSource
    void aSourceThatThisMachineDoesNotHaveCondemnsNobody(Io io) {
        ScriptedBackend backend = invariants.peer(ScriptedBackend.start(Scripts.readToEnd()));
        Target plain = Targets.target("a", plan(false), backend.address());

        Finding found = check(io, from(plain, "192.0.2.1"));

        assertEquals(
                Finding.voided("cannot assign requested address"
                        + " (source 192.0.2.1: is it this machine's, and has it ports left?)"),
                found);
        assertEquals(Condition.UNKNOWN, recorder.condition("a"));
    }

    @Test
    void withoutDescriptorsNobodyIsCondemned() {
        ScriptedBackend backend = invariants.peer(ScriptedBackend.start(Scripts.readToEnd()));
        HealthChecker.Io none = new HealthChecker.Io(HealthChecker.Io.epoll().handlers(), () -> {
            throw new ChannelException("cannot open a socket", new IOException("socket() failed: Too many open files"));
        });
        HealthChecker checker = checker(none);
        checker.follow(List.of(Targets.target("a", plan(false), backend.address())));
        Await.until("verdicts", () -> recorder.told().size() >= 3);

        assertTrue(recorder.of("a").stream().allMatch(v -> v.finding().equals(Finding.voided("too many open files"))));
        assertEquals(Condition.UNKNOWN, recorder.condition("a"));
    }

    /** Such a check is over at the connect, and its end goes on for up to a second. */
    @Test
    @Tag("slow")
    void closingLetsPoliteEndsComeToTheirEndAndIsBounded() {
        ScriptedBackend backend = invariants.peer(ScriptedBackend.start(Scripts.silent()));
        HealthChecker checker = checker(Io.EPOLL);
        checker.follow(List.of(Targets.target("a", plan(false), backend.address())));
        backend.awaitConnections(2);

        long startNanos = System.nanoTime();
        checker.close();
        long tookMillis = (System.nanoTime() - startNanos) / 1_000_000;

        assertTrue(tookMillis < 3_000, () -> "took " + tookMillis + " ms");
        Await.until(
                "the thread is gone",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().equals("tidegate-health")));
        checker.follow(List.of());
        checker.recheck("a");
        checker.close();
    }

    @ParameterizedTest
    @EnumSource
    void whoComesBackIsFoundUpAfterRisePasses(Io io) {
        ScriptedBackend refusing = ScriptedBackend.refusing();
        int port = refusing.port();
        check(io, Targets.target("a", plan(false), refusing.address()));
        assertEquals(Condition.DOWN, recorder.condition("a"));
        refusing.close();
        invariants.peer(ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onPort(port), Scripts.readToEnd()));

        Await.equal("condition", Condition.UP, () -> recorder.condition("a"));

        List<Word> words =
                recorder.of("a").stream().map(v -> v.finding().word()).toList();
        assertEquals(2, words.lastIndexOf(Word.PASS) - words.lastIndexOf(Word.FAIL), words::toString);
    }
}
