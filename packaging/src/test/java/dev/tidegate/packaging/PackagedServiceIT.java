package dev.tidegate.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.testkit.Requirement;
import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The Debian package in a Debian that is booted for each test, with systemd as its process 1. What happens there is in the
 * scenario of the test's file in {@code src/test/nspawn}.
 */
@Tag("slow")
class PackagedServiceIT {
    private static final Path BOOT = Path.of("src/test/nspawn/boot").toAbsolutePath();
    private static final Path PACKAGES = Path.of("target/packages").toAbsolutePath();
    private static final Duration PREPARATION = Duration.ofMinutes(10);
    private static final Duration BOUND = Duration.ofMinutes(5);

    @BeforeAll
    static void debianIsThere() throws IOException {
        Requirement.met("root".equals(System.getProperty("user.name")), "containers need root");
        Tool.require("systemd-nspawn");
        Tool.require("debootstrap");
        Requirement.met(
                Files.readString(Path.of("/proc/filesystems")).contains("overlay"), "the kernel has no overlayfs");
        assertEquals(true, Files.isDirectory(PACKAGES), PACKAGES + " is made by the profile \"package\"");
        Tool.Result result = Tool.require("bash").run(PREPARATION, BOOT.toString(), "--prepare");
        assertEquals(0, result.exit(), result::toString);
    }

    private static void scenario(String name) {
        Tool.Result result = Tool.require("bash").run(BOUND, BOOT.toString(), name, PACKAGES.toString(), "180");
        System.out.println(name + ": " + (result.exit() == 0 ? "passed" : "failed") + "\n" + result.stdout());
        assertEquals(0, result.exit(), () -> result.stdout() + result.stderr());
    }

    @Test
    void onACleanRootTheFirstConnectStartsTheService() {
        scenario("install");
    }

    @Test
    void aGoodFileIsReloadedAndABadOneChangesNothing() {
        scenario("reload");
    }

    @Test
    void aRefusedConfigurationIsNotStartedAgainAndAgain() {
        scenario("refused");
    }

    @Test
    void aStopLetsConnectionsEndForLongerThanTheUnitSays() {
        scenario("stop");
    }

    @Test
    void aWorkerThatIsStuckBringsAnotherProcess() {
        scenario("watchdog");
    }

    @Test
    void noConnectIsRefusedWhileTheProcessIsKilledOrRestarted() {
        scenario("restart");
    }

    @Test
    void noConnectIsRefusedOrResetByAnUpgrade() {
        scenario("upgrade");
    }

    @Test
    void theProcessThatHasTakenOverIsTheServiceLikeAnyOther() {
        scenario("successor");
    }

    @Test
    void anUpgradeLeavesAloneWhatTheNextVersionCannotReplace() {
        scenario("unsettled");
    }

    @Test
    void theVariantForTheJavaOfTheHostIsReplacedByTheOther() {
        scenario("slim");
    }

    @Test
    void aPurgeLeavesNothing() {
        scenario("remove");
    }
}
