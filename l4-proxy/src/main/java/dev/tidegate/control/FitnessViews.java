package dev.tidegate.control;

import dev.tidegate.admin.view.BreakerView;
import dev.tidegate.admin.view.CheckView;
import dev.tidegate.admin.view.EjectionView;
import dev.tidegate.admin.view.HealthView;
import dev.tidegate.fitness.Standing;
import dev.tidegate.health.Verdict;
import dev.tidegate.health.Word;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** The fitness of endpoints as the admin API shows it. Any thread. */
final class FitnessViews {
    private final Health health;

    FitnessViews(Health health) {
        this.health = health;
    }

    /** The word of active checks; without any it is yes, and before the first it is no. */
    boolean up(Endpoint endpoint) {
        return isUp(endpoint.cell().fitness());
    }

    private static boolean isUp(Fitness fitness) {
        return !fitness.unfit(Unfit.DOWN) && !fitness.unfit(Unfit.NOT_READY) && !fitness.unfit(Unfit.UNCHECKED);
    }

    /** Why a pick does not choose it, in words; null when one may. */
    String whyNotPickable(Endpoint endpoint) {
        if (endpoint.pickable()) {
            return null;
        }
        EndpointCell cell = endpoint.cell();
        List<String> reasons = new ArrayList<>();
        if (cell.closed(Closed.DISABLED)) {
            reasons.add("disabled");
        }
        if (cell.closed(Closed.DRAINING)) {
            reasons.add("draining");
        }
        if (cell.closed(Closed.REMOVED)) {
            reasons.add("removed");
        }
        if (endpoint.weight() == 0) {
            reasons.add("weight 0");
        }
        if (!cell.resolved()) {
            reasons.add("its name is not resolved");
        }
        addVerdicts(cell, reasons);
        if (!endpoint.hasRoom()) {
            reasons.add("full: " + cell.inFlight() + " of " + endpoint.limit() + " connections");
        }
        return reasons.isEmpty() ? null : String.join("; ", reasons);
    }

    private void addVerdicts(EndpointCell cell, List<String> reasons) {
        Fitness fitness = cell.fitness();
        Standing standing = health.standing(cell);
        if (fitness.unfit(Unfit.UNCHECKED)) {
            reasons.add(unchecked(health.checked(cell)));
        }
        if (fitness.unfit(Unfit.DOWN) || fitness.unfit(Unfit.NOT_READY)) {
            reasons.add((fitness.unfit(Unfit.DOWN) ? "down" : "not ready")
                    + why(health.checked(cell), health.heldNanos(cell) > 0));
        }
        if (fitness.unfit(Unfit.EJECTED)) {
            reasons.add("ejected until " + standing.ejectedUntil() + ": " + standing.ejectedWhy());
        }
        if (fitness.unfit(Unfit.BREAKER_OPEN)) {
            reasons.add("its breaker is open");
        } else if (fitness.onTrial() && !fitness.fit()) {
            reasons.add("its breaker is half open, and all trials are under way");
        }
    }

    /** An endpoint whose checks find out nothing stays as it is; what is in their way has to be seen. */
    static String unchecked(Health.Checked checked) {
        return isVoid(checked) ? "not checked: " + checked.last().finding().detail() : "its first check is not over";
    }

    /** What the last check found, and if that is a pass, why it is not up all the same. */
    static String why(Health.Checked checked, boolean held) {
        Verdict last = checked == null ? null : checked.last();
        if (last == null) {
            return ", its first check is not over";
        }
        String found = ": " + last.finding().detail();
        return switch (last.finding().word()) {
            case VOID -> "; not checked since" + found;
            case PASS ->
                (held ? ", held down" : ", " + last.inRow() + " of " + last.needed() + " passes in a row") + found;
            case FAIL, NOT_READY -> found;
        };
    }

    private static boolean isVoid(Health.Checked checked) {
        return checked != null
                && checked.last() != null
                && checked.last().finding().word() == Word.VOID;
    }

    /** What checks say; null without any. */
    HealthView health(EndpointCell cell) {
        Health.Checked checked = health.checked(cell);
        if (checked == null) {
            return null;
        }
        List<CheckView> checks = new ArrayList<>();
        health.history(cell).forEach(verdict -> checks.add(check(verdict)));
        Collections.reverse(checks);
        Verdict last = checked.last();
        return new HealthView(
                checked.condition().word(),
                checked.since(),
                last == null ? 0 : last.inRow(),
                last == null ? 0 : last.needed(),
                health.heldNanos(cell) / 1_000_000,
                List.copyOf(checks));
    }

    private static CheckView check(Verdict verdict) {
        return new CheckView(
                verdict.time(),
                verdict.durationNanos() / 1_000_000,
                verdict.finding().word().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                verdict.finding().detail(),
                verdict.condition().word());
    }

    /** Its ejection; null when it is not ejected. */
    EjectionView ejection(EndpointCell cell) {
        Standing standing = health.standing(cell);
        return standing.ejectedUntil() == null
                ? null
                : new EjectionView(standing.ejectedUntil(), standing.ejectedWhy(), standing.ejections());
    }

    /** Its breaker; null when it has none. */
    BreakerView breaker(EndpointCell cell) {
        Standing standing = health.standing(cell);
        return standing.breaker() == null
                ? null
                : new BreakerView(standing.breaker().word(), standing.breakerUntil());
    }
}
