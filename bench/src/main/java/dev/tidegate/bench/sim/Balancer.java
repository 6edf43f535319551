package dev.tidegate.bench.sim;

import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** One balancer: a production picker, and the counts of what it has given out itself. It sees nobody else's. */
final class Balancer {
    private final EndpointList endpoints;
    private final Picker picker;
    private final Attentive attentive; // null: the picker is none
    private final Chance chance;

    Balancer(int endpoints, Picker picker, Chance chance) {
        this(list(endpoints), picker, chance);
    }

    Balancer(EndpointList endpoints, Picker picker, Chance chance) {
        this.endpoints = endpoints;
        this.picker = picker;
        this.attentive = picker instanceof Attentive told ? told : null;
        this.chance = chance;
    }

    /** Endpoints of weight 1 without a limit. */
    static EndpointList list(int endpoints) {
        List<InetSocketAddress> somewhere = List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1));
        List<Endpoint> all = new ArrayList<>(endpoints);
        for (int i = 0; i < endpoints; i++) {
            String name = "e" + i;
            all.add(new Endpoint(name, 1, Integer.MAX_VALUE, new EndpointCell("simulated", name, i, somewhere)));
        }
        return new EndpointList(all);
    }

    EndpointList endpoints() {
        return endpoints;
    }

    /** Picks, and counts it in. */
    int give(long nowNanos) {
        int index = picker.pick(endpoints, Tried.NOTHING, chance);
        if (index == Picker.NONE || !endpoints.at(index).tryAcquire()) {
            throw new IllegalStateException("no candidate among " + endpoints.size() + " endpoints");
        }
        if (attentive != null) {
            attentive.onGiven(index, nowNanos);
        }
        return index;
    }

    /** Counts out what was given then. */
    void done(int index, long givenNanos, long nowNanos) {
        endpoints.at(index).cell().release();
        if (attentive != null) {
            attentive.onDone(index, givenNanos, nowNanos);
        }
    }

    /** Takes it that an endpoint has so many. */
    void believe(int index, int inFlight) {
        EndpointCell cell = endpoints.at(index).cell();
        for (int have = cell.inFlight(); have < inFlight; have++) {
            cell.tryAcquire(Integer.MAX_VALUE);
        }
        for (int have = cell.inFlight(); have > inFlight; have--) {
            cell.release();
        }
    }
}
