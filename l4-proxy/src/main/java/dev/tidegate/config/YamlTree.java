package dev.tidegate.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.DocumentStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Text to nodes. Confined to the thread that reads. Built from parse events, so that a file made to hurt is refused at
 * the event that shows it: nothing is expanded, no tag is resolved, no class is ever made from a name.
 */
final class YamlTree {
    static final int DEPTH_MAX = 50;
    static final int ALIASES_MAX = 50;
    /** Keys and values: 10,000 endpoints with all that can be said of each have 90,000. */
    static final int NODES_MAX = 100_000;

    static final int SCALAR_MAX = 4_096;

    private static final int PIECE_MIN = 1_024;

    private final String file;
    private final int source;
    private final Iterator<Event> events;
    private final Map<Anchor, Optional<Node>> anchors = new HashMap<>();
    /** Where the last event was: as near as a place can be told when the parser tells none. */
    private Mark last;

    private int aliases;
    private int nodes;

    private YamlTree(Mark start, String text) {
        this.file = start.file();
        this.source = start.source();
        this.last = start;
        LoadSettings settings = LoadSettings.builder()
                .setLabel(file)
                .setCodePointLimit(SourceText.BYTES_MAX)
                // In one piece: the parser copies what it has kept with each piece, which is quadratic for a long word.
                .setBufferSize(Math.max(PIECE_MIN, text.length()))
                .build();
        this.events = new Parse(settings).parseString(text).iterator();
    }

    /** The document's node; nothing if it cannot be read, and then the problems say why. */
    static Optional<Node> read(String file, int source, String text, Problems problems) {
        Mark start = new Mark(source, file, 1, 1);
        try {
            return Optional.of(new YamlTree(start, text).document(start));
        } catch (Refused e) {
            problems.error(e.mark, e.path, e.getMessage(), e.hint);
        } catch (MarkedYamlEngineException e) {
            Mark mark = e.getProblemMark().map(m -> mark(source, file, m)).orElse(start);
            problems.error(mark, KeyPath.ROOT, "this is not YAML: " + e.getProblem(), hintFor(e));
        } catch (YamlEngineException e) {
            problems.error(start, KeyPath.ROOT, "this is not YAML: " + e.getMessage(), "");
        }
        return Optional.empty();
    }

    private static String hintFor(MarkedYamlEngineException e) {
        if (e.getProblem().contains("(TAB)")) {
            return "indent with spaces";
        }
        if (e.getProblem().contains("found ':'")) {
            return "a value that begins with a bracket needs quotes, as in \"[::1]:8080\"";
        }
        String context = e.getContext();
        String advice = "look at the indentation, quotes and brackets here and just before";
        return context == null ? advice : advice + " (" + context + ")";
    }

    private Node document(Mark start) throws Refused {
        next(); // the stream's start
        Event event = next();
        if (!(event instanceof DocumentStartEvent)) {
            throw new Refused(start, KeyPath.ROOT, "the file is empty", "give it at least frontends and backends");
        }
        Node root = node(next(), KeyPath.ROOT, 0);
        next(); // the document's end
        Event after = next();
        if (after instanceof DocumentStartEvent) {
            throw new Refused(
                    mark(after), KeyPath.ROOT, "a second document begins here", "keep one document: remove this ---");
        }
        return root;
    }

    private Node node(Event event, KeyPath path, int depth) throws Refused {
        Mark mark = mark(event);
        if (event instanceof AliasEvent alias) {
            return aliased(alias, mark, path);
        }
        refuseTag(event, mark, path);
        Optional<Anchor> anchor = ((NodeEvent) event).getAnchor();
        if (anchor.isPresent()) {
            if (anchors.size() >= ALIASES_MAX) {
                throw new Refused(
                        mark, path, "there are more than " + ALIASES_MAX + " anchors", "write the values out");
            }
            anchors.put(anchor.get(), Optional.empty());
        }
        count(1, mark, path);
        Node node = event instanceof ScalarEvent scalar
                ? scalar(scalar, mark, path)
                : collection((CollectionStartEvent) event, mark, path, depth + 1);
        anchor.ifPresent(name -> anchors.put(name, Optional.of(node)));
        return node;
    }

