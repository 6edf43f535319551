package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.Config;
import dev.tidegate.control.FileReloads.FileReload;
import dev.tidegate.telemetry.ReloadCounts;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.LeakGuard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who asks for a reload, and what they are told. */
class FileReloadsTest {
    @TempDir
    Path directory;

    private final List<String> applied = Collections.synchronizedList(new ArrayList<>());
    private final List<String> compared = Collections.synchronizedList(new ArrayList<>());
    private final ReloadCounts counts = new ReloadCounts();
    private final AtomicInteger whenRead = new AtomicInteger();
    private volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);
    private volatile boolean running = true;
    private FileReloads reloads;

    @BeforeEach
    void make() throws IOException {
        write("a");
        FileReloads.Target target = new FileReloads.Target(
                (config, ifGeneration) -> {
                    if (ifGeneration.isPresent() && ifGeneration.getAsLong() != 7 + applied.size()) {
                        return CompletableFuture.completedFuture(
                                ReloadResult.stale(7 + applied.size(), ifGeneration.getAsLong()));
                    }
                    applied.add(frontend(config));
                    return gate.thenApply(opened -> ReloadResult.applied(applied.size(), ConfigDiff.NONE));
                },
                config -> {
                    compared.add(frontend(config));
                    return CompletableFuture.completedFuture(ReloadResult.unchanged(7, ConfigDiff.NONE));
                },
                () -> running,
                () -> 7,
                counts);
        reloads = new FileReloads(file(), name -> null, target, whenRead::incrementAndGet);
    }

    @AfterEach
    void close() {
        gate.complete(null);
        reloads.close();
    }

    private static String frontend(Config config) {
        return config.frontends().get(0).name();
    }

    private Path file() {
        return directory.resolve("tidegate.yaml");
    }

    private void write(String frontend) throws IOException {
        Files.writeString(file(), """
                frontends:
                  - {name: %s, listen: "127.0.0.1:1", backend: back}
                backends:
                  - {name: back, endpoints: [{address: "10.0.0.1:80"}]}
                  - {name: unused, endpoints: [{address: "10.0.0.1:80"}]}
                """.formatted(frontend));
    }

    private static FileReload result(CompletableFuture<FileReload> asked) throws Exception {
        return asked.get(20, TimeUnit.SECONDS);
    }

    private static ReloadCounts.Result kind(FileReload reload) {
        return reload.result().orElseThrow().result();
    }

    @Test
    void aReloadAppliesTheFileAndTellsItsWarnings() throws Exception {
        FileReload reload = result(reloads.reload());
        assertEquals(ReloadCounts.Result.APPLIED, kind(reload));
        assertEquals(1, reload.problems().size(), reload.problems().toString());
        assertEquals(List.of("a"), applied);
        assertEquals(1, whenRead.get());
    }

    @Test
    void aFileWithAnErrorAppliesNothingAndTellsAllProblems() throws Exception {
        LeakGuard.installed().expect(".*name \"a b\" is not allowed.*");
        LeakGuard.installed().expect("reload rejected, nothing changed gen=7.*");
        write("a b");
        FileReload reload = result(reloads.reload());
        assertEquals(Optional.empty(), reload.result());
        assertTrue(reload.problems().get(0).message().contains("\"a b\" is not allowed"));
        assertEquals(List.of(), applied);
        assertEquals(0, whenRead.get());
        assertEquals(1, counts.of(ReloadCounts.Result.REJECTED));
    }

    /** The requests that wait are one reload, and dry runs are none. */
    @Test
    void anObserverIsToldTheBeginningAndTheEndOfEachReload() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        reloads.observe(new FileReloads.Observer() {
            @Override
            public void onBegin() {
                told.add("begin");
            }

            @Override
            public void onEnd(boolean inForce) {
                told.add(inForce ? "in force" : "rejected");
            }
        });
        gate = new CompletableFuture<>();
        CompletableFuture<FileReload> first = reloads.reload();
        Await.until("the first runs", () -> applied.size() == 1);
        List<CompletableFuture<FileReload>> later = List.of(reloads.reload(), reloads.reload(), reloads.reload());
        gate.complete(null);
        result(first);
        for (CompletableFuture<FileReload> each : later) {
            result(each);
        }
        result(reloads.dryRun());
        assertEquals(List.of("begin", "in force", "begin", "in force"), told);

        LeakGuard.installed().expect(".*name \"a b\" is not allowed.*");
        LeakGuard.installed().expect("reload rejected, nothing changed gen=7.*");
        write("a b");
        result(reloads.reload());
        assertEquals(List.of("begin", "rejected"), told.subList(4, told.size()));
    }

    /** It was looked at before the file was read alone: what another operator did meanwhile was overrun. */
    @Test
    void aReloadForAGenerationIsItsOwnAndIsNotDoneWhenAnotherCameBefore() throws Exception {
        gate = new CompletableFuture<>();
        CompletableFuture<FileReload> first = reloads.reload();
        Await.until("the first runs", () -> applied.size() == 1);
        CompletableFuture<FileReload> merged = reloads.reload();
        CompletableFuture<FileReload> stale = reloads.reload(OptionalLong.of(8));
        CompletableFuture<FileReload> fits = reloads.reload(OptionalLong.of(9));
        gate.complete(null);
        assertEquals(ReloadCounts.Result.APPLIED, kind(result(first)));
        assertEquals(ReloadCounts.Result.APPLIED, kind(result(merged)));

        ReloadResult refused = result(stale).result().orElseThrow();
        assertTrue(refused.stale());
        assertEquals("the generation in force is 9, not 8; look again, and decide again", refused.reason());
        assertFalse(result(fits).result().orElseThrow().stale());
        assertEquals(ReloadCounts.Result.APPLIED, kind(result(fits)));
        assertEquals(List.of("a", "a", "a"), applied);
    }

    @Test
    void aDryRunComparesAndNeitherAppliesNorCounts() throws Exception {
        FileReload good = result(reloads.dryRun());
        assertEquals(7, good.result().orElseThrow().generation());
        assertEquals(List.of("a"), compared);
        write("a b");
        FileReload bad = result(reloads.dryRun());
        assertEquals(Optional.empty(), bad.result());
        assertFalse(bad.problems().isEmpty());
        assertEquals(List.of(), applied);
        assertEquals(0, whenRead.get());
        assertEquals(0, counts.of(ReloadCounts.Result.REJECTED));
    }

    @Test
    void whatIsAskedForWhileOneRunsBecomesOneMoreWithOneResultForAll() throws Exception {
        gate = new CompletableFuture<>();
        CompletableFuture<FileReload> first = reloads.reload();
        Await.until("the first runs", () -> applied.size() == 1);
        List<CompletableFuture<FileReload>> later = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            later.add(reloads.reload());
        }
        write("b");
        assertFalse(first.isDone());
        gate.complete(null);
        assertEquals(1, result(first).result().orElseThrow().generation());
        for (CompletableFuture<FileReload> each : later) {
            assertEquals(2, result(each).result().orElseThrow().generation());
        }
        assertEquals(List.of("a", "b"), applied);
    }

    @Test
    void anAskerThatCancelsTakesNothingFromTheOthers() throws Exception {
        gate = new CompletableFuture<>();
        CompletableFuture<FileReload> first = reloads.reload();
        Await.until("the first runs", () -> applied.size() == 1);
        CompletableFuture<FileReload> cancelled = reloads.reload();
        CompletableFuture<FileReload> other = reloads.reload();
        assertTrue(cancelled.cancel(true));
        gate.complete(null);
        assertEquals(ReloadCounts.Result.APPLIED, kind(result(first)));
        assertEquals(ReloadCounts.Result.APPLIED, kind(result(other)));
    }

    @Test
    void aDryRunBehindAReloadIsItsOwn() throws Exception {
        gate = new CompletableFuture<>();
        CompletableFuture<FileReload> reload = reloads.reload();
        Await.until("the reload runs", () -> applied.size() == 1);
        CompletableFuture<FileReload> dry = reloads.dryRun();
        gate.complete(null);
        assertEquals(ReloadCounts.Result.APPLIED, kind(result(reload)));
        assertEquals(ReloadCounts.Result.UNCHANGED, kind(result(dry)));
    }

    @Test
    void duringAStopNothingIsReadOrApplied() throws Exception {
        running = false;
        FileReload reload = result(reloads.reload());
        assertEquals(ReloadCounts.Result.REJECTED, kind(reload));
        assertEquals("the process is stopping", reload.result().orElseThrow().reason());
        assertEquals(List.of(), applied);
    }

    @Test
    void afterTheCloseEveryAskerIsTold() throws Exception {
        reloads.close();
        assertEquals(
                "the process has stopped",
                result(reloads.reload()).result().orElseThrow().reason());
        assertEquals(
                "the process has stopped",
                result(reloads.dryRun()).result().orElseThrow().reason());
    }

    @Test
    void aFaultOfOursIsToldAndTheNextReloadWorks() throws Exception {
        LeakGuard.installed().expect("a reload failed by a fault of our own.*");
        gate = CompletableFuture.failedFuture(new IllegalStateException("on purpose"));
        CompletableFuture<FileReload> failed = reloads.reload();
        assertThrows(ExecutionException.class, () -> result(failed));
        gate = CompletableFuture.completedFuture(null);
        assertEquals(ReloadCounts.Result.APPLIED, kind(result(reloads.reload())));
    }
}
