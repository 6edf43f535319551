package dev.tidegate.bench.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A picker of our own: is there one that knows as little as the power of two and queues nearly as little as
 * least-connections? Tried on {@link ChapterLoad}, with one balancer and with eight that do not see each other, and on 100
 * endpoints.
 */
final class OwnPicker implements Experiment {
    private static final double AIM = 1.25;
    private static final int BLIND = 8;

    /**
     * A picker on trial.
     *
     * @param looks how many endpoints one pick looks at; 0: all
     */
    private record Trial(Choice choice, int looks) {}

    private static final Trial LEAST = new Trial(Choice.LEAST_CONNECTIONS, 0);
    private static final Trial CHOSEN = new Trial(Choice.LAST_RELEASED, 2);
    private static final List<Trial> TRIALS = List.of(
            LEAST,
            new Trial(Choice.POWER_OF_TWO, 2),
            new Trial(Choice.powerOf(3), 3),
            new Trial(Choice.powerOf(4), 4),
            recall(1, 1),
            recall(2, 1),
            recall(2, 2),
            CHOSEN,
            released(2, 1),
            released(2, 2));

    private record Result(Trial trial, ChapterLoad.Result alone, ChapterLoad.Result blind, double many) {}

    private static Trial recall(int draws, int recalls) {
        return new Trial(
                new Choice("%d drawn, %d remembered".formatted(draws, recalls), i -> new RecallPicker(draws, recalls)),
                draws + recalls);
    }

    private static Trial released(int draws, int recalls) {
        return new Trial(
                new Choice(
                        "%d drawn, %d last released".formatted(draws, recalls),
                        i -> new LastReleasedPicker(draws, recalls)),
                draws + recalls);
    }

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        section.head(
                "picker",
                "looks a pick",
                "p99 of queueing, ms",
                "of least-connections'",
                "p99, 8 balancers",
                "of least-connections'",
                "E[T], 100 endpoints, λ = 0.9");
        List<Result> results = new ArrayList<>();
        for (Trial trial : TRIALS) {
            Result result = run(section, trial, scale);
            results.add(result);
            ChapterLoad.Result alone = results.get(0).alone();
            ChapterLoad.Result blind = results.get(0).blind();
            section.row(
                    trial.choice().name(),
                    trial.looks() == 0 ? "all" : Integer.toString(trial.looks()),
                    FourPolicies.text(result.alone().p99()),
                    ratio(result.alone(), alone),
                    FourPolicies.text(result.blind().p99()),
                    ratio(result.blind(), blind),
                    Figure.number(result.many()));
        }
        Result least = results.get(0);
        Result two = results.get(1);
        Result chosen = results.get(TRIALS.indexOf(CHOSEN));
        return section.end()
                .add(Figure.atMost("ours", "ours: p99 over least-connections'", AIM, of(chosen.alone(), least.alone())))
                .add(Figure.atMost(
                        "ours",
                        "8 balancers: p99 over that of least-connections with 8 balancers",
                        AIM,
                        of(chosen.blind(), least.blind())))
                .add(Figure.atMost(
                        "ours",
                        "8 balancers: p99 over that of one least-connections that sees all",
                        AIM,
                        of(chosen.blind(), least.alone())))
                .add(Figure.rising(
                        "ours",
                        "p99: ours, power-of-two",
                        "ours < two",
                        chosen.alone().p99().mean(),
                        two.alone().p99().mean()));
    }

    private static Result run(Section section, Trial trial, Scale scale) {
        ChapterLoad.Result alone = ChapterLoad.run(trial.choice(), 1, scale.seeds());
        ChapterLoad.Result blind = ChapterLoad.run(trial.choice(), BLIND, scale.seeds());
        Outcome many = Farm.run(
                Farm.Plan.of(100, 90, Work.exponential(1), trial.choice().picker(), scale.jobs(1e6)), 1);
        section.count(alone.events() + blind.events() + many.events());
        return new Result(trial, alone, blind, many.sojourn());
    }

    private static double of(ChapterLoad.Result one, ChapterLoad.Result other) {
        return one.p99().mean() / other.p99().mean();
    }

    private static String ratio(ChapterLoad.Result one, ChapterLoad.Result other) {
        return String.format(Locale.ROOT, "%.2f", of(one, other));
    }
}
