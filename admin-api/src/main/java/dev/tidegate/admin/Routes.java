package dev.tidegate.admin;

import static dev.tidegate.admin.Field.optional;
import static dev.tidegate.admin.Field.required;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.view.BackendView;
import dev.tidegate.admin.view.ConnectionView;
import dev.tidegate.admin.view.DiffView;
import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.LogLevelView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.ReadinessView;
import dev.tidegate.admin.view.StatusView;
import dev.tidegate.admin.view.UpgradeView;
import io.netty.handler.codec.http.HttpMethod;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * The table of all calls. What is not here does not exist; the API's description is made from it.
 */
final class Routes {
    private static final String ENDPOINT = "/v1/backends/{backend}/endpoints/{endpoint}";
    private static final int NAME_CHARS = 255;
    private static final Kind NAME = Kind.text(NAME_CHARS);
    private static final Kind WEIGHT = Kind.integer(0, 1000);

    private final Reads reads;
    private final Writes writes;
    private final List<Route> table = new ArrayList<>();

    private Routes(ProxyOperations operations, Executor loop, Scrapes scrapes) {
        this.reads = new Reads(operations, loop, scrapes);
        this.writes = new Writes(operations);
    }

    /**
     * All calls, in the order of the API's description.
     *
     * @param loop carries out tasks on the admin loop, where answers are made
     * @param scrapes where metrics are made
     */
    static List<Route> of(ProxyOperations operations, Executor loop, Scrapes scrapes) {
        Routes routes = new Routes(operations, loop, scrapes);
        routes.addProbes();
        routes.addProcess();
        routes.addFrontends();
        routes.addBackends();
        routes.addEndpoints();
        routes.addConnections();
        routes.addProgress();
        routes.addDescription();
        return List.copyOf(routes.table);
    }

    private void addProbes() {
        table.add(Route.get("/livez", Role.ANYONE, "livez", "Answers while the process serves at all", reads::livez)
                .reply(200, new Shape.Text("text/plain"), "It lives"));
        table.add(Route.get("/readyz", Role.ANYONE, "readyz", "Whether connections should be sent here", reads::readyz)
                .query(optional("frontend", NAME, "look at this frontend alone"))
                .reply(200, new Shape.One(ReadinessView.class), "They should")
                .reply(503, new Shape.One(ReadinessView.class), "They should not; the body says why"));
        table.add(Route.get(
                        "/metrics",
                        Role.VIEWER,
                        "metrics",
                        "All metrics, as Prometheus text or OpenMetrics",
                        reads::metrics)
                .openOnLoopback()
                .reply(200, new Shape.Text("text/plain"), "Metrics"));
        table.add(Route.get("/", Role.ANYONE, "statusPage", "The status page; it has no data of its own", reads::page)
                .reply(200, new Shape.Text("text/html"), "A page"));
    }

    private void addProcess() {
        table.add(Route.get(
                        "/v1/status",
                        Role.VIEWER,
                        "status",
                        "The process: version, workers, generation, drains",
                        reads::status)
                .reply(200, new Shape.One(StatusView.class), "The process as it is now"));
        table.add(Route.get(
                        "/v1/config",
                        Role.VIEWER,
                        "config",
                        "The configuration in force, secrets masked",
                        reads::config)
                .reply(200, new Shape.Free(), "As the file would have it"));
        table.add(drain(
                "/v1/drain",
                "drainProcess",
                "Lame duck: readyz turns 503, what is open now is retired, listeners stay",
                writes::drainProcess));
        table.add(undrain("/v1/drain", "undrainProcess", writes::undrainProcess));
        table.add(write(
                HttpMethod.POST,
                "/v1/reload",
                Role.ADMIN,
                "reload",
                "Reads the configuration file and puts it in force: all of it, or nothing",
                writes::reload));
        table.add(Route.get("/v1/upgrade", Role.VIEWER, "upgradeState", "How the last upgrade stands", reads::upgrade)
                .reply(200, new Shape.One(UpgradeView.class), "Its state, and the process that answers"));
        table.add(write(
                        HttpMethod.POST,
                        "/v1/upgrade",
                        Role.ADMIN,
                        "upgrade",
                        "Starts the program anew, which takes over the listeners; this process then drains and ends",
                        writes::upgrade)
                .reply(200, new Shape.One(UpgradeView.class), "Begun; GET tells how it goes on"));
        table.add(Route.get("/v1/log-level", Role.VIEWER, "logLevel", "How much is logged", reads::logLevel)
                .reply(200, new Shape.One(LogLevelView.class), "The level"));
        table.add(write(
                        HttpMethod.PUT,
                        "/v1/log-level",
                        Role.ADMIN,
                        "setLogLevel",
                        "Changes how much is logged",
                        writes::setLogLevel)
                .body(required("level", words(Command.LogLevel.values()), "how much"))
                .reply(200, new Shape.One(LogLevelView.class), "The level now"));
    }

