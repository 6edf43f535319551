package dev.tidegate.simulation;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.command.Command.RemovePolicy;
import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.control.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/** What the operator does to the balancer, and fate to the endpoints; each drawn when it is done. */
final class Deeds {
    private static final WriteContext OPERATOR = new WriteContext("simulation", OptionalLong.empty(), false);

    private final Proxy proxy;
    private final Settings settings;
    private final List<SimEndpoint> endpoints;
    private final RandomGenerator random;
    private final Notes notes;
    private final Judge judge;
    private int configured; // endpoints, from the first on

    Deeds(
            Proxy proxy,
            Settings settings,
            List<SimEndpoint> endpoints,
            int configured,
            RandomGenerator random,
            Notes notes,
            Judge judge) {
        this.proxy = proxy;
        this.settings = settings;
        this.endpoints = endpoints;
        this.configured = configured;
        this.random = random;
        this.notes = notes;
        this.judge = judge;
    }

    /** The operator gives a command, or a new configuration. */
    void operate() {
        Target.OfEndpoint one = new Target.OfEndpoint("back", "e" + random.nextInt(configured));
        Target target =
                switch (random.nextInt(4)) {
                    case 0 -> new Target.OfBackend("back");
                    default -> one;
                };
        switch (random.nextInt(9)) {
            case 0, 1 ->
                execute(new Command.Drain(
                        target,
                        random.nextBoolean()
                                ? Optional.of(Duration.ofMillis(1_000 + random.nextInt(3_000)))
                                : Optional.empty(),
                        Optional.of(Duration.ofMillis(random.nextInt(1_000))),
                        Optional.of(DrainMode.GRACEFUL)));
            case 2, 3 -> execute(new Command.Undrain(target));
            case 4 -> execute(random.nextBoolean() ? new Command.Disable(one) : new Command.Enable(one));
            case 5 -> execute(new Command.SetWeight(one, random.nextInt(4)));
            case 6 -> execute(new Command.Rebalance("back", Optional.of(Duration.ofMillis(500))));
            case 7 ->
                execute(
                        random.nextBoolean()
                                ? new Command.RemoveEndpoint(one, RemovePolicy.values()[random.nextInt(3)])
                                : addTheLast());
            default -> reload();
        }
    }

    private Command addTheLast() {
        int last = endpoints.size() - 1;
        return new Command.AddEndpoint(
                "back",
                "e" + last,
                "127.0.0.1:" + endpoints.get(last).address().getPort(),
                OptionalInt.of(1 + random.nextInt(3)),
                OptionalInt.of(settings.endpointMax()));
    }

    private void execute(Command command) {
        notes.add(command.toString());
        proxy.execute(command, OPERATOR).whenComplete((outcome, fault) -> {
            notes.add("  " + outcome);
            judge.hold(fault == null, () -> "a command failed by a fault of its own: " + fault);
        });
    }

    private void reload() {
        configured = 1 + random.nextInt(endpoints.size());
        notes.add("reload with " + configured + " endpoints");
        proxy.reload(settings.config(configured, 1 + random.nextInt(3)))
                .thenAccept(result -> notes.add("  " + result.result()));
    }

    /** An endpoint begins to fare otherwise. */
    void strike() {
        SimEndpoint.Mood[] moods = SimEndpoint.Mood.values();
        SimEndpoint endpoint = endpoints.get(random.nextInt(endpoints.size()));
        endpoint.become(random.nextInt(3) == 0 ? SimEndpoint.Mood.WELL : moods[random.nextInt(moods.length)]);
        notes.add("endpoint " + endpoint);
    }
}
