package dev.tidegate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.ConfigReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The repository's documents point at things that exist. */
class DocumentsTest {
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern YAML = Pattern.compile("(?s)```yaml\n(.*?)```");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ +(.*)$");

    @Test
    void everyRelativeLinkLeadsToAFileAndEveryFragmentToAHeading() throws IOException {
        List<String> broken = new ArrayList<>();
        List<Path> documents = documents();
        for (Path document : documents) {
            Matcher links = LINK.matcher(Files.readString(document));
            while (links.find()) {
                if (!links.group(1).matches("[a-z]+:.*") && !leadsSomewhere(document, links.group(1))) {
                    broken.add(RepositoryFiles.root().relativize(document) + ": " + links.group(1));
                }
            }
        }
        assertTrue(documents.size() > 5, () -> "documents found: " + documents);
        assertEquals(List.of(), broken);
    }

    @Test
    void theConfigurationInTheReadmeIsValid() throws IOException {
        List<String> configurations = YAML.matcher(
                        Files.readString(RepositoryFiles.root().resolve("README.md")))
                .results()
                .map(block -> block.group(1))
                .toList();
        assertFalse(configurations.isEmpty(), "README.md shows no configuration");
        for (String text : configurations) {
            var result = ConfigReader.readText("README.md", text.getBytes(StandardCharsets.UTF_8), name -> null);
            assertEquals(List.of(), result.problems(), text);
            assertTrue(result.config().isPresent(), text);
        }
    }

    private static boolean leadsSomewhere(Path document, String link) throws IOException {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? document : document.resolveSibling(parts[0]);
        if (!Files.exists(target)) {
            return false;
        }
        return parts.length == 1 || anchors(target).contains(parts[1]);
    }

    /** The names that GitHub gives to headings: lower case, punctuation dropped, spaces to hyphens. */
    private static List<String> anchors(Path document) throws IOException {
        return HEADING.matcher(Files.readString(document))
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .toList();
    }

    private static List<Path> documents() throws IOException {
        Path root = RepositoryFiles.root();
        try (Stream<Path> top = Files.list(root);
                Stream<Path> docs = Files.walk(root.resolve("docs"))) {
            return Stream.concat(top, docs)
                    .filter(path -> path.toString().endsWith(".md"))
                    .collect(Collectors.toList());
        }
    }
}
