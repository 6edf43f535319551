package dev.tidegate.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The files that a configuration is made of: the main file, and those that it includes now. Immutable; which files there
 * are is looked at with each call. Any thread.
 */
public final class ConfigSources {
    private final Path main;
    private final List<Located<String>> globs;

    private ConfigSources(Path main, List<Located<String>> globs) {
        this.main = main;
        this.globs = List.copyOf(globs);
    }

    /**
     * Looks what a file includes. Whether all else in it is right does not matter here.
     *
     * @param main the main file
     * @param env looks up an environment variable; null for one that is not set
     * @return empty when the file cannot be read so far
     */
    public static Optional<ConfigSources> of(Path main, UnaryOperator<String> env) {
        Problems problems = new Problems();
        String name = main.toString();
        byte[] text;
        try {
            text = SourceText.bytesOfRegular(main);
        } catch (IOException e) {
            return Optional.empty(); // reading the configuration itself says what is wrong
        }
        return SourceText.decode(name, 0, text, problems)
                .flatMap(yaml -> YamlTree.read(name, 0, yaml, problems))
                .map(root -> new ConfigSources(main, globs(root, new Reading(problems, new Environment(env)))));
    }

    private static List<Located<String>> globs(Node root, Reading reading) {
        List<Located<String>> globs = new ArrayList<>();
        if (root instanceof Node.Mapping mapping) {
            KeyPath path = KeyPath.ROOT.key(ConfigKeys.INCLUDE.name());
            mapping.entries().stream()
                    .filter(entry -> entry.key().text().equals(ConfigKeys.INCLUDE.name()))
                    .forEach(entry -> ConfigKeys.INCLUDE
                            .type()
                            .read(entry.value(), path, reading)
                            .ifPresent(globs::addAll));
        }
        return globs;
    }

    /** The files, the main one first, the others in the order of reading; a file that is named need not exist. */
    public List<Path> files() {
        List<Path> files = new ArrayList<>();
        files.add(main);
        new Includes(main.toString(), new Problems()).find(globs).forEach(file -> files.add(file.value()));
        return files;
    }
}
