package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.admin.AdminAddress;
import dev.tidegate.config.AdminConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AdminListensTest {
    private static List<AdminAddress> byDefault(Map<String, String> environment) throws IOException {
        return AdminListens.of(
                new AdminConfig(List.of(), Optional.empty(), Optional.empty()), environment, Inheritance.NONE);
    }

    private static List<AdminAddress> at(String path) {
        return List.of(AdminAddress.unix(Path.of(path)));
    }

    @Test
    void theServicesDirectoryGoesBeforeTheUsers() throws IOException {
        assertEquals(
                at("/run/tidegate/admin.sock"),
                byDefault(Map.of("RUNTIME_DIRECTORY", "/run/tidegate", "XDG_RUNTIME_DIR", "/run/user/1000")));
        assertEquals(
                at("/run/user/1000/tidegate/admin.sock"),
                byDefault(Map.of("RUNTIME_DIRECTORY", "", "XDG_RUNTIME_DIR", "/run/user/1000")));
        assertEquals(List.of(), byDefault(Map.of()));
    }

    /** A unit with RuntimeDirectory=tidegate other. */
    @Test
    void theFirstOfSeveralDirectoriesOfTheServiceIsTaken() throws IOException {
        assertEquals(
                at("/run/tidegate/admin.sock"), byDefault(Map.of("RUNTIME_DIRECTORY", "/run/tidegate:/run/other")));
    }

    @Test
    void aRelativeDirectoryOfTheUsersIsNone() throws IOException {
        assertEquals(List.of(), byDefault(Map.of("XDG_RUNTIME_DIR", "run")));
    }
}
