package dev.tidegate.control;

import dev.tidegate.config.Config;
import dev.tidegate.model.Snapshot;

/** The configuration in force and the snapshot made of it. Written by control, read by any thread. */
final class InForce {
    private volatile Config config; // writer: control
    private volatile Snapshot snapshot; // writer: control

    InForce(Config config, Snapshot snapshot) {
        this.config = config;
        this.snapshot = snapshot;
    }

    Config config() {
        return config;
    }

    Snapshot snapshot() {
        return snapshot;
    }

    /** From the moment of the second store on, new connections follow it. */
    void publish(Config nowConfig, Snapshot nowSnapshot) {
        config = nowConfig;
        snapshot = nowSnapshot;
    }
}
