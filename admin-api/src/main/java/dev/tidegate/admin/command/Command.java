package dev.tidegate.admin.command;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;

/** One write. What is left empty takes the default that the running proxy has for it. Immutable. */
public sealed interface Command {
    /** How a drain treats the connections that are there. */
    enum DrainMode {
        /** They leave by themselves. */
        WAIT,
        /** They are retired, and cut only at a deadline. */
        GRACEFUL,
        /** They are reset, paced. */
        CUT;

        /** The word in requests and answers. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** What becomes of the connections of a removed endpoint. */
    enum RemovePolicy {
        /** They are retired. */
        DRAIN,
        /** They stay until they end by themselves. */
        KEEP,
        /** They are reset, paced. */
        CUT;

        /** The word in requests. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** How one connection is ended. */
    enum CloseMode {
        /** At its next quiet moment, within its grace. */
        GRACEFUL,
        /** Now, by a reset. */
        ABORT;

        /** The word in requests. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** How much is logged. */
    enum LogLevel {
        /** Errors only. */
        ERROR,
        /** And warnings. */
        WARN,
        /** And what an operator wants to know. */
        INFO,
        /** And what a developer wants to know. */
        DEBUG,
        /** And everything else. */
        TRACE;

        /** The word in requests and answers. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * No new picks, from the moment this is done; connections leave as the mode says.
     *
     * @param target what
     * @param deadline when the last connection is cut; empty: nothing is cut
     * @param spread over how long starts of retirements are spread; not longer than the deadline
     * @param mode empty: wait when neither deadline nor spread is given, graceful otherwise
     */
    record Drain(Target target, Optional<Duration> deadline, Optional<Duration> spread, Optional<DrainMode> mode)
            implements Command {}

    /**
     * Takes a drain back: connections not yet told to leave stay.
     *
     * @param target what
     */
    record Undrain(Target target) implements Command {}

    /**
     * No new picks until it is enabled; connections stay.
     *
     * @param endpoint which
     */
    record Disable(Target.OfEndpoint endpoint) implements Command {}

    /**
     * Takes a disable back.
     *
     * @param endpoint which
     */
    record Enable(Target.OfEndpoint endpoint) implements Command {}

    /**
     * Gives an endpoint a weight at run time, beside the configured one.
     *
     * @param endpoint which
     * @param weight 0 to 1000; 0: no new connections
     */
    record SetWeight(Target.OfEndpoint endpoint, int weight) implements Command {}

    /**
     * Back to the configured weight.
     *
     * @param endpoint which
     */
    record ResetWeight(Target.OfEndpoint endpoint) implements Command {}

    /**
     * Adds an endpoint at run time.
     *
     * @param backend to which backend
     * @param name unique in it
     * @param address {@code HOST:PORT}, in the configuration's words
     * @param weight 0 to 1000; empty: 1
     * @param maxConnections 1 or more; empty: unlimited
     */
    record AddEndpoint(String backend, String name, String address, OptionalInt weight, OptionalInt maxConnections)
            implements Command {}

    /**
     * Removes an endpoint at run time, also one that the configuration file has.
     *
     * @param endpoint which
     * @param policy what becomes of its connections
     */
    record RemoveEndpoint(Target.OfEndpoint endpoint, RemovePolicy policy) implements Command {}

    /**
     * Retires what each endpoint has above its fair share.
     *
     * @param backend which backend
     * @param spread over how long
     */
    record Rebalance(String backend, Optional<Duration> spread) implements Command {}

    /**
     * Ends one connection.
     *
     * @param id as the list of connections shows it
     * @param mode how
     */
    record CloseConnection(String id, CloseMode mode) implements Command {}

    /** Reads the configuration file again and puts it in force. */
    record Reload() implements Command {}

    /** Has another process take over: the same program with the same arguments, as they are on the disk now. */
    record Upgrade() implements Command {}

    /**
     * Changes how much is logged, until the configured value changes.
     *
     * @param level how much
     */
    record SetLogLevel(LogLevel level) implements Command {}
}
