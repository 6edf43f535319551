package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TokenFileTest {
    private static final String TOKEN = "0123456789abcdef0123456789abcdef";
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    @TempDir
    Path directory;

    private Path write(String text) throws IOException {
        Path file = Files.writeString(directory.resolve("tokens"), text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file;
    }

    private static Role role(TokenFile file, String token) {
        return file.roleOf(TokenFile.digest(token));
    }

    @Test
    void allThatIsWrongIsToldWithItsLineAndNoWordOfIt() throws IOException {
        Path file = write("# a comment\nviewer " + TOKEN + "\nroot secret-1\nadmin\noperator secret-2 secret-3\n"
                + "admin sécret\noperator " + TOKEN + "\n" + TOKEN + " admin\n");

        IOException refused = assertThrows(IOException.class, () -> TokenFile.open(file, 0));

        String message = refused.getMessage();
        assertEquals(6, message.lines().count(), message);
        for (int line : new int[] {3, 4, 5, 6, 7, 8}) {
            assertTrue(message.contains(file + ":" + line + ": "), message);
        }
        assertFalse(message.contains("secret") || message.contains("sécret") || message.contains(TOKEN), message);
    }

    @Test
    void aFileWithoutATokenIsRefused() throws IOException {
        Path file = write("# nobody\n");

        assertTrue(assertThrows(IOException.class, () -> TokenFile.open(file, 0))
                .getMessage()
                .contains("has no token"));
    }

    @Test
    void aFileThatEveryoneCanWriteIsRefused() throws IOException {
        Path file = write("admin " + TOKEN);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));

        assertTrue(assertThrows(IOException.class, () -> TokenFile.open(file, 0))
                .getMessage()
                .contains("chmod 600"));
    }

    @Test
    void aMissingFileIsNamed() {
        Path missing = directory.resolve("missing");

        assertEquals(
                "token file \"" + missing + "\" does not exist; check the path",
                assertThrows(IOException.class, () -> TokenFile.open(missing, 0))
                        .getMessage());
    }

    @Test
    void aChangeIsSeenWhenItIsLookedForAtMostOnceASecond() throws IOException {
        Path path = write("viewer " + TOKEN);
        TokenFile file = TokenFile.open(path, 0);
        write("admin " + TOKEN + "\n");

        file.look(SECOND - 1);
        assertEquals(Role.VIEWER, role(file, TOKEN));

        file.look(SECOND);
        assertEquals(Role.ADMIN, role(file, TOKEN));
    }

    @Test
    void aChangeOfTheSameSizeIsSeenByItsTime() throws IOException {
        Path path = write("viewer " + TOKEN);
        TokenFile file = TokenFile.open(path, 0);
        write("viewer " + TOKEN.toUpperCase(java.util.Locale.ROOT));
        Files.setLastModifiedTime(path, FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));

        file.look(SECOND);

        assertEquals(Role.ANYONE, role(file, TOKEN));
    }

    @Test
    void aFileThatWasRefusedForItsModeIsTakenOnceThatIsMended() throws IOException {
        Path path = write("viewer " + TOKEN);
        TokenFile file = TokenFile.open(path, 0);
        Files.setPosixFilePermissions(write("admin " + TOKEN), PosixFilePermissions.fromString("rw-rw-rw-"));
        file.look(SECOND);
        assertEquals(Role.VIEWER, role(file, TOKEN));

        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
        file.look(2 * SECOND);

        assertEquals(Role.ADMIN, role(file, TOKEN));
    }

    @Test
    void whatBecomesWrongOrGoesLeavesTheTokensInForce() throws IOException {
        Path path = write("viewer " + TOKEN);
        TokenFile file = TokenFile.open(path, 0);

        write("rubbish\n");
        file.look(SECOND);
        assertEquals(Role.VIEWER, role(file, TOKEN));

        Files.delete(path);
        file.look(2 * SECOND);
        assertEquals(Role.VIEWER, role(file, TOKEN));

        write("operator " + TOKEN + "\n");
        file.look(3 * SECOND);
        assertEquals(Role.OPERATOR, role(file, TOKEN));
    }
}
