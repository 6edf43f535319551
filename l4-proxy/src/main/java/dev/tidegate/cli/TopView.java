package dev.tidegate.cli;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What `top` can show: the columns of each table, and its rows. Stateless. */
enum TopView {
    BACKENDS("backends") {
        @Override
        List<Column> columns() {
            return List.of(
                    Column.name("BACKEND", 8),
                    Column.name("ENDPOINT", 9),
                    Column.text("STATE", 12),
                    Column.number("IN-FLIGHT", 10),
                    Column.bar(9),
                    Column.number("WEIGHT", 7),
                    Column.number("PICKS/S", 8),
                    Column.number("FAILED/S", 9),
                    Column.name("WHY", 24).ifRoom());
        }

        @Override
        List<List<Cell>> rows(TopSample.Pair pair) {
            Map<String, Json> before = new HashMap<>();
            pair.before()
                    .backends()
                    .items()
                    .forEach(backend -> backend.at("endpoints")
                            .elements()
                            .forEach(endpoint -> before.put(key(backend, endpoint), endpoint)));
            List<List<Cell>> rows = new ArrayList<>();
            for (Json backend : pair.now().backends().items()) {
                for (Json endpoint : backend.at("endpoints").elements()) {
                    Json was = before.getOrDefault(key(backend, endpoint), endpoint);
                    String state = FitnessText.state(endpoint);
                    double failed = pair.rate(StatusText.failed(was), StatusText.failed(endpoint));
                    long inFlight = endpoint.number("in_flight");
                    rows.add(List.of(
                            Cell.text(backend.text("name")),
                            Cell.text(endpoint.text("name")),
                            Cell.text(state).in(tone(state)),
                            Cell.number(inFlight, String.valueOf(inFlight)),
                            Cell.number(inFlight, "").in(tone(state)),
                            weight(endpoint.at("weight")),
                            rate(pair.rate(was.number("picks"), endpoint.number("picks"))),
                            rate(failed).in(failed > 0 ? Tone.BAD : Tone.PLAIN),
                            Cell.text(FitnessText.why(endpoint))));
                }
            }
            return rows;
        }

        private String key(Json backend, Json endpoint) {
            return backend.text("name") + "/" + endpoint.text("name");
        }

        private Cell weight(Json weight) {
            long effective = weight.number("effective");
            return Cell.number(effective, String.valueOf(effective))
                    .in(effective == weight.number("configured") ? Tone.PLAIN : Tone.WARN);
        }
    },

    FRONTENDS("frontends") {
        @Override
        List<Column> columns() {
            return List.of(
                    Column.name("FRONTEND", 10),
                    Column.name("BACKEND", 10),
                    Column.text("STATE", 9),
                    Column.number("OPEN", 8),
                    Column.number("ACCEPTS/S", 10),
                    Column.number("IN/S", 10),
                    Column.number("OUT/S", 10));
        }

        @Override
        List<List<Cell>> rows(TopSample.Pair pair) {
            Map<String, Json> before = new HashMap<>();
            pair.before().frontends().items().forEach(frontend -> before.put(frontend.text("name"), frontend));
            List<List<Cell>> rows = new ArrayList<>();
            for (Json frontend : pair.now().frontends().items()) {
                Json was = before.getOrDefault(frontend.text("name"), frontend);
                long open = frontend.number("connections");
                rows.add(List.of(
                        Cell.text(frontend.text("name")),
                        Cell.text(frontend.text("backend")),
                        Cell.text(frontend.text("state")).in(tone(frontend.text("state"))),
                        Cell.number(open, String.valueOf(open)),
                        rate(pair.rate(was.number("accepted"), frontend.number("accepted"))),
                        bytes(pair.rate(was.number("received_bytes"), frontend.number("received_bytes"))),
                        bytes(pair.rate(was.number("sent_bytes"), frontend.number("sent_bytes")))));
            }
            return rows;
        }
    },

