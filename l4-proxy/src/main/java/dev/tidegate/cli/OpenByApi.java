package dev.tidegate.cli;

import dev.tidegate.control.OpenConnections;
import java.util.HashMap;
import java.util.Map;

/**
 * Open connections as a running process counts them.
 *
 * @param frontends by name
 * @param endpoints by backend and address
 */
record OpenByApi(Map<String, Integer> frontends, Map<String, Integer> endpoints) implements OpenConnections {
    static OpenByApi ask(AdminClient client) throws UnreachableException, RefusedException {
        Map<String, Integer> frontends = new HashMap<>();
        Map<String, Integer> endpoints = new HashMap<>();
        for (Json frontend : client.get("/v1/frontends").items()) {
            frontends.put(frontend.text("name"), (int) frontend.number("connections"));
        }
        for (Json backend : client.get("/v1/backends").items()) {
            for (Json endpoint : backend.at("endpoints").elements()) {
                endpoints.merge(
                        key(backend.text("name"), endpoint.text("address")),
                        (int) endpoint.number("in_flight"),
                        Integer::sum);
            }
        }
        return new OpenByApi(frontends, endpoints);
    }

    private static String key(String backend, String address) {
        return backend + "/" + address;
    }

    @Override
    public int ofFrontend(String frontend) {
        return frontends.getOrDefault(frontend, 0);
    }

    @Override
    public int ofEndpoint(String backend, String address) {
        return endpoints.getOrDefault(key(backend, address), 0);
    }
}