    private Node aliased(AliasEvent alias, Mark mark, KeyPath path) throws Refused {
        aliases++;
        if (aliases > ALIASES_MAX) {
            throw new Refused(mark, path, "there are more than " + ALIASES_MAX + " aliases", "write the values out");
        }
        Optional<Node> target = anchors.get(alias.getAlias());
        String name = Text.quote("*" + alias.getAlias().getValue());
        if (target == null) {
            throw new Refused(mark, path, "alias " + name + " has no anchor before it", "write the value out");
        }
        Node node = target.orElseThrow(() ->
                new Refused(mark, path, "alias " + name + " stands inside what it repeats", "write the value out"));
        count(node.size(), mark, path);
        return node;
    }

    private static void refuseTag(Event event, Mark mark, KeyPath path) throws Refused {
        Optional<String> tag = Optional.empty();
        if (event instanceof ScalarEvent scalar) {
            tag = scalar.getTag();
        } else if (event instanceof CollectionStartEvent collection) {
            tag = collection.getTag();
        }
        if (tag.isPresent()) {
            throw new Refused(mark, path, "tag " + Text.quote(tag.get()) + " is not allowed", "remove the tag");
        }
    }

    private void count(int more, Mark mark, KeyPath path) throws Refused {
        nodes += more;
        if (nodes > NODES_MAX) {
            throw new Refused(
                    mark, path, "there are more than " + NODES_MAX + " values, aliases written out", "make it smaller");
        }
    }

    private static Node scalar(ScalarEvent event, Mark mark, KeyPath path) throws Refused {
        if (event.getValue().length() > SCALAR_MAX) {
            throw new Refused(
                    mark, path, "a text of more than " + SCALAR_MAX + " characters is not allowed", "make it shorter");
        }
        return new Node.Scalar(mark, event.getValue(), event.isPlain());
    }

    private Node collection(CollectionStartEvent event, Mark mark, KeyPath path, int depth) throws Refused {
        if (depth > DEPTH_MAX) {
            throw new Refused(mark, path, "the nesting is deeper than " + DEPTH_MAX, "make it flatter");
        }
        return event instanceof MappingStartEvent ? mapping(mark, path, depth) : sequence(mark, path, depth);
    }

    private Node sequence(Mark mark, KeyPath path, int depth) throws Refused {
        List<Node> items = new ArrayList<>();
        int size = 1;
        for (Event event = next(); event.getEventId() != Event.ID.SequenceEnd; event = next()) {
            Node item = node(event, path.index(items.size()), depth);
            items.add(item);
            size += item.size();
        }
        return new Node.Sequence(mark, items, size);
    }

    private Node mapping(Mark mark, KeyPath path, int depth) throws Refused {
        List<Node.Entry> entries = new ArrayList<>();
        int size = 1;
        for (Event event = next(); event.getEventId() != Event.ID.MappingEnd; event = next()) {
            Node.Scalar key = key(event, path, depth);
            Node value = node(next(), path.key(key.text()), depth);
            entries.add(new Node.Entry(key, value));
            size += 1 + value.size();
        }
        return new Node.Mapping(mark, entries, size);
    }

    private Node.Scalar key(Event event, KeyPath path, int depth) throws Refused {
        if (event instanceof ScalarEvent && node(event, path, depth) instanceof Node.Scalar key) {
            if (key.plain() && key.text().equals("<<")) {
                throw new Refused(key.mark(), path, "merge keys (<<) are not part of YAML 1.2", "write the keys out");
            }
            return key;
        }
        throw new Refused(mark(event), path, "a key is not a plain word", "write KEY: VALUE");
    }

    private Event next() throws Refused {
        try {
            Event event = events.next();
            last = mark(event);
            return event;
        } catch (YamlEngineException e) {
            throw e;
        } catch (RuntimeException e) {
            // The parser lets some malformed escapes and directives out as the JDK's own exceptions.
            throw new Refused(
                    last,
                    KeyPath.ROOT,
                    "this is not YAML: " + e.getMessage(),
                    "look at the escapes and directives here and just after");
        }
    }

    private Mark mark(Event event) {
        return event.getStartMark().map(m -> mark(source, file, m)).orElse(new Mark(source, file, 1, 1));
    }

    private static Mark mark(int source, String file, org.snakeyaml.engine.v2.exceptions.Mark mark) {
        return new Mark(source, file, mark.getLine() + 1, mark.getColumn() + 1);
    }

    /** The file is refused as a whole, here and for this. */
    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        private final transient Mark mark;
        private final transient KeyPath path;
        private final String hint;

        Refused(Mark mark, KeyPath path, String message, String hint) {
            super(message, null, false, false);
            this.mark = mark;
            this.path = path;
            this.hint = hint;
        }
    }
}
