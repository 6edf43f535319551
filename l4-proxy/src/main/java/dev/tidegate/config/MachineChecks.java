package dev.tidegate.config;

import java.util.Optional;

/**
 * Tells of checks that could not be carried out on this machine: no endpoint would ever be up or down by them. Warnings,
 * since the configuration may be meant for another one. Confined to the thread that reads.
 */
final class MachineChecks {
    private static final String HINT = "mend it, or ask on the machine that tidegate runs on";

    private final Problems problems;
    private final Machine machine;

    MachineChecks(Problems problems, Machine machine) {
        this.problems = problems;
        this.machine = machine;
    }

    void run(Values health) {
        Optional<CheckType> type = health.value(HealthKeys.TYPE);
        if (type.equals(Optional.of(CheckType.TLS))) {
            health.given(HealthKeys.CA).ifPresent(ca -> warn(ca, machine.troubleWithCa(ca.value())));
        }
        if (type.equals(Optional.of(CheckType.EXEC))) {
            health.given(HealthKeys.COMMAND)
                    .filter(command -> !command.value().isEmpty())
                    .map(command -> command.value().get(0))
                    .ifPresent(program -> warn(program, machine.troubleWithProgram(program.value())));
        }
        health.given(HealthKeys.SOURCE)
                .filter(source -> !machine.hasAddress(source.value()))
                .ifPresent(source -> warn(source, Optional.of(source.value() + " is no address of this machine")));
    }

    private void warn(Located<?> place, Optional<String> trouble) {
        trouble.ifPresent(words ->
                problems.warning(place.mark(), place.path(), words + ", so that no check can be carried out", HINT));
    }
}
