package dev.tidegate.bench.sim;

import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.util.random.RandomGenerator;

/**
 * Two choices, of which one is drawn and the other is the endpoint that a connection has left last: the less loaded of them
 * is picked, ties by chance. An endpoint that has just lost a connection is likely to have fewer than its siblings; that it
 * lost one also says that it gets on with its work, which the counts of one balancer among many do not say. Who loses a tie
 * is kept for the next pick. Where nothing was left lately, both are drawn.
 *
 * <p>A trial, not a choice of the configuration: docs/simulation.md says what it gains and where it fails. Related to
 * join-idle-queue (Lu, Xie, Kliot, Geller, Larus and Greenberg, 2011), which keeps who is idle; connections seldom leave an
 * endpoint idle.
 *
 * <p>Confined to one thread.
 */
final class LastReleasedPicker implements Picker, Attentive {
    /** Those kept, the latest first. More bring nothing: what was left long ago has been given others since. */
    private static final int KEPT = 8;

    private final int draws;
    private final int recalls;
    private final Look look;
    private final int[] kept = new int[KEPT]; // a ring: what is pushed last is taken first, the oldest is lost
    private int top;
    private int size;

    /**
     * @param draws by weight
     * @param recalls of those that were left last
     */
    LastReleasedPicker(int draws, int recalls) {
        this.draws = draws;
        this.recalls = recalls;
        look = new Look(draws + recalls);
    }

    @Override
    public int pick(EndpointList endpoints, Tried tried, RandomGenerator random) {
        look.begin(endpoints, tried, random);
        while (size > 0 && look.count() < recalls) {
            look.tryAdd(pop());
        }
        int wanted = Math.max(2, look.count() + draws);
        for (int i = look.count(); i < wanted; i++) {
            look.draw();
        }
        if (look.count() == 0) {
            return NONE;
        }
        int best = look.least();
        for (int i = 0; i < look.count(); i++) {
            if (i != best && look.load(i) == look.load(best)) {
                push(look.at(i));
            }
        }
        return look.at(best);
    }

    @Override
    public void onGiven(int index, long nowNanos) {}

    @Override
    public void onDone(int index, long givenNanos, long nowNanos) {
        push(index);
    }

    private void push(int index) {
        top = (top + 1) % KEPT;
        kept[top] = index;
        size = Math.min(size + 1, KEPT);
    }

    private int pop() {
        int index = kept[top];
        top = (top + KEPT - 1) % KEPT;
        size--;
        return index;
    }
}
