package dev.tidegate.testkit;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Asserts after every test what must hold after every test: nothing leaked, nothing open, nothing uncaught.
 *
 * <pre>{@code
 * @RegisterExtension
 * final InvariantsExtension invariants = new InvariantsExtension();
 *
 * @Test
 * void finPassesThrough() throws Exception {
 *     ScriptedBackend backend = invariants.peer(ScriptedBackend.echo());
 *     Proxy proxy = invariants.subject(Proxy.start(backend.address()));
 *     invariants.register("in-flight is zero", () -> proxy.inFlight() == 0);
 *     …
 * }
 * }</pre>
 *
 * <p>In this order, last registered first: peers are closed; the registered invariants come true, the subject still
 * running; subjects are closed; descriptors are back to those before the test; Netty reports no leak; no exception went
 * uncaught. Each wait is bounded, and the failure lists all that is wrong. Use an instance field (a fresh one for each
 * test), and do not run such tests at the same time in one JVM: descriptors and logs belong to the JVM.
 */
public final class InvariantsExtension implements BeforeEachCallback, AfterEachCallback {
    private static final Duration BOUND = Duration.ofSeconds(5);

    private final int fdTolerance;
    private final Duration bound;
    private final Deque<AutoCloseable> peers = new ArrayDeque<>();
    private final Deque<AutoCloseable> subjects = new ArrayDeque<>();
    private final List<Invariant> invariants = new ArrayList<>();
    private LeakGuard guard = LeakGuard.installed();
    private OpenFiles openBefore = OpenFiles.NONE;

    private record Invariant(String name, BooleanSupplier holds) {}

    /** No descriptor may stay. */
    public InvariantsExtension() {
        this(0);
    }

    /** At most {@code fdTolerance} descriptors more than before may stay. */
    public InvariantsExtension(int fdTolerance) {
        this(fdTolerance, BOUND);
    }

    InvariantsExtension(int fdTolerance, Duration bound) {
        this.fdTolerance = fdTolerance;
        this.bound = bound;
    }

    /** Will be closed first after the test: what stands around the thing under test. */
    public <T extends AutoCloseable> T peer(T peer) {
        peers.push(peer);
        return peer;
    }

    /** Will be closed when peers are closed and invariants hold: the thing under test, its loops. */
    public <T extends AutoCloseable> T subject(T subject) {
        subjects.push(subject);
        return subject;
    }

    /** Must come true after the test, when its peers are closed and its subject still runs. */
    public void register(String name, BooleanSupplier holds) {
        invariants.add(new Invariant(name, holds));
    }

    /** A log line or uncaught exception whose text has a match of {@code regex} is what this test is about. */
    public void expectLog(String regex) {
        guard.expect(regex);
    }

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        begin();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        verify(context.getDisplayName());
    }

    void begin() throws Exception {
        guard = LeakGuard.installed();
        guard.forgetExpected();
        // What is left over is the doing of someone before; it is not this test's fault, and was reported there.
        guard.drain();
        openBefore = OpenFiles.now();
    }

    void verify(String test) {
        List<String> wrong = new ArrayList<>();
        closeAll(peers, wrong);
        for (Invariant invariant : invariants) {
            check(invariant, wrong);
        }
        closeAll(subjects, wrong);
        openBefore.leftOver(bound, fdTolerance).ifPresent(wrong::add);
        guard.provokeLeakReports();
        wrong.addAll(guard.drain());
        guard.forgetExpected();
        if (!wrong.isEmpty()) {
            throw new AssertionError(
                    wrong.size() + " things wrong after " + test + ":\n  - " + String.join("\n  - ", wrong));
        }
    }

    private static void closeAll(Deque<AutoCloseable> closeables, List<String> wrong) {
        while (!closeables.isEmpty()) {
            AutoCloseable next = closeables.pop();
            try {
                next.close();
            } catch (Exception | AssertionError e) {
                wrong.add("closing " + next + " failed: " + e + (e.getCause() == null ? "" : " <- " + e.getCause()));
            }
        }
    }

    private void check(Invariant invariant, List<String> wrong) {
        try {
            if (!Await.tryUntil(bound, invariant.holds)) {
                wrong.add("does not hold after " + Await.words(bound) + ": " + invariant.name);
            }
        } catch (RuntimeException | AssertionError e) {
            wrong.add("cannot be checked: " + invariant.name + ": " + e);
        }
    }
}
