package dev.tidegate.cli;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Set;

/**
 * Operating system signals. The JDK has no public API for them; its supported-in-practice {@code sun.misc.Signal} (module
 * {@code jdk.unsupported}) is reached by reflection, since the compiler warns of every plain mention of it.
 */
final class Signals {
    private static final Set<String> LEFT_IGNORED = Set.of("HUP", "INT", "TERM");

    /** The JVM sends itself this one to stop its threads for profilers, unless a variable names another signal. */
    private static final String OF_THE_JVM = "USR2";

    private static final String NUMBER_OF_ANOTHER = "_JAVA_SR_SIGNUM";

    private Signals() {}

    /** Whether the JVM leaves that signal to us: of USR2 only when it was told, as the launcher does, to use another. */
    static boolean isFree(String name, Map<String, String> environment) {
        return !name.equals(OF_THE_JVM) || environment.containsKey(NUMBER_OF_ANOTHER);
    }

    /**
     * Calls the action for each such signal, on a thread of the JVM's.
     *
     * @param name without {@code SIG}
     * @return whether it will be called: the JVM leaves HUP, INT and TERM alone where they were ignored when it started, as
     *     nohup and a script's {@code &} do
     */
    static boolean handle(String name, Runnable action) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object proxy = Proxy.newProxyInstance(
                    Signals.class.getClassLoader(), new Class<?>[] {handler}, (self, method, arguments) -> {
                        if (method.getName().equals("handle")) {
                            action.run();
                            return null;
                        }
                        return switch (method.getName()) {
                            case "equals" -> self == arguments[0];
                            case "hashCode" -> System.identityHashCode(self);
                            default -> "handler of SIG" + name;
                        };
                    });
            Object before = signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
            boolean wasIgnored = handler.getField("SIG_IGN").get(null).equals(before);
            return !(wasIgnored && LEFT_IGNORED.contains(name));
        } catch (InvocationTargetException e) {
            throw new IllegalStateException("SIG" + name + " cannot be handled: " + e.getCause(), e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("SIG" + name + " cannot be handled on this JVM", e);
        }
    }
}