    private void addFrontends() {
        table.add(Route.get("/v1/frontends", Role.VIEWER, "frontends", "All frontends", reads::frontends)
                .reply(200, new Shape.ListOf(FrontendView.class), "In the order of the configuration"));
        table.add(Route.get("/v1/frontends/{frontend}", Role.VIEWER, "frontend", "One frontend", reads::frontend)
                .reply(200, new Shape.One(FrontendView.class), "The frontend"));
        table.add(drain(
                "/v1/frontends/{frontend}/drain",
                "drainFrontend",
                "Closes its listeners and retires its connections",
                writes::drainFrontend));
        table.add(undrain("/v1/frontends/{frontend}/drain", "undrainFrontend", writes::undrainFrontend));
    }

    private void addBackends() {
        table.add(
                Route.get("/v1/backends", Role.VIEWER, "backends", "All backends with their endpoints", reads::backends)
                        .reply(200, new Shape.ListOf(BackendView.class), "In the order of the configuration"));
        table.add(Route.get(
                        "/v1/backends/{backend}",
                        Role.VIEWER,
                        "backend",
                        "One backend with its endpoints",
                        reads::backend)
                .reply(200, new Shape.One(BackendView.class), "The backend"));
        table.add(drain(
                "/v1/backends/{backend}/drain", "drainBackend", "Drains all its endpoints", writes::drainBackend));
        table.add(undrain("/v1/backends/{backend}/drain", "undrainBackend", writes::undrainBackend));
        table.add(write(
                        HttpMethod.POST,
                        "/v1/backends/{backend}/rebalance",
                        Role.OPERATOR,
                        "rebalance",
                        "Retires what endpoints have above their fair share, quiet and old first",
                        writes::rebalance)
                .body(optional("spread", Kind.duration(), "over how long"))
                .reply(202, new Shape.One(OperationView.class), "Begun; Location is its progress"));
    }

    private void addEndpoints() {
        table.add(Route.get(
                        "/v1/backends/{backend}/endpoints",
                        Role.VIEWER,
                        "endpoints",
                        "A backend's endpoints",
                        reads::endpoints)
                .reply(200, new Shape.ListOf(EndpointView.class), "In the order of the configuration"));
        table.add(write(
                        HttpMethod.POST,
                        "/v1/backends/{backend}/endpoints",
                        Role.ADMIN,
                        "addEndpoint",
                        "Adds an endpoint",
                        writes::addEndpoint)
                .body(
                        optional("name", NAME, "unique in its backend; the address if absent"),
                        required("address", Kind.text(300), "HOST:PORT, as in the configuration"),
                        optional("weight", WEIGHT, "1 if absent; 0: no new connections"),
                        optional("max_connections", Kind.integer(1, Integer.MAX_VALUE), "unlimited if absent"))
                .reply(201, new Shape.One(EndpointView.class), "Added; Location is the endpoint"));
        table.add(Route.get(
                        ENDPOINT,
                        Role.VIEWER,
                        "endpoint",
                        "One endpoint, configured and runtime values side by side",
                        reads::endpoint)
                .reply(200, new Shape.One(EndpointView.class), "The endpoint"));
        table.add(write(
                        HttpMethod.DELETE,
                        ENDPOINT,
                        Role.ADMIN,
                        "removeEndpoint",
                        "Removes an endpoint; no new picks from then on",
                        writes::removeEndpoint)
                .query(optional(
                        "policy",
                        words(Command.RemovePolicy.values()),
                        "what becomes of its connections; drain if absent"))
                .reply(
                        202,
                        new Shape.One(OperationView.class),
                        "Removed, its connections leave; Location is their progress")
                .reply(204, new Shape.None(), "Removed, nothing is left to do"));
        table.add(drain(
                ENDPOINT + "/drain",
                "drainEndpoint",
                "No new picks from the moment this answers; connections leave as the mode says",
                writes::drainEndpoint));
        table.add(undrain(ENDPOINT + "/drain", "undrainEndpoint", writes::undrainEndpoint));
        table.add(write(
                        HttpMethod.POST,
                        ENDPOINT + "/disable",
                        Role.OPERATOR,
                        "disableEndpoint",
                        "No new picks; connections stay",
                        writes::disable)
                .reply(200, new Shape.One(EndpointView.class), "The endpoint as it is now"));
        table.add(write(
                        HttpMethod.DELETE,
                        ENDPOINT + "/disable",
                        Role.OPERATOR,
                        "enableEndpoint",
                        "Takes a disable back",
                        writes::enable)
                .reply(200, new Shape.One(EndpointView.class), "The endpoint as it is now"));
        table.add(write(
                        HttpMethod.PUT,
                        ENDPOINT + "/weight",
                        Role.OPERATOR,
                        "setWeight",
                        "Sets the runtime weight, beside the configured one",
                        writes::setWeight)
                .body(required("weight", WEIGHT, "0: no new connections"))
                .reply(200, new Shape.One(EndpointView.class), "The endpoint as it is now"));
        table.add(write(
                        HttpMethod.DELETE,
                        ENDPOINT + "/weight",
                        Role.OPERATOR,
                        "resetWeight",
                        "Back to the configured weight",
                        writes::resetWeight)
                .reply(200, new Shape.One(EndpointView.class), "The endpoint as it is now"));
    }

