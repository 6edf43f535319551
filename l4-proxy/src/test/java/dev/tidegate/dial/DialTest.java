package dev.tidegate.dial;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.balance.Pickers;
import dev.tidegate.lifetime.Deadlines;
import dev.tidegate.model.Backend;
import dev.tidegate.model.BackendCell;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.Retries;
import dev.tidegate.telemetry.WorkerCounters;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every state and every event of a dial, with time in the hand and connects that end when they are told to. */
class DialTest {
    private static final long MILLI = 1_000_000;
    private static final long START = 77_000_000_000L;
    private static final InetSocketAddress CLIENT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1234);
    private static final InetSocketAddress LOCAL = new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);

    private long now = START;
    private final Deadlines deadlines = new Deadlines(START, () -> now);
    private final WorkerCounters counters = new WorkerCounters(0);
    private final List<Attempt> attempts = new ArrayList<>();
    private final Told told = new Told();
    private RuntimeException openFault;
    private final List<String> watched = new ArrayList<>();
    private int arrivals;
    private boolean opensBreakers = true;
    private int retriesLeft;
    private final Dialer dialer = new Dialer(
            new EmbeddedChannel().eventLoop(),
            deadlines,
            () -> now,
            RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(3),
            counters,
            this::open);

    // ---- from PAUSING, the first state, by start

    @Test
    void aConnectThatSucceedsIsHandedOverWithItsCountHeld() {
        Backend backend = backend(2, policy(3));
        Dial dial = dial(backend);
        dial.start();
        assertEquals(1, inFlight(backend), "a connect under way is load");

        attempts.get(0).succeed();

        assertEquals(List.of("connected"), told.events);
        assertSame(attempts.get(0).channel, told.upstream);
        assertEquals(1, inFlight(backend));
        assertEquals(1, connects(backend, ConnectResult.OK));
        assertEquals(1, dial.attempts());
        assertTrue(deadlines.isEmpty(), "a deadline left");
    }

    @Test
    void withoutACandidateItFailsAtOnceWithoutAnAttempt() {
        Dial dial = dial(backend(0, policy(3)));

        dial.start();

        assertEquals(List.of("failed no-endpoint"), told.events);
        assertEquals(0, dial.attempts());
        assertTrue(deadlines.isEmpty());
    }

    // ---- ATTEMPTING

    /** envoyproxy/envoy#6291: another endpoint first, and not without a pause. */
    @Test
    void aRefusalIsTriedAgainElsewhereAfterAPause() {
        Backend backend = backend(2, policy(3));
        Dial dial = dial(backend);
        dial.start();
        attempts.get(0).refuse();
        assertEquals(1, attempts.size(), "no pause");
        assertEquals(0, inFlight(backend));
        assertFalse(attempts.get(0).channel.isOpen());

        passMillis(30);

        assertEquals(2, attempts.size());
        assertNotEquals(attempts.get(0).target, attempts.get(1).target);
        attempts.get(1).succeed();
        assertEquals(List.of("connected"), told.events);
        assertEquals(2, dial.attempts());
        assertEquals(1, counters.backend(backend.slot()).retries);
    }

    @Test
    void pausesGrowWhileOneEndpointRefusesAll() {
        Backend backend = backend(1, new ConnectPolicy(2_000 * MILLI, 5, 60_000 * MILLI, ProxyProtocol.OFF));
        dial(backend).start();
        List<Long> pauses = new ArrayList<>();
        for (int i = 1; i < 5; i++) {
            attempts.get(i - 1).refuse();
            long before = now;
            int sofar = i;
            passUntil(() -> attempts.size() > sofar);
            pauses.add((now - before) / MILLI);
        }
        attempts.get(4).refuse();

        long[] middles = {50, 100, 200, 400};
        for (int i = 0; i < middles.length; i++) {
            assertTrue(
                    pauses.get(i) >= middles[i] / 2 && pauses.get(i) <= middles[i] * 3 / 2 + 34,
                    "pauses in ms: " + pauses);
        }
        assertEquals(List.of("failed dial-refused"), told.events);
        assertEquals(5, connects(backend, ConnectResult.REFUSED));
        assertEquals(0, inFlight(backend));
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void anAttemptThatTakesTooLongIsClosedAndTheNextOneBeginsAtOnce() {
        Backend backend = backend(2, policy(3));
        dial(backend).start();

        passMillis(2_040);

        assertEquals(2, attempts.size());
        assertFalse(attempts.get(0).channel.isOpen(), "left half-open");
        assertEquals(1, connects(backend, ConnectResult.TIMEOUT));
        assertEquals(1, inFlight(backend));
    }

    /** haproxy/haproxy#881: what comes of an attempt after it was given up is nobody's news. */
    @ParameterizedTest
    @EnumSource(LateNews.class)
    void lateNewsOfAnAttemptThatWasGivenUpIsIgnored(LateNews news) {
        Backend backend = backend(2, policy(3));
        dial(backend).start();
        passMillis(2_040);

        news.tell(attempts.get(0));

        assertEquals(List.of(), told.events);
        assertEquals(1, inFlight(backend));
        assertEquals(1, connects(backend, ConnectResult.TIMEOUT));
        attempts.get(1).succeed();
        assertEquals(List.of("connected"), told.events);
    }

    /** linkerd/linkerd#2369: attempts went on for hours past the total deadline. */
    @Test
    void attemptsOverBlackHolesEndAtTheDeadlineOfAll() {
        Backend backend = backend(3, new ConnectPolicy(2_000 * MILLI, 10, 5_000 * MILLI, ProxyProtocol.OFF));
        dial(backend).start();

        passUntil(() -> !told.events.isEmpty());

        assertEquals(List.of("failed dial-timeout"), told.events);
        assertEquals(5_000.0, (double) (now - START) / MILLI, 40.0);
        assertEquals(3, attempts.size());
        assertEquals(0, inFlight(backend));
        assertTrue(attempts.stream().noneMatch(attempt -> attempt.channel.isOpen()));
    }

    /** A worker that was held up finds the pause over and the deadline too. */
    @Test
    void noAttemptIsMadeOnceTheDeadlineOfAllHasPassed() {
        Backend backend = backend(2, new ConnectPolicy(2_000 * MILLI, 5, 5_000 * MILLI, ProxyProtocol.OFF));
        dial(backend).start();
        attempts.get(0).refuse();

        now += 9_000 * MILLI;
        deadlines.advance(now);

        assertEquals(1, attempts.size());
        assertEquals(List.of("failed dial-refused"), told.events);
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void withOneAttemptNothingIsTriedAgain() {
        Backend backend = backend(2, policy(1));
        dial(backend).start();

        attempts.get(0).refuse();

        assertEquals(List.of("failed dial-refused"), told.events);
        assertEquals(1, attempts.size());
    }

    @Test
    void eachEndpointIsTriedBeforeOneIsTriedTwice() {
        Backend backend = backend(4, policy(8));
        dial(backend).start();
        for (int i = 0; i < 8; i++) {
            int index = i;
            passUntil(() -> attempts.size() > index);
            attempts.get(i).refuse();
        }

        assertEquals(4, distinct(attempts.subList(0, 4)));
        assertEquals(4, distinct(attempts.subList(4, 8)));
    }

    @Test
    void theReasonIsThatOfTheLastAttempt() {
        Backend backend = backend(2, policy(2));
        dial(backend).start();
        attempts.get(0).refuse();
        passUntil(() -> attempts.size() == 2);

        attempts.get(1).fail(new ConnectException("Network is unreachable"));

        assertEquals(List.of("failed dial-failed"), told.events);
    }

    @Test
    void aSocketThatCannotBeMadeIsNoFaultOfTheEndpointAndIsNotTriedElsewhere() {
        Backend backend = backend(2, policy(3));
        openFault = new ChannelException("Unable to create Channel", new java.io.IOException("Too many open files"));
        Dial dial = dial(backend);
        dial.start();

        assertEquals(List.of("failed dial-failed"), told.events);
        assertEquals(openFault, dial.lastCause());
        assertEquals(0, connects(backend, ConnectResult.FAILED));
        assertEquals(1, connects(backend, ConnectResult.CANCELLED));
        assertEquals(0, inFlight(backend));
        assertEquals(0, deadlines.size());
    }

    // ---- the retry budget

    @Test
    void eachConnectionCountsForTheBudgetAndEachFurtherAttemptIsPaidByIt() {
        Backend backend = watched(3, policy(3));
        retriesLeft = 5;
        dial(backend).start();
        attempts.get(0).refuse();
        passUntil(() -> attempts.size() == 2);
        attempts.get(1).refuse();
        passUntil(() -> attempts.size() == 3);
        attempts.get(2).refuse();

        assertEquals(1, arrivals);
        assertEquals(3, retriesLeft, "the last failure asks for nothing more");
        assertEquals(0, counters.backend(backend.slot()).budgetExhausted);
    }

    /** Which is not counted where no attempt would have been made anyhow. */
    @Test
    void withTheBudgetSpentItFailsAtOnceForTheReasonOfTheLastAttempt() {
        Backend backend = watched(3, policy(3));
        retriesLeft = 1;
        dial(backend).start();
        attempts.get(0).refuse();
        passUntil(() -> attempts.size() == 2);

        passMillis(2_040);

        assertEquals(List.of("failed dial-timeout"), told.events);
        assertEquals(2, attempts.size());
        assertEquals(1, counters.backend(backend.slot()).budgetExhausted);
        assertEquals(0, inFlight(backend));
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void theBudgetIsNotAskedWhereTheAttemptsOrTheClientHaveEnded() {
        Backend backend = watched(3, policy(1));
        dial(backend).start();
        attempts.get(0).refuse();
        Dial left = dial(watched(3, policy(3)));
        left.start();
        left.onClientEnded(false);
        attempts.get(1).refuse();

        assertEquals(List.of("failed dial-refused", "failed client-closed"), told.events);
        assertEquals(0, counters.backend(backend.slot()).budgetExhausted);
    }

    // ---- what counts against an endpoint

    @Test
    void aRefusalATimeOutAndAnUnreachableNetCountAgainstTheEndpointAndAConnectForIt() {
        Backend backend = watched(4, policy(4));
        retriesLeft = 10;
        dial(backend).start();
        attempts.get(0).refuse();
        passUntil(() -> attempts.size() == 2);
        passMillis(2_040);
        attempts.get(2).fail(new ConnectException("connect(..) failed: No route to host"));
        passUntil(() -> attempts.size() == 4);
        attempts.get(3).succeed();

        assertEquals(List.of("refused e0", "timeout e1", "unreachable e2", "connected e3"), watched);
        assertEquals(1, counters.endpoint(0).failures(Failure.REFUSED));
        assertEquals(1, counters.endpoint(1).failures(Failure.TIMEOUT));
        assertEquals(1, counters.endpoint(2).failures(Failure.UNREACHABLE));
    }

    /** As a connect sees an endpoint that resets at once, when the reset is there before anybody has looked. */
    @ParameterizedTest
    @ValueSource(strings = {"finishConnect(..) failed: Connection reset by peer", "Connection reset"})
    void aConnectThatIsResetCountsAgainstTheEndpoint(String fault) {
        Backend backend = watched(1, policy(1));
        Fitness fitness = backend.endpoints().at(0).cell().fitness();
        fitness.beginTrials(1);
        dial(backend).start();

        attempts.get(0).fail(new SocketException(fault));

        assertEquals(List.of("failed dial-failed"), told.events);
        assertEquals(List.of("refused e0"), watched);
        assertEquals(1, counters.endpoint(0).failures(Failure.REFUSED));
        assertFalse(fitness.fit(), "the trial has failed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "connect(..) failed: Cannot assign requested address",
                "Cannot assign requested address: /127.0.0.1:7000",
                "bind(..) failed: Address already in use",
                "connect(..) failed: Operation not permitted",
                "No buffer space available"
            })
    void whatIsWrongHereCountsAgainstNoEndpoint(String fault) {
        dial(watched(2, policy(1))).start();

        attempts.get(0).fail(new ConnectException(fault));

        assertEquals(List.of("failed dial-failed"), told.events);
        assertEquals(List.of(), watched);
    }

    @Test
    void aSocketThatCannotBeMadeCountsAgainstNoEndpoint() {
        openFault = new ChannelException("Unable to create Channel", new java.io.IOException("Too many open files"));

        dial(watched(2, policy(3))).start();

        assertEquals(List.of(), watched);
    }

    /** Its time was cut short by the deadline of all: it had no fair chance. */
    @Test
    void aTimeOutThatWasCutShortCountsAgainstNoEndpoint() {
        Backend backend = watched(3, new ConnectPolicy(2_000 * MILLI, 10, 5_000 * MILLI, ProxyProtocol.OFF));
        retriesLeft = 10;
        dial(backend).start();
        passUntil(() -> !told.events.isEmpty());

        assertEquals(3, attempts.size());
        assertEquals(3, connects(backend, ConnectResult.TIMEOUT));
        assertEquals(List.of("timeout e0", "timeout e1"), watched);
    }

    @Test
    void anAttemptThatTheClientsLeavingEndsCountsAgainstNoEndpoint() {
        Dial dial = dial(watched(2, policy(3)));
        dial.start();
        dial.cancel();
        attempts.get(0).refuse();

        assertEquals(List.of(), watched);
    }

    // ---- trials of a half-open breaker

    @Test
    void aTrialIsTakenAndGivenBackWhenTheConnectComesThrough() {
        Backend backend = watched(1, policy(1));
        Fitness fitness = backend.endpoints().at(0).cell().fitness();
        fitness.beginTrials(1);
        dial(backend).start();
        assertFalse(fitness.fit(), "the trial is not taken");

        attempts.get(0).succeed();

        assertTrue(fitness.fit());
    }

    @Test
    void whileAllTrialsAreUnderWayThereIsNoCandidate() {
        Backend backend = watched(1, policy(1));
        backend.endpoints().at(0).cell().fitness().beginTrials(1);
        dial(backend).start();

        dial(backend).start();

        assertEquals(1, attempts.size());
        assertEquals(List.of("failed no-endpoint"), told.events);
        assertEquals(1, inFlight(backend));
    }

    @ParameterizedTest
    @EnumSource(FaultlessEnd.class)
    void aTrialThatEndsWithoutAFaultOfTheEndpointIsGivenBack(FaultlessEnd end) {
        Backend backend = watched(1, new ConnectPolicy(2_000 * MILLI, 1, 1_000 * MILLI, ProxyProtocol.OFF));
        Fitness fitness = backend.endpoints().at(0).cell().fitness();
        fitness.beginTrials(1);
        Dial dial = dial(backend);
        dial.start();
        assertFalse(fitness.fit());

        end.bring(this, dial);

        assertTrue(fitness.fit());
        assertEquals(List.of(), watched);
        assertEquals(0, inFlight(backend));
    }

    /** It began before a reload brought breakers: nobody would hear of it, and the breaker would stay half open for ever. */
    @Test
    void aTrialThatFailsInADialWithoutBreakersIsGivenBack() {
        opensBreakers = false;
        Backend backend = watched(1, policy(1));
        Fitness fitness = backend.endpoints().at(0).cell().fitness();
        fitness.beginTrials(1);
        dial(backend).start();

        attempts.get(0).refuse();

        assertTrue(fitness.fit());
    }

    /** It stays taken until the breaker's next word, so that no second one follows before that. */
    @Test
    void aTrialThatFailsIsNotGivenBack() {
        Backend backend = watched(1, policy(1));
        Fitness fitness = backend.endpoints().at(0).cell().fitness();
        fitness.beginTrials(1);
        dial(backend).start();

        attempts.get(0).refuse();

        assertFalse(fitness.fit());
        assertEquals(List.of("refused e0"), watched);
    }

    @Test
    void anOpenBreakersEndpointIsLeftOutAndAHalfOpenOnesTrialGoesElsewhereOnceItFails() {
        Backend backend = watched(3, policy(3));
        retriesLeft = 10;
        backend.endpoints().at(0).cell().fitness().set(Fitness.Unfit.BREAKER_OPEN, true);
        backend.endpoints().at(1).cell().fitness().beginTrials(1);
        dial(backend).start();
        attempts.get(0).refuse();
        passUntil(() -> attempts.size() == 2);

        assertEquals(7001, attempts.get(0).target.getPort());
        assertEquals(7002, attempts.get(1).target.getPort());
    }

    @Test
    void whileABackendSpreadsNoTrialIsNeeded() {
        Backend backend = watched(1, policy(1));
        backend.endpoints().at(0).cell().fitness().beginTrials(1);
        backend.cell().panic(true, true);
        dial(backend).start();
        dial(backend).start();
        dial(backend).start();

        assertEquals(3, attempts.size());
        assertTrue(backend.endpoints().at(0).cell().fitness().fit(), "the trial is still there");
    }

    // ---- limits

    @Test
    void duringASlowStartAnEndpointTakesNoMoreThanItsLimitOfNow() {
        Backend backend = watched(1, policy(1));
        backend.endpoints().at(0).cell().fitness().share(100); // of 3: none, but one in any case
        dial(backend).start();

        dial(backend).start();

        assertEquals(1, attempts.size());
        assertEquals(List.of("failed no-endpoint"), told.events);
    }

    @Test
    void aFullEndpointIsNoCandidate() {
        Backend backend = backend(1, policy(3));
        Endpoint only = backend.endpoints().at(0);
        for (int i = 0; i < only.maxConnections(); i++) {
            assertTrue(only.tryAcquire());
        }
        dial(backend).start();

        assertEquals(List.of("failed no-endpoint"), told.events);
        assertEquals(only.maxConnections(), only.cell().inFlight());
    }

    // ---- the client goes

    @Test
    void aClientThatSaidNothingAndEndedIsNotTriedForAgain() {
        Backend backend = backend(2, policy(3));
        Dial dial = dial(backend);
        dial.start();
        dial.onClientEnded(false);
        assertEquals(List.of(), told.events, "the attempt under way may complete");

        attempts.get(0).refuse();

        assertEquals(List.of("failed client-closed"), told.events);
        assertEquals(1, attempts.size());
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void aClientThatEndsDuringAPauseEndsTheDialUnlessItWaitsForAnAnswer() {
        Backend backend = backend(2, policy(3));
        Dial dial = dial(backend);
        dial.start();
        attempts.get(0).refuse();

        dial.onClientEnded(false);

        assertEquals(List.of("failed client-closed"), told.events);
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void aClientThatAskedAndEndedIsTriedForAgainAfterARefusal() {
        Backend backend = backend(2, policy(3));
        Dial dial = dial(backend);
        dial.start();
        dial.onClientEnded(true);
        attempts.get(0).refuse();

        passUntil(() -> attempts.size() == 2);
        attempts.get(1).succeed();

        assertEquals(List.of("connected"), told.events);
    }

    @Test
    void aClientThatEndedIsNotTriedForAgainAfterATimeOut() {
        Dial dial = dial(backend(2, policy(3)));
        dial.start();
        dial.onClientEnded(true);

        passMillis(2_040);

        assertEquals(List.of("failed client-closed"), told.events);
        assertEquals(1, attempts.size());
    }

    @Test
    void cancelDuringAnAttemptClosesItAndGivesItsCountBackWithoutAWord() {
        Backend backend = backend(2, policy(3));
        Dial dial = dial(backend);
        dial.start();

        dial.cancel();

        assertEquals(List.of(), told.events);
        assertEquals(0, inFlight(backend));
        assertFalse(attempts.get(0).channel.isOpen());
        assertEquals(1, connects(backend, ConnectResult.CANCELLED));
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void cancelDuringAPauseEndsItWithoutAWord() {
        Backend backend = backend(2, policy(3));
        Dial dial = dial(backend);
        dial.start();
        attempts.get(0).refuse();

        dial.cancel();
        passMillis(5_000);

        assertEquals(List.of(), told.events);
        assertEquals(1, attempts.size());
        assertEquals(0, inFlight(backend));
        assertTrue(deadlines.isEmpty());
    }

    // ---- DONE: nothing happens any more

    @ParameterizedTest
    @EnumSource(Finish.class)
    void onceItIsOverEveryEventIsIgnored(Finish finish) {
        Backend backend = backend(2, policy(2));
        Dial dial = dial(backend);
        dial.start();
        finish.bring(this, dial);
        List<String> before = List.copyOf(told.events);
        int held = inFlight(backend);

        dial.cancel();
        dial.onClientEnded(false);
        dial.onClientEnded(true);
        for (Attempt attempt : attempts) {
            attempt.succeed();
            attempt.refuse();
        }
        passMillis(20_000);

        assertEquals(before, told.events);
        assertEquals(held, inFlight(backend));
        assertTrue(deadlines.isEmpty());
    }

    /** The ways to DONE. */
    enum Finish {
        CONNECTED {
            @Override
            void bring(DialTest test, Dial dial) {
                test.attempts.get(0).succeed();
            }
        },
        FAILED {
            @Override
            void bring(DialTest test, Dial dial) {
                test.attempts.get(0).refuse();
                test.passUntil(() -> test.attempts.size() == 2);
                test.attempts.get(1).refuse();
            }
        },
        CANCELLED_IN_ATTEMPT {
            @Override
            void bring(DialTest test, Dial dial) {
                dial.cancel();
            }
        },
        CANCELLED_IN_PAUSE {
            @Override
            void bring(DialTest test, Dial dial) {
                test.attempts.get(0).refuse();
                dial.cancel();
            }
        };

        abstract void bring(DialTest test, Dial dial);
    }

    /** The ways in which an attempt ends that say nothing against its endpoint. */
    enum FaultlessEnd {
        THE_CLIENT_HAS_GONE {
            @Override
            void bring(DialTest test, Dial dial) {
                dial.cancel();
            }
        },
        NO_SOURCE_PORT {
            @Override
            void bring(DialTest test, Dial dial) {
                test.attempts.get(0).fail(new ConnectException("Cannot assign requested address"));
            }
        },
        CUT_SHORT {
            @Override
            void bring(DialTest test, Dial dial) {
                test.passMillis(1_040);
            }
        };

        abstract void bring(DialTest test, Dial dial);
    }

    /** What may still be heard of an attempt. */
    enum LateNews {
        SUCCESS {
            @Override
            void tell(Attempt attempt) {
                attempt.succeed();
            }
        },
        REFUSAL {
            @Override
            void tell(Attempt attempt) {
                attempt.refuse();
            }
        };

        abstract void tell(Attempt attempt);
    }

    private static final class Told implements DialOutcome {
        private final List<String> events = new ArrayList<>();
        private Channel upstream;

        @Override
        public ChannelHandler nextHandler() {
            return new ChannelInboundHandlerAdapter();
        }

        @Override
        public void onConnected(Channel channel) {
            upstream = channel;
            events.add("connected");
        }

        @Override
        public void onDialFailed(CloseReason reason) {
            events.add("failed " + reason);
        }
    }

    /** One connect, whose end the test decides. */
    private static final class Attempt extends ChannelOutboundHandlerAdapter {
        private final InetSocketAddress target;
        private EmbeddedChannel channel;
        private ChannelPromise promise;

        Attempt(InetSocketAddress target) {
            this.target = target;
        }

        @Override
        public void connect(
                ChannelHandlerContext ctx, SocketAddress remote, SocketAddress local, ChannelPromise connect) {
            promise = connect;
        }

        void succeed() {
            promise.trySuccess();
        }

        void refuse() {
            fail(new ConnectException("Connection refused"));
        }

        void fail(Exception cause) {
            promise.tryFailure(cause);
        }
    }

    private Channel open(InetSocketAddress target, ChannelHandler handler) {
        if (openFault != null) {
            throw openFault;
        }
        Attempt attempt = new Attempt(target);
        attempt.channel = new EmbeddedChannel(DefaultChannelId.newInstance(), false, false, attempt, handler);
        attempts.add(attempt);
        return attempt.channel;
    }

    private Dial dial(Backend backend) {
        return new Dial(dialer, backend, told, CLIENT, LOCAL);
    }

    private static ConnectPolicy policy(int attempts) {
        return new ConnectPolicy(2_000 * MILLI, attempts, 5_000 * MILLI, ProxyProtocol.OFF);
    }

    private static Backend backend(int endpoints, ConnectPolicy policy) {
        List<Endpoint> list = IntStream.range(0, endpoints)
                .mapToObj(i -> {
                    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7000 + i);
                    return new Endpoint("e" + i, 1, 3, new EndpointCell("back", "e" + i, i, List.of(address)));
                })
                .toList();
        return new Backend(
                "back",
                0,
                BalancePolicy.ROUND_ROBIN,
                Pickers.of(BalancePolicy.ROUND_ROBIN),
                new EndpointList(list),
                policy);
    }

    /** The same with a budget that the test holds, and somebody who listens. */
    private Backend watched(int endpoints, ConnectPolicy policy) {
        BackendCell cell = new BackendCell("back", 0);
        return new Backend(
                cell,
                BalancePolicy.ROUND_ROBIN,
                Pickers.of(BalancePolicy.ROUND_ROBIN),
                new EndpointList(backend(endpoints, policy).endpoints().all(), cell),
                policy,
                new Retries() {
                    @Override
                    public void onConnection(long nowNanos) {
                        arrivals++;
                    }

                    @Override
                    public boolean tryRetry(long nowNanos) {
                        return retriesLeft-- > 0;
                    }
                },
                new EndpointWatch() {
                    @Override
                    public void onConnected(EndpointCell endpoint) {
                        watched.add("connected " + endpoint.address());
                    }

                    @Override
                    public void onAnswered(EndpointCell endpoint) {
                        throw new AssertionError("a dial hears no answer");
                    }

                    @Override
                    public void onFailure(EndpointCell endpoint, Failure failure) {
                        watched.add(failure.word() + " " + endpoint.address());
                    }

                    @Override
                    public boolean opensBreakers() {
                        return opensBreakers;
                    }
                });
    }

    private static int inFlight(Backend backend) {
        return backend.endpoints().all().stream()
                .mapToInt(endpoint -> endpoint.cell().inFlight())
                .sum();
    }

    private long connects(Backend backend, ConnectResult result) {
        return backend.endpoints().all().stream()
                .mapToLong(endpoint -> counters.endpoint(endpoint.cell().slot()).connects(result))
                .sum();
    }

    private static int distinct(List<Attempt> some) {
        Set<String> targets = new TreeSet<>();
        some.forEach(attempt -> targets.add(attempt.target.toString()));
        return targets.size();
    }

    private void passMillis(long millis) {
        long until = now + millis * MILLI;
        while (now - until < 0) {
            now = Math.min(until, now + Deadlines.TICK_NANOS);
            deadlines.advance(now);
        }
    }

    private void passUntil(java.util.function.BooleanSupplier holds) {
        for (int tick = 0; !holds.getAsBoolean(); tick++) {
            assertTrue(tick < 10_000, "it does not come");
            now += Deadlines.TICK_NANOS;
            deadlines.advance(now);
        }
    }
}
