package dev.tidegate.cli;

import dev.tidegate.control.EndpointId;
import dev.tidegate.control.RuntimeState;
import dev.tidegate.model.Backend;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.Snapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What operators had changed before a restart and is in force again, in words. Stateless. */
final class RestoredText {
    /** So many are named; of more it is said how many. */
    private static final int NAMED = 20;

    private RestoredText() {}

    /** Everything that is changed, in one line. */
    static String changes(RuntimeState state) {
        List<String> all = new ArrayList<>();
        state.drainingFrontends().forEach(name -> all.add("frontend " + name + " draining"));
        state.drainingBackends().forEach(name -> all.add("backend " + name + " draining"));
        state.endpoints().forEach((id, changed) -> all.add("endpoint " + id + " " + words(changed)));
        state.added().keySet().forEach(id -> all.add(endpoint(id, "added")));
        state.removed().forEach(id -> all.add(endpoint(id, "removed")));
        state.logLevel()
                .ifPresent(level -> all.add("log level " + level.value().name().toLowerCase(Locale.ROOT)
                        + " (the file says " + level.over().name().toLowerCase(Locale.ROOT) + ")"));
        int more = all.size() - NAMED;
        return String.join("; ", all.subList(0, Math.min(NAMED, all.size())))
                + (more > 0 ? "; and " + more + " more" : "");
    }

    private static String endpoint(EndpointId id, String what) {
        return "endpoint " + id + " " + what;
    }

    private static String words(RuntimeState.Changed changed) {
        List<String> words = new ArrayList<>();
        if (changed.draining()) {
            words.add("draining");
        }
        if (changed.disabled()) {
            words.add("disabled");
        }
        changed.weight()
                .ifPresent(weight -> words.add("weight " + weight.value() + " (the file says " + weight.over() + ")"));
        return String.join(", ", words);
    }

    /** A line for each frontend that listens and can serve nobody, since no endpoint of its backend is open. */
    static List<String> servingNobody(RuntimeState state, Snapshot snapshot) {
        return snapshot.frontends().stream()
                .filter(frontend -> !state.drainingFrontends().contains(frontend.name()))
                .filter(frontend -> isClosed(frontend.backend()))
                .map(RestoredText::words)
                .toList();
    }

    private static boolean isClosed(Backend backend) {
        return backend.endpoints().all().stream().noneMatch(RestoredText::isOpen);
    }

    private static boolean isOpen(Endpoint endpoint) {
        return endpoint.cell().open() && endpoint.weight() > 0;
    }

    private static String words(Frontend frontend) {
        return "frontend " + frontend.name() + " can serve nobody: every endpoint of backend "
                + frontend.backend().name()
                + " is drained, disabled, removed or has weight 0; undrain, enable or weigh one";
    }
}