    private void addConnections() {
        table.add(Route.get(
                        "/v1/connections",
                        Role.VIEWER,
                        "connections",
                        "Open connections, the oldest first",
                        reads::connections)
                .query(
                        optional("frontend", NAME, "of this frontend only"),
                        optional("backend", NAME, "of this backend only"),
                        optional("endpoint", NAME, "on this endpoint only"),
                        optional("limit", Kind.integer(1, 1000), "the most to list; 100 if absent"))
                .reply(200, new Shape.ListOf(ConnectionView.class), "The first of them; total counts all"));
        table.add(write(
                        HttpMethod.DELETE,
                        "/v1/connections/{id}",
                        Role.OPERATOR,
                        "closeConnection",
                        "Ends one connection",
                        writes::closeConnection)
                .query(optional(
                        "mode",
                        words(Command.CloseMode.values()),
                        "at a quiet moment, or by a reset now; graceful if absent"))
                .reply(202, new Shape.One(OperationView.class), "It will end; Location is its progress")
                .reply(204, new Shape.None(), "Ended"));
    }

    private void addProgress() {
        table.add(Route.get(
                        "/v1/operations",
                        Role.VIEWER,
                        "operations",
                        "What takes time: under way, and ended last",
                        reads::operations)
                .reply(200, new Shape.ListOf(OperationView.class), "The newest first"));
        table.add(Route.get(
                        "/v1/operations/{id}",
                        Role.VIEWER,
                        "operation",
                        "The progress of one operation",
                        reads::operation)
                .reply(200, new Shape.One(OperationView.class), "Its progress"));
        table.add(Route.get(
                        "/v1/events",
                        Role.VIEWER,
                        "events",
                        "Changes of state as server-sent events, from now on",
                        reads::events)
                .query(
                        optional("recent", Kind.integer(0, 1000), "tell so many of the last ones first"),
                        optional(
                                "stats",
                                Kind.duration(),
                                "tell {status, frontends, backends} too, as events named stats, so often; 250ms or more"))
                .reply(
                        200,
                        new Shape.Text("text/event-stream"),
                        "Each has id, event (its type) and data (an EventView as JSON)"));
    }

    private void addDescription() {
        table.add(Route.get(
                        "/openapi.json",
                        Role.VIEWER,
                        "openapi",
                        "This description",
                        call -> Reads.now(Answer.json(
                                io.netty.handler.codec.http.HttpResponseStatus.OK, OpenApi.document(table))))
                .reply(200, new Shape.Free(), "OpenAPI 3.1"));
    }

    private static Route write(
            HttpMethod method, String template, Role role, String id, String summary, Route.Handler handler) {
        return Route.write(method, template, role, id, summary, handler)
                .reply(200, new Shape.One(DiffView.class), "What it changed, or, of a dry run, what it would");
    }

    private static Route drain(String template, String id, String summary, Route.Handler handler) {
        return write(HttpMethod.POST, template, Role.OPERATOR, id, summary, handler)
                .body(
                        optional(
                                "deadline", Kind.duration(), "when the last connection is cut; absent: nothing is cut"),
                        optional(
                                "spread",
                                Kind.duration(),
                                "over how long the starts of retirements are spread; not longer than the deadline"),
                        optional(
                                "mode",
                                words(Command.DrainMode.values()),
                                "absent: wait without deadline and spread, graceful otherwise"))
                .reply(202, new Shape.One(OperationView.class), "Begun; Location is its progress");
    }

    private static Route undrain(String template, String id, Route.Handler handler) {
        return write(
                        HttpMethod.DELETE,
                        template,
                        Role.OPERATOR,
                        id,
                        "Takes a drain back; connections not yet told to leave stay",
                        handler)
                .reply(204, new Shape.None(), "Taken back");
    }

    private static Kind words(Enum<?>[] constants) {
        return Kind.words(Arrays.stream(constants)
                .map(constant -> constant.name().toLowerCase(java.util.Locale.ROOT))
                .toList());
    }
}
