package dev.tidegate.control;

import dev.tidegate.config.Config;
import dev.tidegate.model.Snapshot;

/** What is in force: the configuration, what operators have changed since, the snapshot made of both. Written by control, read by any thread. */
final class InForce {
    private volatile Config config; // writer: control
    private volatile RuntimeState runtime; // writer: control
    private volatile Snapshot snapshot; // writer: control

    InForce(Config config, RuntimeState runtime, Snapshot snapshot) {
        this.config = config;
        this.runtime = runtime;
        this.snapshot = snapshot;
    }

    Config config() {
        return config;
    }

    RuntimeState runtime() {
        return runtime;
    }

    Snapshot snapshot() {
        return snapshot;
    }

    /** From the moment of the last store on, new connections follow it. */
    void publish(Config nowConfig, RuntimeState nowRuntime, Snapshot nowSnapshot) {
        config = nowConfig;
        runtime = nowRuntime;
        snapshot = nowSnapshot;
    }
}
