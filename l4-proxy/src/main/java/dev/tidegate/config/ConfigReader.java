package dev.tidegate.config;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Reads a configuration and tells everything that is wrong with it at once. Opens no socket, resolves no name, and
 * throws nothing for any file: what cannot be read is a problem. Stateless; any thread.
 */
public final class ConfigReader {
    private final Problems problems = new Problems();
    private final Reading reading;
    private final Optional<Machine> machine; // empty: not asked
    private final Merged frontends = new Merged(ConfigKeys.FRONTENDS);
    private final Merged backends = new Merged(ConfigKeys.BACKENDS);

    /** Where the bytes of a file come from. */
    @FunctionalInterface
    private interface Source {
        byte[] bytes(Path file) throws IOException;
    }

    private ConfigReader(UnaryOperator<String> env, Optional<Machine> machine) {
        this.reading = new Reading(problems, new Environment(env));
        this.machine = machine;
    }

    /**
     * Reads a file and those it includes. The main file may be a pipe, such as {@code /dev/stdin}: it is waited for.
     *
     * @param file the main file
     * @param env looks up an environment variable; null for one that is not set
     * @return the configuration, or what is wrong
     */
    public static ConfigResult read(Path file, UnaryOperator<String> env) {
        return read(file, new ConfigReader(env, Optional.empty()), SourceText::bytes);
    }

    /** The same, and asks whether that machine has what the configuration needs of it; what it lacks is a warning. */
    public static ConfigResult read(Path file, UnaryOperator<String> env, Machine machine) {
        return read(file, new ConfigReader(env, Optional.of(machine)), SourceText::bytes);
    }

    /** The same of regular files alone, which are never waited for: for a process that has better things to do. */
    public static ConfigResult readWithoutWaiting(Path file, UnaryOperator<String> env) {
        return read(file, new ConfigReader(env, Optional.empty()), SourceText::bytesOfRegular);
    }

    private static ConfigResult read(Path file, ConfigReader reader, Source source) {
        Mark start = new Mark(0, file.toString(), 1, 1);
        return reader.bytesOf(source, file, start, KeyPath.ROOT)
                .map(bytes -> reader.result(file.toString(), bytes))
                .orElseGet(() -> new ConfigResult(Optional.empty(), reader.problems.inFileOrder()));
    }

    /**
     * Reads a text as if it were in a file.
     *
     * @param fileName what problems call it; included files are looked for beside it
     * @param text UTF-8, not changed while this runs
     * @param env looks up an environment variable; null for one that is not set
     * @return the configuration, or what is wrong
     */
    public static ConfigResult readText(String fileName, byte[] text, UnaryOperator<String> env) {
        return new ConfigReader(env, Optional.empty()).result(fileName, text);
    }

    private ConfigResult result(String file, byte[] bytes) {
        Optional<Config> config = tree(file, 0, bytes).flatMap(this::config);
        return new ConfigResult(config, problems.inFileOrder());
    }

    private Optional<Config> config(Node root) {
        Optional<Values> values = ConfigKeys.ROOT.read(root, KeyPath.ROOT, reading);
        if (values.isEmpty()) {
            return Optional.empty();
        }
        take(values.get());
        if (values.get().isRefused(ConfigKeys.INCLUDE)) {
            lack();
        }
        values.get()
                .given(ConfigKeys.INCLUDE)
                .ifPresent(globs -> include(root.mark().file(), globs.value()));
        new CrossChecks(problems, new Located<>(values.get(), root.mark(), KeyPath.ROOT), frontends, backends).run();
        machine.ifPresent(this::ask);
        return problems.hasErrors()
                ? Optional.empty()
                : Optional.of(ConfigBuilder.config(values.get(), frontends.elements(), backends.elements()));
    }

    private void ask(Machine of) {
        MachineChecks checks = new MachineChecks(problems, of);
        backends.elements()
                .forEach(backend ->
                        HealthKeys.healthOf(backend.value()).ifPresent(health -> checks.run(health.value())));
    }

    private void include(String main, List<Located<String>> globs) {
        int source = 0;
        for (Located<Path> file : new Includes(main, problems).find(globs)) {
            source++;
            int thisSource = source;
            Optional<Values> values = bytesOf(SourceText::bytesOfRegular, file.value(), file.mark(), file.path())
                    .flatMap(bytes -> tree(file.value().toString(), thisSource, bytes))
                    .flatMap(root -> ConfigKeys.INCLUDED.read(root, KeyPath.ROOT, reading));
            values.ifPresentOrElse(this::take, this::lack);
        }
    }

    private void take(Values file) {
        frontends.take(file);
        backends.take(file);
    }

    /** A file could not be read: what it holds is not known. */
    private void lack() {
        frontends.lack();
        backends.lack();
    }

    private Optional<Node> tree(String file, int source, byte[] bytes) {
        return SourceText.decode(file, source, bytes, problems)
                .flatMap(text -> YamlTree.read(file, source, text, problems));
    }

    private Optional<byte[]> bytesOf(Source source, Path file, Mark mark, KeyPath path) {
        try {
            return Optional.of(source.bytes(file));
        } catch (NoSuchFileException e) {
            problems.error(mark, path, "file " + Text.quote(file.toString()) + " does not exist", "check the path");
        } catch (AccessDeniedException e) {
            problems.error(
                    mark,
                    path,
                    "file " + Text.quote(file.toString()) + " may not be read",
                    "check who owns it and its mode");
        } catch (IOException e) {
            problems.error(
                    mark,
                    path,
                    "file " + Text.quote(file.toString()) + " cannot be read: " + e.getMessage(),
                    "name a readable file");
        }
        return Optional.empty();
    }
}
