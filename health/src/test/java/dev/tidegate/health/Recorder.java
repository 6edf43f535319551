package dev.tidegate.health;

import java.util.ArrayList;
import java.util.List;

/** Remembers what it is told. Any thread. */
public final class Recorder implements HealthListener {
    private final List<Told> told = new ArrayList<>();
    private int late;

    /** One call. */
    public record Told(String id, Condition before, Verdict verdict) {}

    @Override
    public synchronized void onVerdict(String id, Condition before, Verdict verdict) {
        told.add(new Told(id, before, verdict));
    }

    @Override
    public synchronized void onLate(String id, long lateNanos) {
        late++;
    }

    /** Checks that were late. */
    public synchronized int late() {
        return late;
    }

    /** All, in order. */
    public synchronized List<Told> told() {
        return List.copyOf(told);
    }

    /** Those of one target. */
    public List<Verdict> of(String id) {
        return told().stream().filter(t -> t.id().equals(id)).map(Told::verdict).toList();
    }

    /** The last of one target; UNKNOWN before the first. */
    public Condition condition(String id) {
        List<Verdict> verdicts = of(id);
        return verdicts.isEmpty()
                ? Condition.UNKNOWN
                : verdicts.get(verdicts.size() - 1).condition();
    }
}
