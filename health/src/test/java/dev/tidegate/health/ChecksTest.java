package dev.tidegate.health;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.LeakGuard;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChecksTest {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    private static final InetSocketAddress OTHER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 2);
    private static final Duration TENTH = Duration.ofMillis(100);
    private static final Finding PASS = Finding.pass("ok");
    private static final Finding FAIL = Finding.fail("bad");

    private final FakeWorld world = new FakeWorld();

    private Target target(String id) {
        return Targets.target(id, Targets.plan(world.ask("same")), ADDRESS);
    }

    private Target target(String id, Condition initial, int jitterPercent, Duration maxHold) {
        CheckPlan p = Targets.plan(world.ask("same"));
        return Targets.target(
                id,
                new CheckPlan(
                        p.probe(),
                        p.intervalNanos(),
                        p.fastIntervalNanos(),
                        p.timeoutNanos(),
                        jitterPercent,
                        p.rise(),
                        p.fall(),
                        initial,
                        maxHold.toNanos()),
                ADDRESS);
    }

    private List<Target> targets(String prefix, int count, int jitterPercent) {
        List<Target> targets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            targets.add(target(prefix + i, Condition.UNKNOWN, jitterPercent, Duration.ZERO));
        }
        return targets;
    }

    private void answer(Finding finding) {
        world.answers = run -> new FakeWorld.Answer(finding, Duration.ofMillis(1));
    }

    private void silence() {
        world.answers = run -> null;
    }

    // Rhythm.

    @Test
    void aNewTargetIsCheckedAtOnce() {
        world.follow(List.of(target("a")));

        assertEquals(1, world.runs.size());
    }

    @Test
    void afterTheFirstItIsCheckedAtItsIntervalGiveOrTakeTheJitter() {
        world.follow(List.of(target("a")));
        world.pass(Duration.ofMinutes(10));

        List<Long> gaps = gapsMillis("a");
        assertTrue(gaps.stream().skip(2).allMatch(gap -> gap >= 1_785 && gap <= 2_215), gaps::toString);
        assertTrue(gaps.stream().skip(2).distinct().count() > 10, gaps::toString);
    }

    @Test
    void withoutJitterTheIntervalIsExactToTheTick() {
        world.follow(List.of(target("a", Condition.UNKNOWN, 0, Duration.ZERO)));
        world.pass(Duration.ofMinutes(1));

        List<Long> gaps = gapsMillis("a");
        assertTrue(gaps.stream().skip(2).allMatch(gap -> gap >= 1_990 && gap <= 2_010), gaps::toString);
    }

    @Test
    void whileResultsSpeakForAChangeTheFastIntervalCounts() {
        world.follow(List.of(target("a", Condition.UP, 0, Duration.ZERO)));
        world.pass(Duration.ofSeconds(9));
        int before = gapsMillis("a").size();
        answer(FAIL);
        world.pass(Duration.ofSeconds(12));

        List<Long> gaps = gapsMillis("a").subList(before, gapsMillis("a").size());
        // Up to the first failure the slow one, then two fast ones; down, the slow one again.
        assertTrue(gaps.size() >= 4, gaps::toString);
        assertTrue(gaps.get(0) >= 1_990, gaps::toString);
        assertTrue(gaps.get(1) <= 1_010 && gaps.get(2) <= 1_010, gaps::toString);
        assertTrue(gaps.get(gaps.size() - 1) >= 1_990, gaps::toString);
        assertEquals(Condition.DOWN, world.recorder.condition("a"));
    }

    private List<Long> gapsMillis(String id) {
        List<FakeWorld.Asked> runs = world.runsOf(id);
        List<Long> gaps = new ArrayList<>();
        for (int i = 1; i < runs.size(); i++) {
            gaps.add((runs.get(i).startedNanos - runs.get(i - 1).startedNanos) / 1_000_000);
        }
        return gaps;
    }

    @Test
    void aCheckThatTakesLongerThanTheIntervalIsNotOverlapped() {
        CheckPlan slow = new CheckPlan(
                world.ask("slow"),
                Duration.ofMillis(100).toNanos(),
                Duration.ofMillis(100).toNanos(),
                Duration.ofSeconds(1).toNanos(),
                0,
                1,
                1,
                Condition.UP,
                0);
        world.answers = run -> new FakeWorld.Answer(PASS, Duration.ofMillis(350));
        world.follow(List.of(Targets.target("a", slow, ADDRESS)));
        world.pass(Duration.ofSeconds(10));

        List<Long> gaps = gapsMillis("a");
        assertTrue(gaps.stream().allMatch(gap -> gap >= 350 && gap <= 375), gaps::toString);
        assertTrue(world.runs.stream().filter(FakeWorld.Asked::isOpen).count() <= 1);
    }

    @Test
    void silenceIsCancelledAfterTheTimeOutAndSaysHowFarItCame() {
        silence();
        world.follow(List.of(target("a")));
        world.pass(Duration.ofMillis(999));
        assertTrue(world.recorder.told().isEmpty());
        world.pass(Duration.ofMillis(12));

        Verdict verdict = world.recorder.of("a").get(0);
        assertEquals(Finding.fail("time-out after 1000 ms: no word"), verdict.finding());
        assertTrue(world.runs.get(0).cancelled);
        assertEquals(1_000.0, verdict.durationNanos() / 1e6, 10.0);
    }

    @Test
    void whatAProbeSaysAfterItsTimeOutIsNotHeard() {
        silence();
        world.follow(List.of(target("a")));
        world.pass(Duration.ofMillis(1_020));
        world.runs.get(0).done.accept(PASS);

        assertEquals(1, world.recorder.told().size());
        assertEquals(Condition.DOWN, world.recorder.condition("a"));
    }

    @Test
    void aProbeMayAnswerBeforeItsStartReturns() {
        world.answers = run -> new FakeWorld.Answer(PASS, Duration.ZERO);
        world.follow(List.of(target("a")));
        world.pass(Duration.ofSeconds(10));

        assertEquals(world.runs.size(), world.recorder.told().size());
        assertTrue(world.runs.size() >= 5);
    }

    @Test
    void recheckingChecksAtOnceButNotTwiceInATenthOfASecond() {
        world.follow(List.of(target("a")));
        world.pass(Duration.ofSeconds(10));
        long last = world.runs.get(world.runs.size() - 1).startedNanos;
        world.pass(Duration.ofMillis(Math.max(0, 150 - (world.clockNanos() - last) / 1_000_000)));
        int before = world.runs.size();

        world.recheck("a");
        assertEquals(before + 1, world.runs.size());

        world.pass(Duration.ofMillis(20));
        world.recheck("a");
        world.pass(Duration.ofMillis(70));
        assertEquals(before + 1, world.runs.size());
        world.pass(Duration.ofMillis(30));
        assertEquals(before + 2, world.runs.size());
    }

    @Test
    void recheckingWhatIsUnderWayChecksAgainWhenItEnds() {
        world.answers = run -> new FakeWorld.Answer(PASS, Duration.ofMillis(500));
        world.follow(List.of(target("a")));
        world.recheck("a");
        world.recheck("nobody");
        world.pass(Duration.ofMillis(520));

        assertEquals(2, world.runs.size());
    }

    // Spread.

    @ParameterizedTest
    @ValueSource(ints = {0, 10, 50})
    @Tag("slow")
    void startsOfTenThousandTargetsAreSpreadFromTheFirstMomentOn(int jitterPercent) {
        world.follow(targets("t", 10_000, jitterPercent));
        world.pass(Duration.ofMillis(1_100));
        assertEquals(
                10_000, world.runs.stream().map(run -> run.endpoint).distinct().count());

        world.pass(Duration.ofSeconds(20));

        long most = world.mostStartsWithin(TENTH, 0);
        assertTrue(most <= 1_000, () -> "most starts in 100 ms: " + most);
        long steady = world.mostStartsWithin(TENTH, Duration.ofSeconds(6).toNanos());
        assertTrue(steady <= 700, () -> "most starts in 100 ms after 6 s: " + steady);
        Map<String, Integer> counts = new TreeMap<>();
        world.runs.forEach(run -> counts.merge(run.endpoint, 1, Integer::sum));
        int fewest = counts.values().stream().min(Integer::compare).orElseThrow();
        int most20s = counts.values().stream().max(Integer::compare).orElseThrow();
        // The first gap is short, the others are 2 s, give or take the jitter.
        assertTrue(fewest >= (jitterPercent == 50 ? 7 : 10), () -> "fewest checks of a target: " + fewest);
        assertTrue(most20s <= (jitterPercent == 50 ? 18 : 13), () -> "most checks of a target: " + most20s);
    }

    @Test
    void aFewAreCheckedAtOnceAndTheNextTenATenthOfASecondLater() {
        world.follow(targets("t", 25, 10));
        assertEquals(10, world.runs.size());
        world.pass(Duration.ofMillis(99));
        assertEquals(10, world.runs.size());
        world.pass(Duration.ofMillis(200));

        assertEquals(25, world.runs.stream().map(run -> run.endpoint).distinct().count());
    }

    /** A check each minute of ten thousand are 17 in 100 ms, and it takes half a minute until all have had their first. */
    @Test
    @Tag("slow")
    void thousandsOfNewTargetsWithALongIntervalHoldUpNoneWithAShortOne() {
        List<Target> all = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            CheckPlan plan = Targets.plan(world.ask("same"), Duration.ofMinutes(1), Duration.ofMinutes(1));
            all.add(Targets.target("slow" + i, plan, ADDRESS));
        }
        all.add(Targets.target(
                "quick", Targets.plan(world.ask("same"), Duration.ofSeconds(1), Duration.ofSeconds(1)), ADDRESS));
        world.follow(all);
        world.pass(Duration.ofMillis(200));
        assertEquals(1, world.runsOf("quick").size());

        world.pass(Duration.ofSeconds(5));
        all.add(Targets.target(
                "later", Targets.plan(world.ask("same"), Duration.ofSeconds(1), Duration.ofSeconds(1)), ADDRESS));
        world.follow(all);
        world.pass(Duration.ofMillis(200));
        assertEquals(1, world.runsOf("later").size());

        world.pass(Duration.ofSeconds(50));
        for (String id : List.of("quick", "later")) {
            assertTrue(gapsMillis(id).stream().allMatch(gap -> gap <= 1_250), () -> id + ": " + gapsMillis(id));
        }
        assertEquals(
                10_002, world.runs.stream().map(run -> run.endpoint).distinct().count());
        assertEquals(0, world.recorder.late());
    }

    /** A storm of handshakes, say. The quick one had to wait for its turn among those that were late by seconds. */
    @Test
    @Tag("slow")
    void withTooManyForTheTimeAllAreStretchedAlike() {
        List<Target> all = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            all.add(Targets.target(
                    "slow" + i,
                    Targets.plan(world.ask("same"), Duration.ofSeconds(1), Duration.ofSeconds(1)),
                    ADDRESS));
        }
        all.add(Targets.target("quick", Targets.plan(world.ask("same"), TENTH, TENTH), ADDRESS));
        world.cost = Duration.ofMillis(5); // there is time for some 180 a second
        world.follow(all);
        world.pass(Duration.ofSeconds(60));

        List<Long> quick = gapsMillis("quick");
        List<Long> slow = gapsMillis("slow7");
        quick = quick.subList(quick.size() / 2, quick.size());
        slow = slow.subList(slow.size() / 2, slow.size());
        double stretchOfQuick = quick.stream().mapToLong(gap -> gap).average().orElseThrow() / 100;
        double stretchOfSlow = slow.stream().mapToLong(gap -> gap).average().orElseThrow() / 1_000;
        assertTrue(stretchOfSlow > 4, () -> "there is time for all: " + stretchOfSlow);
        assertTrue(
                stretchOfQuick < 1.6 * stretchOfSlow, () -> "quick × " + stretchOfQuick + ", slow × " + stretchOfSlow);
    }

    @Test
    @Tag("slow")
    void changesOfTheSetMakeNoBurst() {
        world.follow(targets("t", 10_000, 0));
        world.pass(Duration.ofSeconds(5));
        world.follow(targets("new", 10_000, 0));
        world.pass(Duration.ofSeconds(5));
        List<Target> both = targets("new", 10_000, 0);
        both.addAll(targets("t", 2_000, 0));
        world.follow(both);
        world.pass(Duration.ofSeconds(5));
        both.forEach(target -> world.checks().recheck(target.id()));
        world.pass(Duration.ofSeconds(5));

        long most = world.mostStartsWithin(TENTH, 0);
        assertTrue(most <= 1_200, () -> "most starts in 100 ms: " + most);
    }

    @Test
    @Tag("slow")
    void aShorterIntervalForAllMakesNoBurst() {
        List<Target> hourly = targets("t", 10_000, 0).stream()
                .map(t -> Targets.target(
                        t.id(), Targets.plan(t.plan().probe(), Duration.ofHours(1), Duration.ofHours(1)), ADDRESS))
                .toList();
        world.follow(hourly);
        world.pass(Duration.ofHours(2));
        long changedNanos = world.clockNanos();

        world.follow(targets("t", 10_000, 0));
        world.pass(Duration.ofSeconds(3));

        long most = world.mostStartsWithin(TENTH, changedNanos);
        assertTrue(most <= 1_000, () -> "most starts in 100 ms: " + most);
        assertEquals(
                10_000,
                world.runs.stream()
                        .filter(run -> run.startedNanos >= changedNanos)
                        .map(run -> run.endpoint)
                        .distinct()
                        .count());
    }

    /** haproxy/haproxy#2145. */
    @Test
    @Tag("slow")
    void aSetThatIsGivenAgainKeepsOneStreamOfChecksEach() {
        world.follow(targets("t", 300, 10));
        for (int i = 0; i < 50; i++) {
            world.pass(Duration.ofMillis(400));
            world.follow(targets("t", 300, 10));
        }
        for (int i = 0; i < 300; i++) {
            List<Long> gaps = gapsMillis("t" + i);
            assertTrue(gaps.size() >= 9 && gaps.size() <= 12, gaps::toString);
            assertTrue(gaps.stream().skip(2).allMatch(gap -> gap >= 1_785), gaps::toString);
        }
        assertTrue(world.mostStartsWithin(TENTH, 0) <= 30);
    }

    // Stalls and clocks.

    @Test
    @Tag("slow")
    void aStallTimesNobodyOutAndStartsNoBurst() {
        world.answers = run -> new FakeWorld.Answer(PASS, Duration.ofMillis(500));
        world.follow(targets("t", 10_000, 10));
        world.pass(Duration.ofSeconds(6));
        assertTrue(world.runs.stream().filter(FakeWorld.Asked::isOpen).count() > 1_000);
        long stalledNanos = world.clockNanos();

        world.stall(Duration.ofSeconds(10));
        world.pass(Duration.ofSeconds(5));

        assertTrue(world.recorder.told().stream()
                .allMatch(told -> told.verdict().finding().word() == Word.PASS));
        long most = world.mostStartsWithin(TENTH, stalledNanos);
        assertTrue(most <= 1_000, () -> "most starts in 100 ms after the stall: " + most);
        long later = world.mostStartsWithin(
                TENTH, stalledNanos + Duration.ofSeconds(10).plusMillis(500).toNanos());
        assertTrue(later <= 700, () -> "most starts in 100 ms half a second later: " + later);
    }

    @Test
    void silenceBeforeAndAfterAStallStillTimesOut() {
        silence();
        world.follow(List.of(target("a")));
        world.pass(Duration.ofMillis(500));
        world.stall(Duration.ofSeconds(10));
        world.pass(Duration.ofMillis(300));
        assertTrue(world.recorder.told().isEmpty());
        world.pass(Duration.ofMillis(200));

        assertEquals(Word.FAIL, world.recorder.of("a").get(0).finding().word());
    }

    @Test
    void afterAStallTheTickLeavesTheFirstWordToTheSockets() {
        silence();
        world.follow(List.of(target("a")));
        world.pass(Duration.ofMillis(995));
        world.stall(Duration.ofSeconds(10));
        assertTrue(world.recorder.told().isEmpty());

        world.runs.get(0).answer(PASS);
        world.pass(Duration.ofSeconds(1));

        assertEquals(Word.PASS, world.recorder.of("a").get(0).finding().word());
    }

    @Test
    void theWallClockMayJump() {
        world.follow(List.of(target("a")));
        world.pass(Duration.ofSeconds(10));
        world.wall = Instant.EPOCH.plus(Duration.ofHours(1));
        world.pass(Duration.ofSeconds(10));
        world.wall = Instant.EPOCH.minus(Duration.ofHours(1));
        world.pass(Duration.ofSeconds(10));

        List<Long> gaps = gapsMillis("a");
        assertTrue(gaps.stream().skip(2).allMatch(gap -> gap >= 1_785 && gap <= 2_215), gaps::toString);
        assertEquals(
                3, world.recorder.of("a").stream().map(Verdict::time).distinct().count());
    }

    // Conditions.

    /** caddyserver/caddy#6152. */
    @Test
    void whoFailsEveryThirdCheckStaysUp() {
        AtomicInteger count = new AtomicInteger();
        world.answers =
                run -> new FakeWorld.Answer(count.incrementAndGet() % 3 == 0 ? FAIL : PASS, Duration.ofMillis(1));
        world.follow(List.of(target("a")));
        world.pass(Duration.ofMinutes(5));

        assertTrue(world.recorder.of("a").stream().allMatch(verdict -> verdict.condition() == Condition.UP));
        assertTrue(count.get() > 100);
    }

    /** caddyserver/caddy#6152: a pause of a collector took a sound endpoint out. Whatever moment of its checks the pause begins at. */
    @ParameterizedTest
    @CsvSource({"2000, 4950", "1000, 2950"})
    void whoStandsStillForLessThanItTakesToFallStaysUp(int fastMillis, int pauseMillis) {
        List<Target> phases = pausing(20, fastMillis);
        world.follow(phases);
        world.pass(Duration.ofSeconds(3));

        pause(Duration.ofMillis(pauseMillis));
        world.pass(Duration.ofSeconds(10));

        for (Target target : phases) {
            List<Verdict> verdicts = world.recorder.of(target.id());
            assertTrue(verdicts.stream().allMatch(v -> v.condition() == Condition.UP), verdicts::toString);
            assertTrue(verdicts.stream().anyMatch(v -> v.finding().word() == Word.FAIL), verdicts::toString);
            assertEquals(0, verdicts.get(verdicts.size() - 1).inRow());
        }
    }

    @Test
    void whoStandsStillForLongerThanThatIsOutUntilItHasPassedTwice() {
        List<Target> phases = pausing(20, 2_000);
        world.follow(phases);
        world.pass(Duration.ofSeconds(3));

        pause(Duration.ofMillis(7_100));

        for (Target target : phases) {
            assertEquals(Condition.DOWN, world.recorder.condition(target.id()));
        }
        world.pass(Duration.ofSeconds(5));
        for (Target target : phases) {
            List<Condition> changes = world.recorder.of(target.id()).stream()
                    .map(Verdict::condition)
                    .distinct()
                    .toList();
            assertEquals(List.of(Condition.UP, Condition.DOWN), changes);
            assertEquals(Condition.UP, world.recorder.condition(target.id()));
        }
    }

    /** Up at first, without jitter; three failures take them out. */
    private List<Target> pausing(int count, int fastMillis) {
        CheckPlan p = Targets.plan(world.ask("same"), Duration.ofSeconds(2), Duration.ofMillis(fastMillis));
        CheckPlan steady = new CheckPlan(
                p.probe(), p.intervalNanos(), p.fastIntervalNanos(), p.timeoutNanos(), 0, 2, 3, Condition.UP, 0);
        List<Target> targets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            targets.add(Targets.target("p" + i, steady, ADDRESS));
        }
        return targets;
    }

    /** The targets stand still: the kernel takes their connections, and they answer when they go on. */
    private void pause(Duration time) {
        silence();
        world.pass(time);
        answer(PASS);
        List.copyOf(world.runs).stream().filter(FakeWorld.Asked::isOpen).forEach(run -> run.answer(PASS));
    }

    @Test
    void theInitialConditionIsARealOne() {
        answer(FAIL);
        world.follow(List.of(target("a", Condition.UP, 0, Duration.ZERO)));
        world.pass(Duration.ofMillis(5));
        assertEquals(Condition.UP, world.recorder.condition("a"));
        assertEquals(1, world.recorder.of("a").get(0).inRow());
        assertEquals(3, world.recorder.of("a").get(0).needed());
        world.pass(Duration.ofSeconds(4));

        assertEquals(Condition.DOWN, world.recorder.condition("a"));
    }

    @Test
    void aVoidCheckNeitherCountsNorInterrupts() {
        List<Finding> script = List.of(FAIL, FAIL, Finding.voided("too many open files"), FAIL, PASS);
        AtomicInteger at = new AtomicInteger();
        world.answers = run -> new FakeWorld.Answer(
                script.get(Math.min(at.getAndIncrement(), script.size() - 1)), Duration.ofMillis(1));
        world.follow(List.of(target("a", Condition.UP, 0, Duration.ZERO)));
        world.pass(Duration.ofSeconds(5));

        List<Verdict> verdicts = world.recorder.of("a");
        assertEquals(
                List.of("up 1", "up 2", "up 2", "down 0"),
                verdicts.stream()
                        .limit(4)
                        .map(v -> v.condition().word() + " " + v.inRow())
                        .toList());
        assertEquals(Word.VOID, world.checks().history("a").get(2).finding().word());
    }

    @Test
    void whoFlapsIsHeldDownAndComesUpRightAfter() {
        world.follow(List.of(target("a", Condition.UP, 0, Duration.ofMinutes(5))));
        fallAndPass();
        world.pass(Duration.ofSeconds(10));
        assertEquals(Condition.UP, world.recorder.condition("a"));

        fallAndPass();
        long fellNanos = world.clockNanos();
        int from = world.recorder.told().size();
        world.pass(Duration.ofSeconds(20));

        List<Verdict> after =
                world.recorder.of("a").subList(from, world.recorder.told().size());
        List<Verdict> held =
                after.stream().takeWhile(v -> v.condition() == Condition.DOWN).toList();
        assertTrue(held.size() >= 3, after::toString);
        assertTrue(held.stream().allMatch(v -> v.heldNanos() > 0 && v.heldNanos() <= 8_000_000_000L), held::toString);
        assertEquals(0, after.get(held.size()).heldNanos());
        long upNanos = world.runs.get(from + held.size()).startedNanos;
        assertEquals(8_000.0, (upNanos - fellNanos) / 1e6, 60.0);
    }

    /** Fails until it is down, and answers well from then on. */
    private void fallAndPass() {
        answer(FAIL);
        while (world.recorder.condition("a") != Condition.DOWN) {
            world.pass(Duration.ofMillis(10));
        }
        answer(PASS);
    }

    @Test
    void fiveMinutesOfFlappingMakeFewChanges() {
        AtomicInteger count = new AtomicInteger();
        world.answers =
                run -> new FakeWorld.Answer(count.incrementAndGet() % 8 < 4 ? FAIL : PASS, Duration.ofMillis(1));
        world.follow(List.of(target("a", Condition.UP, 10, Duration.ofMinutes(5))));
        world.pass(Duration.ofMinutes(5));

        long changes = world.recorder.told().stream()
                .filter(told -> told.before() != told.verdict().condition())
                .count();
        assertTrue(changes >= 4 && changes <= 14, () -> "changes: " + changes);
    }

    // Addresses.

    /** envoyproxy/envoy#6284. */
    @Test
    void nothingIsCheckedAtAnAddressThatIsNotSet() {
        CheckPlan plan = Targets.plan(world.ask("same"));
        world.follow(List.of(
                Targets.target("none", plan),
                Targets.target("unresolved", plan, InetSocketAddress.createUnresolved("not-yet.example", 80)),
                Targets.target("zero", plan, new InetSocketAddress("0.0.0.0", 0))));
        world.pass(Duration.ofSeconds(5));
        assertTrue(world.runs.isEmpty());
        assertTrue(world.recorder.told().isEmpty());

        world.follow(List.of(Targets.target("none", plan, ADDRESS)));

        assertEquals(1, world.runs.size());
    }

    @Test
    void whoLosesItsAddressesKeepsItsConditionAndIsNotChecked() {
        world.follow(List.of(target("a")));
        world.pass(Duration.ofSeconds(10));
        int before = world.runs.size();
        world.follow(List.of(Targets.target("a", target("a").plan())));
        world.pass(Duration.ofSeconds(10));

        assertEquals(before, world.runs.size());
        assertEquals(Condition.UP, world.checks().history("a").get(0).condition());
    }

    @Test
    void eachAddressIsTriedUntilOnePassesEachWithTheWholeTimeOut() {
        world.answers = run -> run.address.equals(ADDRESS) ? null : new FakeWorld.Answer(PASS, Duration.ofMillis(900));
        world.follow(List.of(Targets.target("a", target("a").plan(), ADDRESS, OTHER)));
        world.pass(Duration.ofMillis(1_950));

        Verdict verdict = world.recorder.of("a").get(0);
        assertEquals(Finding.pass("127.0.0.1:2: ok"), verdict.finding());
        assertEquals(1_900.0, verdict.durationNanos() / 1e6, 20.0);
    }

    @Test
    void ifNoAddressPassesTheBestWordCounts() {
        world.answers = run ->
                new FakeWorld.Answer(run.address.equals(ADDRESS) ? Finding.notReady("draining") : FAIL, Duration.ZERO);
        world.follow(List.of(Targets.target("a", target("a").plan(), ADDRESS, OTHER)));

        assertEquals(
                Finding.notReady("127.0.0.1:1: draining"),
                world.recorder.of("a").get(0).finding());
    }

    // Changes of the set.

    @Test
    void whoIsRemovedIsCancelledAndForgotten() {
        silence();
        world.follow(List.of(target("a"), target("b")));
        world.follow(List.of(target("b")));
        FakeWorld.Asked gone = world.runsOf("a").get(0);
        assertTrue(gone.cancelled);
        gone.done.accept(PASS);
        world.pass(Duration.ofSeconds(10));

        assertEquals(List.of(), world.recorder.of("a"));
        assertEquals(List.of(), world.checks().history("a"));
        assertEquals(1, world.runsOf("a").size());
    }

    @Test
    void aNewTimingKeepsTheRowAndACheckUnderWay() {
        world.answers = run -> new FakeWorld.Answer(FAIL, Duration.ofMillis(500));
        world.follow(List.of(target("a", Condition.UP, 10, Duration.ZERO)));
        world.pass(Duration.ofMillis(1_700));
        int before = world.runs.size();
        world.follow(List.of(target("a", Condition.UP, 20, Duration.ZERO)));

        assertEquals(before, world.runs.size());
        assertTrue(world.runs.stream().noneMatch(run -> run.cancelled));
        world.pass(Duration.ofSeconds(3));
        assertEquals(
                List.of(1, 2, 0),
                world.recorder.of("a").stream().limit(3).map(Verdict::inRow).toList());
    }

    @Test
    void anotherAddressKeepsTheRowAndIsCheckedAtOnce() {
        answer(FAIL);
        world.follow(List.of(target("a", Condition.UP, 10, Duration.ZERO)));
        world.pass(Duration.ofMillis(5));
        world.follow(List.of(Targets.target("a", target("a").plan(), OTHER)));
        world.pass(Duration.ofMillis(5));

        assertEquals(OTHER, world.runs.get(1).address);
        assertEquals(2, world.recorder.of("a").get(1).inRow());
    }

    @Test
    void anotherProbeKeepsConditionAndHistoryForgetsTheRowAndIsCheckedAtOnce() {
        answer(FAIL);
        world.follow(List.of(target("a", Condition.UP, 10, Duration.ZERO)));
        world.pass(Duration.ofMillis(5));
        silence();
        world.follow(List.of(Targets.target("a", Targets.plan(world.ask("other")), ADDRESS)));
        assertEquals(2, world.runs.size());
        world.runs.get(1).answer(FAIL);

        Verdict verdict = world.recorder.of("a").get(1);
        assertEquals(Condition.UP, verdict.condition());
        assertEquals(1, verdict.inRow());
        assertEquals(2, world.checks().history("a").size());
    }

    @Test
    void historyKeepsTheLastTwenty() {
        world.follow(List.of(target("a")));
        world.pass(Duration.ofMinutes(2));

        List<Verdict> all = world.recorder.of("a");
        assertEquals(all.subList(all.size() - 20, all.size()), world.checks().history("a"));
    }

    // The first round.

    @Test
    void theFirstRoundIsOverWhenEachHasHadItsFirstResult() {
        silence();
        world.follow(List.of(
                target("a"),
                target("b"),
                target("c"),
                Targets.target("d", target("d").plan())));
        CompletableFuture<Void> over = firstRound(world);
        world.runsOf("a").get(0).answer(PASS);
        world.runsOf("b").get(0).answer(FAIL);
        world.follow(List.of(target("a"), target("b"), target("c"), target("late")));
        assertFalse(over.isDone());

        world.follow(List.of(target("a"), target("b"), target("late")));

        assertTrue(over.isDone());
    }

    /** Names have addresses later than the checks have their targets. */
    @Test
    void aFirstRoundThatIsAskedForLaterHasThoseThatHaveAnAddressByThen() {
        silence();
        Target late = target("late");
        world.follow(List.of(target("a"), Targets.target("late", late.plan())));
        CompletableFuture<Void> early = firstRound(world);
        world.runsOf("a").get(0).answer(PASS);
        assertTrue(early.isDone());

        world.follow(List.of(target("a"), late));
        CompletableFuture<Void> over = firstRound(world);
        assertFalse(over.isDone());
        world.runsOf("late").get(0).answer(PASS);

        assertTrue(over.isDone());
    }

    @Test
    void theFirstRoundOfNobodyIsOverAtOnce() {
        world.follow(List.of());

        assertTrue(firstRound(world).isDone());
    }

    @Test
    void whoWaitsForAFirstRoundIsToldOfTheEnd() {
        silence();
        world.follow(List.of(target("a")));
        CompletableFuture<Void> over = firstRound(world);

        world.checks().end();

        assertTrue(over.isCancelled());
        assertTrue(firstRound(world).isCancelled());
    }

    private static CompletableFuture<Void> firstRound(FakeWorld world) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        world.checks().awaitFirstRound(over);
        return over;
    }

    @Test
    void checksThatStartTooLateAreToldOnceAMinute() {
        List<Target> targets = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            targets.add(Targets.target("t" + i, Targets.plan(world.ask("same"), TENTH, TENTH), ADDRESS));
        }
        try (LoggedLines log = LoggedLines.of(LateLog.class)) {
            world.follow(targets);
            world.pass(Duration.ofSeconds(90));
            assertEquals(List.of(), log.lines());
            assertEquals(0, world.recorder.late());

            world.cost = Duration.ofMillis(10);
            world.pass(Duration.ofSeconds(90));
            assertTrue(world.recorder.late() > 100, () -> "told late: " + world.recorder.late());
            assertEquals(
                    2,
                    log.linesWith("checks start late by more than their interval")
                            .size(),
                    log.lines()::toString);
        }
    }

    // Turns.

    @Test
    void whatIsWaitedForATurnIsNoneOfTheTimeOut() {
        world.allWait = true;
        silence();
        world.follow(List.of(target("a")));
        world.pass(Duration.ofMillis(1_500));
        assertEquals(List.of(), world.recorder.told());

        world.runs.get(0).turn();
        world.pass(Duration.ofMillis(900));
        assertEquals(List.of(), world.recorder.told());
        world.pass(Duration.ofMillis(120));

        assertEquals(
                List.of(Finding.fail("time-out after 1000 ms: no word")),
                world.recorder.of("a").stream().map(Verdict::finding).toList());
        assertTrue(world.recorder.of("a").get(0).durationNanos() < 1_100_000_000L);
    }

    @Test
    void aTurnThatDoesNotComeSaysNothingAboutTheTarget() {
        world.allWait = true;
        silence();
        try (LoggedLines log = LoggedLines.of(VoidLog.class)) {
            world.follow(List.of(target("a", Condition.UP, 0, Duration.ZERO)));
            world.pass(Duration.ofSeconds(50));

            assertEquals(Condition.UP, world.recorder.condition("a"));
            assertTrue(world.recorder.of("a").size() > 20);
            assertTrue(world.recorder.of("a").stream()
                    .allMatch(verdict -> verdict.finding().equals(Finding.voided("waited 2000 ms: no word"))));
            assertEquals(1, log.linesWith(" backend=b ").size(), log.lines()::toString);
        }
    }

    // Bugs of others.

    @Test
    void aProbeThatThrowsIsVoidAndTheOthersGoOn() {
        LeakGuard.installed().expect("a check failed by its own fault");
        world.answers = run -> {
            if (run.endpoint.equals("a")) {
                throw new IllegalStateException("a bug");
            }
            return new FakeWorld.Answer(PASS, Duration.ofMillis(1));
        };
        world.follow(List.of(target("a"), target("b")));
        world.pass(Duration.ofSeconds(5));

        assertEquals(Word.VOID, world.recorder.of("a").get(0).finding().word());
        assertEquals(Condition.UNKNOWN, world.recorder.condition("a"));
        assertTrue(world.recorder.of("b").size() >= 3);
    }

    @Test
    void aProbeThatThrowsIsToldOnceForEachBackendAndThenSummedOnceAMinute() {
        LeakGuard.installed().expect("a check failed by its own fault");
        world.answers = run -> {
            throw new IllegalStateException("a bug, number " + world.runs.size());
        };
        try (LoggedLines log = LoggedLines.of(OwnFaults.class, VoidLog.class)) {
            world.follow(targets("a", 5, 10));
            world.pass(Duration.ofSeconds(150));

            assertTrue(world.runs.size() > 300);
            assertEquals(1, log.linesWith("a check failed by its own fault").size(), log.lines()::toString);
            assertEquals(3, log.linesWith("checks could not be carried out").size(), log.lines()::toString);
        }
        assertEquals(
                "the check itself failed: java.lang.IllegalStateException: a bug, number 1",
                world.recorder.of("a0").get(0).finding().detail());
    }

    @Test
    void ofManyBackendsWhoseChecksCannotBeCarriedOutEachIsToldButTenInAMinute() {
        answer(Finding.voided("no luck"));
        List<Target> targets = new ArrayList<>();
        for (int i = 0; i < 15; i++) {
            Target one = target("t" + i);
            targets.add(new Target(
                    one.id(),
                    new ProbeContext.Subject("b" + i, "e", "unused:1"),
                    one.addresses(),
                    null,
                    one.greeting(),
                    one.plan()));
        }
        try (LoggedLines log = LoggedLines.of(VoidLog.class)) {
            world.follow(targets);
            world.pass(Duration.ofSeconds(50));
            assertEquals(VoidLog.LINES_MAX, log.lines().size(), log.lines()::toString);
            world.pass(Duration.ofSeconds(30));

            for (int i = 0; i < 15; i++) {
                assertTrue(!log.linesWith(" backend=b" + i + " ").isEmpty(), "b" + i + ": " + log.lines());
            }
        }
    }

    @Test
    void aListenerThatThrowsStopsNothing() {
        LeakGuard.installed().expect("a listener failed");
        FakeWorld rough = new FakeWorld((id, before, verdict) -> {
            throw new IllegalStateException("a bug");
        });
        rough.follow(List.of(Targets.target("a", Targets.plan(rough.ask("same")), ADDRESS)));
        rough.pass(Duration.ofSeconds(10));

        assertTrue(rough.runs.size() >= 5);
        assertTrue(firstRound(rough).isDone());
    }
}
