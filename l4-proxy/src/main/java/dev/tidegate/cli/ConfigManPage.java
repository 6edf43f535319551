package dev.tidegate.cli;

import dev.tidegate.config.ConfigSchema;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;

/** The manual page of the configuration file: how it reads, and every key, as the schema has them. Stateless. */
final class ConfigManPage {
    /** What it is asked for by. */
    static final String NAME = "tidegate.yaml";

    private static final String EXAMPLE = """
            frontends:
              - name: edge
                listen: "0.0.0.0:443"
                backend: gateways
                lifetime: {max-age: 10m, jitter: 20%}
            backends:
              - name: gateways
                balance: power-of-two
                health: {type: http, path: /readyz}
                endpoints:
                  - address: "10.0.0.1:8443"
                  - {address: "10.0.0.2:8443", weight: 50}
            """;

    private ConfigManPage() {}

    /** The page's text; {@code date} is what it tells. */
    static String of(LocalDate date) {
        Roff roff = new Roff(NAME, 5, date);
        roff.macro("SH", "NAME");
        roff.line(NAME + " \\- ", "configuration of the TCP balancer Tidegate");
        roff.macro("SH", "DESCRIPTION");
        describe(roff);
        roff.macro("SH", "VALUES");
        values(roff);
        String group = "";
        for (ConfigSchema.KeyText key : ConfigSchema.keys()) {
            String first = key.path().split("[.\\[]", 2)[0];
            if (!first.equals(group)) {
                group = first;
                roff.macro("SH", group.toUpperCase(Locale.ROOT));
            }
            roff.item(roff.bold(key.path()), key.meaning() + ".");
            roff.line(details(key));
        }
        roff.macro("SH", "EXAMPLE");
        roff.example(EXAMPLE);
        roff.macro("SH", "FILES");
        roff.item(roff.italic("/etc/tidegate/tidegate.yaml"), "What the service reads.");
        roff.item(
                roff.italic("/usr/share/tidegate/schema.json"),
                "The JSON Schema of the file, for editors; `tidegate schema` writes it too.");
        roff.macro("SH", "SEE ALSO");
        roff.line(String.join(
                ", ",
                List.of(
                        roff.bold("tidegate") + "(1)",
                        roff.bold("tidegate-check") + "(1)",
                        roff.bold("tidegate-run") + "(1)",
                        roff.bold("tidegate-reload") + "(1)",
                        roff.bold("tidegate-diff") + "(1)")));
        return roff.toString();
    }

    private static void describe(Roff roff) {
        roff.text(
                "One YAML file says what Tidegate does. A frontend is what clients connect to. It sends its connections to"
                        + " one backend, which is a set of endpoints. What is not given has a default. An unknown key, a key given"
                        + " twice, a number without its unit, a value out of range or a backend that does not exist is an error:"
                        + " the process does not start, or goes on with what it has.");
        roff.macro("PP");
        roff.text(
                "In the list of keys below, `[]` stands for each element of a list. A changed value of a key that says"
                        + " `on reload: live` takes effect by a reload. One that says `restart` waits for the next start.");
    }

    private static void values(Roff roff) {
        roff.item("durations", "A whole number and a unit: 250ms, 10s, 5m, 2h, 1d.");
        roff.item("sizes", "A whole number and a unit, each 1,024 of the one before: 512B, 64KiB, 20MiB, 10GiB, 1TiB.");
        roff.item("shares", "Whole percents: 20%.");
        roff.item(
                "addresses",
                "HOST:PORT, IPv6 in brackets and quotes. A listener's host is an IP address, or the whole is systemd:NAME"
                        + " for sockets that systemd passes. An endpoint's host may be a name.");
        roff.item(
                "environment",
                "${NAME} in any value is the variable's value, ${NAME:-default} has a default, $${ is a plain ${.");
    }

    private static String details(ConfigSchema.KeyText key) {
        StringBuilder text = new StringBuilder("(" + key.type());
        append(text, "; unit: ", key.unit());
        append(text, "; ", key.range());
        append(text, key.whenAbsent().equals("required") ? "; " : "; when absent: ", key.whenAbsent());
        append(text, "; on reload: ", key.onReload());
        return text.append(")").toString();
    }

    private static void append(StringBuilder text, String lead, String value) {
        if (!value.isEmpty()) {
            text.append(lead).append(value);
        }
    }
}
