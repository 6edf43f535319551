package dev.tidegate.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Asserts for every test of a module that it left nothing: after each test, descriptors are back to those before it, and
 * nothing went uncaught or was logged at ERROR; after each class, one garbage collection, and Netty reports no leak.
 *
 * <p>For tests that open and close everything inside their methods. It has no state for them to hand things to (that is
 * {@link InvariantsExtension}), so a module registers it once, by JUnit's detection: name it in
 * {@code META-INF/services/org.junit.jupiter.api.extension.Extension} and set
 * {@code junit.jupiter.extensions.autodetection.enabled=true} in {@code junit-platform.properties}. A test that provokes a
 * line on purpose says so: {@code LeakGuard.installed().expect("regex")}; it holds until the end of that test.
 *
 * <p>Descriptors and logs belong to the JVM: tests must not run at the same time in it.
 */
public final class LeftoversExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private static final Duration BOUND = Duration.ofSeconds(5);
    private static final ExtensionContext.Namespace SPACE = ExtensionContext.Namespace.create(LeftoversExtension.class);

    /** Whether this extension looks after the test of that context. */
    public static boolean isWatching(ExtensionContext test) {
        return test.getStore(SPACE).get(OpenFiles.class) != null;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        LeakGuard guard = LeakGuard.installed();
        guard.forgetExpected();
        // What is left over is the doing of someone before; it is not this class's fault.
        guard.drain();
    }

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        LeakGuard.installed();
        context.getStore(SPACE).put(OpenFiles.class, OpenFiles.now());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        OpenFiles before = context.getStore(SPACE).get(OpenFiles.class, OpenFiles.class);
        afterTest(context.getDisplayName(), before, BOUND);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        afterClass(context.getDisplayName());
    }

    static void afterTest(String test, OpenFiles before, Duration bound) {
        List<String> wrong = new ArrayList<>();
        before.leftOver(bound, 0).ifPresent(wrong::add);
        complain(test, wrong);
    }

    static void afterClass(String testClass) {
        LeakGuard.installed().provokeLeakReports();
        complain(testClass, new ArrayList<>());
    }

    private static void complain(String where, List<String> wrong) {
        LeakGuard guard = LeakGuard.installed();
        wrong.addAll(guard.drain());
        guard.forgetExpected();
        if (!wrong.isEmpty()) {
            throw new AssertionError(
                    wrong.size() + " things wrong after " + where + ":\n  - " + String.join("\n  - ", counted(wrong)));
        }
    }

    /** Each text once, with how often it was there: a hundred connections may all say the same. */
    private static List<String> counted(List<String> texts) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        texts.forEach(text -> counts.merge(text, 1, Integer::sum));
        return counts.entrySet().stream()
                .map(e -> e.getValue() == 1 ? e.getKey() : e.getValue() + " times: " + e.getKey())
                .toList();
    }
}
