package dev.tidegate.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A client that asks one thing a connection, with a token if it has one. */
record Asker(InetSocketAddress address, String token) {
    /** What came back. */
    record Answered(int status, Map<String, String> headers, String body) {
        String header(String name) {
            return headers.get(name);
        }

        JsonNode json() throws IOException {
            return Json.MAPPER.readTree(body);
        }

        static Answered of(String response) throws IOException {
            int end = response.indexOf("\r\n\r\n");
            if (!response.startsWith("HTTP/1.1 ") || end < 0) {
                throw new IOException("no answer: " + response);
            }
            String[] lines = response.substring(0, end).split("\r\n", -1);
            Map<String, String> headers = new TreeMap<>();
            for (int i = 1; i < lines.length; i++) {
                int colon = lines[i].indexOf(':');
                headers.put(lines[i].substring(0, colon).toLowerCase(Locale.ROOT), lines[i].substring(colon + 2));
            }
            String body = new String(
                    response.substring(end + 4).getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
            return new Answered(Integer.parseInt(lines[0].split(" ", -1)[1]), headers, body);
        }
    }

    Answered get(String target) throws IOException {
        return ask("GET", target, "");
    }

    /** With a JSON body, if it is not empty. */
    Answered ask(String method, String target, String body, String... headers) throws IOException {
        try (RawClient client = new RawClient(address)) {
            client.send(request(method, target, body, headers));
            return Answered.of(client.readToEnd());
        }
    }

    /** The head alone, of what may go on for ever. */
    Answered head(String method, String target, String body) throws IOException {
        try (RawClient client = new RawClient(address)) {
            client.send(request(method, target, body));
            return Answered.of(client.readUntil("\r\n\r\n"));
        }
    }

    String request(String method, String target, String body, String... headers) {
        StringBuilder request = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n");
        if (!token.isEmpty()) {
            request.append("Authorization: Bearer ").append(token).append("\r\n");
        }
        for (String header : headers) {
            request.append(header).append("\r\n");
        }
        if (!body.isEmpty()) {
            boolean typed = String.join("\n", headers).toLowerCase(Locale.ROOT).contains("content-type");
            request.append(typed ? "" : "Content-Type: application/json\r\n")
                    .append("Content-Length: ")
                    .append(body.getBytes(StandardCharsets.ISO_8859_1).length)
                    .append("\r\n");
        }
        return request.append("Connection: close\r\n\r\n").append(body).toString();
    }
}
