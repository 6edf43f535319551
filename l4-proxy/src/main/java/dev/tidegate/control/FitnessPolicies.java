package dev.tidegate.control;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.BreakerConfig;
import dev.tidegate.config.HealthConfig;
import dev.tidegate.config.OutlierConfig;
import dev.tidegate.config.SlowStartConfig;
import dev.tidegate.fitness.FitnessPolicy;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Fitness.Unfit;
import java.time.Duration;
import java.util.Optional;

/** Makes the policy that endpoints are judged by of what the configuration says. Pure; any thread. */
final class FitnessPolicies {
    private FitnessPolicies() {}

    static FitnessPolicy of(BackendConfig backend) {
        return new FitnessPolicy(
                backend.health().isPresent(),
                backend.health().flatMap(FitnessPolicies::initial),
                backend.outlier().map(FitnessPolicies::outlier),
                backend.breaker().map(FitnessPolicies::breaker),
                backend.slowStart().map(FitnessPolicies::slowStart),
                new FitnessPolicy.Panic(
                        backend.panic().thresholdPercent(), backend.panic().spread()));
    }

    private static Optional<Unfit> initial(HealthConfig health) {
        return switch (health.initial()) {
            case UP -> Optional.empty();
            case DOWN -> Optional.of(Unfit.DOWN);
            case UNKNOWN -> Optional.of(Unfit.UNCHECKED);
        };
    }

    private static FitnessPolicy.Outlier outlier(OutlierConfig config) {
        return new FitnessPolicy.Outlier(
                config.consecutiveFailures(),
                config.failureRatePercent().orElse(0),
                config.minConnections(),
                config.interval().toNanos(),
                config.firstByte().map(Duration::toNanos).orElse(EndpointWatch.ANY_TIME),
                config.ejection().toNanos(),
                config.maxEjection().toNanos(),
                config.maxEjectedPercent());
    }

    private static FitnessPolicy.Breaker breaker(BreakerConfig config) {
        return new FitnessPolicy.Breaker(
                config.consecutiveFailures(), config.open().toNanos(), config.trials());
    }

    private static FitnessPolicy.SlowStart slowStart(SlowStartConfig config) {
        return new FitnessPolicy.SlowStart(config.window().toNanos(), config.aggression(), config.minWeightPercent());
    }
}