    CONNECTIONS("connections") {
        @Override
        List<Column> columns() {
            return List.of(
                    Column.text("ID", 8),
                    Column.name("CLIENT", 15),
                    Column.name("ENDPOINT", 10),
                    Column.text("STATE", 9),
                    Column.number("AGE", 7),
                    Column.number("IDLE", 7),
                    Column.number("REQS", 6).ifRoom(),
                    Column.number("SOFT IN", 8).ifRoom(),
                    Column.number("IN", 9).ifRoom(),
                    Column.number("OUT", 9).ifRoom(),
                    Column.text("PROTOCOL", 8).ifRoom(),
                    Column.text("RETIRED FOR", 16).ifRoom(),
                    Column.text("FRONTEND", 10).ifRoom());
        }

        @Override
        List<List<Cell>> rows(TopSample.Pair pair) {
            List<List<Cell>> rows = new ArrayList<>();
            for (Json connection : pair.now().connections().items()) {
                boolean retiring = connection.at("retiring").isThere();
                String state = connection.is("told") ? "told" : retiring ? "retiring" : connection.text("state");
                rows.add(List.of(
                        Cell.text(connection.text("id")),
                        Cell.text(connection.text("client")),
                        Cell.text(ConnectionsCommand.endpoint(connection)),
                        Cell.text(state).in(retiring ? Tone.WARN : Tone.PLAIN),
                        age(connection.number("age_ms")),
                        age(connection.number("idle_ms")),
                        Cell.number(connection.number("requests"), Words.count(connection.number("requests"))),
                        softLimit(connection),
                        bytes(connection.number("bytes_received")),
                        bytes(connection.number("bytes_sent")),
                        Cell.text(connection.text("protocol")),
                        Cell.text(retiring ? connection.text("retiring") : ""),
                        Cell.text(connection.text("frontend"))));
            }
            return rows;
        }

        /** Those that have none come last. */
        private Cell softLimit(Json connection) {
            return connection.at("soft_limit_in_ms").isThere()
                    ? age(connection.number("soft_limit_in_ms"))
                    : Cell.number(Long.MAX_VALUE, "-");
        }

        private Cell age(long millis) {
            return Cell.number(millis, Words.age(millis));
        }
    };

    /** What a colour says. */
    enum Tone {
        PLAIN,
        GOOD,
        WARN,
        BAD
    }

    /** How a column is laid out. */
    enum Kind {
        /** Words of a known width. */
        TEXT,
        /** Words that take what room is left. */
        NAME,
        NUMBER,
        /** A number as a bar; never sorted by, as the number stands beside it. */
        BAR
    }

    /**
     * A column.
     *
     * @param width of {@code NAME} columns, the least
     * @param optional left out where there is no room
     */
    record Column(String head, Kind kind, int width, boolean optional) {
        static Column text(String head, int width) {
            return new Column(head, Kind.TEXT, width, false);
        }

        static Column name(String head, int least) {
            return new Column(head, Kind.NAME, least, false);
        }

        static Column number(String head, int width) {
            return new Column(head, Kind.NUMBER, width, false);
        }

        static Column bar(int width) {
            return new Column("", Kind.BAR, width, false);
        }

        Column ifRoom() {
            return new Column(head, kind, width, true);
        }
    }

    /**
     * A cell.
     *
     * @param text what is shown
     * @param number what is sorted by, if the column is one of numbers
     * @param tone its colour
     */
    record Cell(String text, double number, Tone tone) {
        static Cell text(String text) {
            return new Cell(Words.printable(text), 0, Tone.PLAIN);
        }

        static Cell number(double number, String text) {
            return new Cell(text, number, Tone.PLAIN);
        }

        static Cell number(long number, String text) {
            return number((double) number, text);
        }

        Cell in(Tone other) {
            return new Cell(text, number, other);
        }
    }

    private final String word;

    TopView(String word) {
        this.word = word;
    }

    /** Its columns. */
    abstract List<Column> columns();

    /** Its rows, in the API's order. */
    abstract List<List<Cell>> rows(TopSample.Pair pair);

    /** The view that follows. */
    TopView next() {
        return values()[(ordinal() + 1) % values().length];
    }

    static Tone tone(String state) {
        return switch (state) {
            case "ready" -> Tone.GOOD;
            case "down", "ejected", "breaker open", "stopping" -> Tone.BAD;
            default -> Tone.WARN;
        };
    }

    static Cell rate(double perSecond) {
        return Cell.number(perSecond, Words.rate(perSecond));
    }

    static Cell bytes(long bytes) {
        return bytes((double) bytes);
    }

    static Cell bytes(double bytes) {
        return Cell.number(bytes, Words.bytes(bytes));
    }

    @Override
    public String toString() {
        return word;
    }
}
