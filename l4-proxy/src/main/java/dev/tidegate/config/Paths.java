package dev.tidegate.config;

/** Paths that can name something, whether or not it is there: nothing here looks at a disk. Stateless. */
final class Paths {
    private Paths() {}

    /** The type of a key that names a file. */
    static ScalarType<String> file() {
        return ScalarType.text("path", "a file's path", "", text -> {
            checkFile(text);
            return text;
        });
    }

    static void checkFile(String path) throws InvalidValue {
        check(path, "write a file's path");
        if (path.endsWith("/")) {
            throw new InvalidValue("path " + Text.quote(path) + " is a directory", "write the path of a file");
        }
    }

    static void checkDirectory(String path) throws InvalidValue {
        check(path, "write a directory's path");
    }

    private static void check(String path, String hint) throws InvalidValue {
        if (path.isEmpty()) {
            throw new InvalidValue("the path is empty", hint);
        }
        if (path.chars().anyMatch(Character::isISOControl)) {
            throw new InvalidValue("path " + Text.quote(path) + " has control characters", hint);
        }
    }

    static void requireFile(String path) {
        try {
            checkFile(path);
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }

    static void requireDirectory(String path) {
        try {
            checkDirectory(path);
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }
}
