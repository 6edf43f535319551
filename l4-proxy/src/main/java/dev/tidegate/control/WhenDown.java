package dev.tidegate.control;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.config.HealthConfig;
import dev.tidegate.model.Backend;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of the connections of an endpoint that checks say is down: they stay, are retired, or are cut, as
 * {@code on-down} says. In panic they stay in any case: when most endpoints seem dead, the checks may be what is wrong, and
 * connections that work are not to die of that.
 *
 * <p>Confined to control's thread.
 */
final class WhenDown implements Health.Aftermath {
    private static final Logger log = LoggerFactory.getLogger(WhenDown.class);

    private static final RetirePlan CUT = new RetirePlan(DrainMode.CUT, Optional.empty(), Duration.ofSeconds(1));

    private final InForce inForce;
    private final Operations operations;
    private final Map<EndpointCell, Operation> running = new HashMap<>();

    WhenDown(InForce inForce, Operations operations) {
        this.inForce = inForce;
        this.operations = operations;
    }

    @Override
    public void onDown(EndpointCell endpoint, HealthConfig.OnDown policy) {
        running.values().removeIf(operation -> !operation.running());
        if (policy == HealthConfig.OnDown.KEEP || endpoint.inFlight() == 0) {
            return;
        }
        if (inPanic(endpoint.backend())) {
            log.warn(
                    "connections stay: the backend is in panic backend={} endpoint={} connections={}",
                    endpoint.backend(),
                    endpoint.address(),
                    endpoint.inFlight());
            return;
        }
        running.put(
                endpoint,
                operations.begin(
                        Operation.Kind.DOWN,
                        "backends/" + endpoint.backend() + "/endpoints/" + endpoint.address(),
                        CloseReason.ENDPOINT_DOWN,
                        policy == HealthConfig.OnDown.CUT ? CUT : Reloader.PLAN,
                        dialed -> dialed == endpoint,
                        resident -> resident.endpoint() == endpoint));
    }

    /** Who has been told to leave still leaves. */
    @Override
    public void onAlive(EndpointCell endpoint) {
        Operation operation = running.remove(endpoint);
        if (operation != null) {
            operations.cancelUntold(operation);
        }
    }

    private boolean inPanic(String backend) {
        return inForce.snapshot().backends().stream()
                .filter(one -> one.name().equals(backend))
                .map(Backend::cell)
                .anyMatch(cell -> cell.panic());
    }
}
