package dev.tidegate.bench;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A ratio to the bare forwarder on the same transport that Tidegate is to stay within: the median of the rounds of one trial,
 * CPU for each unit. What is above 1 is Tidegate's own work. Immutable.
 */
record BareTarget(Trial trial, Transport transport) {
    private static final double MUST = 1.10;
    private static final double AIM = 1.00;
    /** In the others latency is what is asked, or what Tidegate watches is more than the bare forwarder could. */
    private static final Set<Scenario> OF =
            EnumSet.of(Scenario.SMALL, Scenario.CONNECT, Scenario.BULK, Scenario.UPLOAD);

    /** Those that these trials tell something of. */
    static List<BareTarget> of(List<Trial> trials) {
        return trials.stream()
                .filter(trial -> OF.contains(trial.scenario()))
                .flatMap(trial -> Arrays.stream(Transport.values()).map(transport -> new BareTarget(trial, transport)))
                .toList();
    }

    /** Tidegate over bare; unknown unless both ran on this transport. */
    Spread ratio(Measurements measured) {
        return measured.ratio(
                trial,
                NettySubject.tidegate(transport).name(),
                NettySubject.bare(transport).name(),
                result -> result.cpuMicrosPer(trial.scenario().perUnit()));
    }

    /** The row of the table: how it stands. */
    List<String> row(Spread ratio) {
        return List.of(
                "CPU of a " + trial.scenario().unit() + ", `" + trial.word() + "`",
                transport.word(),
                ratio.range(2),
                Target.stand(ratio.median(), MUST),
                Target.stand(ratio.median(), AIM));
    }
}
