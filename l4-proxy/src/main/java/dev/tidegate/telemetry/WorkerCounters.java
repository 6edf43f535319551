package dev.tidegate.telemetry;

import dev.tidegate.model.Side;
import java.util.Arrays;

/**
 * All that one worker counts. Rows are found by slot, so that a hot path holds its row in a field and adds plainly.
 *
 * <p>Written by its worker; read by any thread, approximately.
 */
public final class WorkerCounters {
    private final int worker;
    private final long[] paused = new long[Side.values().length];
    private final Histogram turns = Histogram.ofTurns();
    private volatile FrontendRow[] frontends = {}; // writer: the worker
    private volatile BackendRow[] backends = {}; // writer: the worker
    private volatile EndpointRow[] endpoints = {}; // writer: the worker
    private volatile int connections; // writer: the worker

    /**
     * @param worker the worker's number, from 0
     */
    public WorkerCounters(int worker) {
        this.worker = worker;
    }

    /** The worker's number. */
    public int worker() {
        return worker;
    }

    /** The row of a frontend, made when first asked for. Called by the worker only. */
    public FrontendRow frontend(int slot) {
        FrontendRow[] rows = frontends;
        if (slot < rows.length && rows[slot] != null) {
            return rows[slot];
        }
        rows = Arrays.copyOf(rows, Math.max(rows.length, slot + 1));
        rows[slot] = new FrontendRow();
        frontends = rows;
        return rows[slot];
    }

    /** The row of a backend, made when first asked for. Called by the worker only. */
    public BackendRow backend(int slot) {
        BackendRow[] rows = backends;
        if (slot < rows.length && rows[slot] != null) {
            return rows[slot];
        }
        rows = Arrays.copyOf(rows, Math.max(rows.length, slot + 1));
        rows[slot] = new BackendRow();
        backends = rows;
        return rows[slot];
    }

    /** The row of an endpoint, made when first asked for. Called by the worker only. */
    public EndpointRow endpoint(int slot) {
        EndpointRow[] rows = endpoints;
        if (slot < rows.length && rows[slot] != null) {
            return rows[slot];
        }
        rows = Arrays.copyOf(rows, Math.max(rows.length, slot + 1));
        rows[slot] = new EndpointRow();
        endpoints = rows;
        return rows[slot];
    }

    /**
     * Drops the row of an endpoint that is gone, so that its place may be given to another. Called by the worker only, when
     * nothing on it can count for that endpoint any more.
     */
    public void forgetEndpoint(int slot) {
        if (slot < endpoints.length && endpoints[slot] != null) {
            EndpointRow[] rows = endpoints.clone();
            rows[slot] = null;
            endpoints = rows;
        }
    }

    /** Counts a pause of reading from a side. */
    public void countPaused(Side side) {
        paused[side.ordinal()]++;
    }

    /** Times reading from a side was paused. */
    public long paused(Side side) {
        return paused[side.ordinal()];
    }

    /** Turns of the event loop, by the time they spent on I/O. */
    public Histogram turns() {
        return turns;
    }

    /** Says how many connections the worker has now. Called by the worker only. */
    public void connections(int now) {
        connections = now;
    }

    /** Connections on the worker. */
    public int connections() {
        return connections;
    }

    /** The row of a frontend for a reader; null when this worker has none. */
    public FrontendRow readFrontend(int slot) {
        FrontendRow[] rows = frontends;
        return slot < rows.length ? rows[slot] : null;
    }

    /** The row of a backend for a reader; null when this worker has none. */
    public BackendRow readBackend(int slot) {
        BackendRow[] rows = backends;
        return slot < rows.length ? rows[slot] : null;
    }

    /** The row of an endpoint for a reader; null when this worker has none. */
    public EndpointRow readEndpoint(int slot) {
        EndpointRow[] rows = endpoints;
        return slot < rows.length ? rows[slot] : null;
    }
}
