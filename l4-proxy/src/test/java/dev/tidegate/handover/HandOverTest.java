package dev.tidegate.handover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.handover.HandedSocket.User;
import dev.tidegate.testkit.Await;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class HandOverTest {
    private static final IoHandlerFactory EPOLL = EpollIoHandler.newFactory();
    private static final long SELF = ProcessHandle.current().pid();

    @TempDir
    Path directory;

    private final List<String> told = new CopyOnWriteArrayList<>();
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private CompletableFuture<List<HandedSocket>> offer;
    private CompletableFuture<Void> way = CompletableFuture.completedFuture(null);
    private Path path;
    private Giver giver;
    private HandOverServer server;

    @BeforeEach
    void serve() throws IOException {
        path = directory.resolve("handover.sock");
        offer = CompletableFuture.completedFuture(List.of(
                new HandedSocket(User.FRONTEND, "", "front 127.0.0.1:0 #2", listening()),
                new HandedSocket(User.FRONTEND, "web & more", "systemd:web", listening()),
                new HandedSocket(User.ADMIN, "", "unix:/run/ä.sock", listening())));
        giver = new Giver() {
            @Override
            public CompletionStage<List<HandedSocket>> give() {
                told.add("give");
                return offer;
            }

            @Override
            public void goOn() {
                told.add("go on");
            }

            @Override
            public CompletionStage<Void> taken(long pid) {
                told.add("taken " + pid);
                return way;
            }
        };
        server = HandOverServer.open(path, EPOLL, giver);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
        for (Socket each : open) {
            each.close();
        }
    }

    private int listening() throws IOException {
        Socket socket = Socket.newSocketStream();
        open.add(socket);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        socket.listen(1);
        return socket.intValue();
    }

    @Test
    void allSocketsArriveInOrderWithTheirNamesAndPlaces() throws IOException {
        List<HandedSocket> given = offer.join();
        try (TakeOver next = TakeOver.from(path, EPOLL)) {
            List<HandedSocket> taken = next.sockets();
            assertEquals(given.size(), taken.size());
            for (int i = 0; i < given.size(); i++) {
                HandedSocket was = given.get(i);
                HandedSocket is = taken.get(i);
                Socket socket = new Socket(is.fd());
                open.add(socket);
                assertEquals(List.of(was.user(), was.name(), was.place()), List.of(is.user(), is.name(), is.place()));
                assertEquals(new Socket(was.fd()).localAddress(), socket.localAddress());
            }

            assertTrue(next.ready());
        }
        assertEquals(List.of("give", "taken " + SELF), told);
        assertFalse(Files.exists(path), "the next process makes its own");
    }

    @Test
    void whoGoesBeforeItIsReadyLeavesAllAsItWas() throws IOException {
        try (TakeOver next = TakeOver.from(path, EPOLL)) {
            next.sockets().forEach(socket -> open.add(new Socket(socket.fd())));
        }
        Await.until("the running one goes on", () -> told.equals(List.of("give", "go on")));

        try (TakeOver again = TakeOver.from(path, EPOLL)) {
            again.sockets().forEach(socket -> open.add(new Socket(socket.fd())));
            assertTrue(again.ready());
        }
    }

    /** A stop that came while the next process started is a stop. */
    @Test
    void whoIsReadyTooLateIsRefusedAndAnotherMayTry() throws IOException {
        way = CompletableFuture.failedFuture(new IllegalStateException("it was asked to stop meanwhile"));
        try (TakeOver next = TakeOver.from(path, EPOLL)) {
            next.sockets().forEach(socket -> open.add(new Socket(socket.fd())));

            IOException refused = assertThrows(IOException.class, next::ready);

            assertEquals(
                    "the running process refuses to hand over: it was asked to stop meanwhile", refused.getMessage());
        }
        assertEquals(List.of("give", "taken " + SELF, "go on"), told);
        assertTrue(Files.exists(path));

        way = CompletableFuture.completedFuture(null);
        try (TakeOver again = TakeOver.from(path, EPOLL)) {
            again.sockets().forEach(socket -> open.add(new Socket(socket.fd())));
            assertTrue(again.ready());
        }
    }

    /** A stop is no death: who took that for one would serve on. */
    @Test
    void whoIsTakingOverHearsAtOnceThatThereIsNothingToTakeOverAnyMore() throws Exception {
        try (TakeOver next = TakeOver.from(path, EPOLL)) {
            next.sockets().forEach(socket -> open.add(new Socket(socket.fd())));
            assertFalse(next.gone().isDone());

            server.refuse("it was asked to stop meanwhile");

            next.gone().get(10, TimeUnit.SECONDS);
            IOException refused = assertThrows(IOException.class, next::ready);
            assertEquals(
                    "the running process refuses to hand over: it was asked to stop meanwhile", refused.getMessage());
        }
        assertEquals(List.of("give", "go on"), told);
    }

    /** Also where the refusal comes right behind the descriptors, or between them. */
    @Test
    @Tag("slow")
    void atWhateverMomentItIsRefusedItNeverTakesThatForADeath() throws Exception {
        for (int round = 0; round < 200; round++) {
            told.clear();
            CompletableFuture<String> next = CompletableFuture.supplyAsync(this::takeOverOrWhyNot);
            Await.until("it has asked", () -> !told.isEmpty());
            long begin = System.nanoTime();
            long pause = round * 10_000L;
            while (System.nanoTime() - begin < pause) {
                Thread.onSpinWait();
            }
            server.refuse("it stops");

            String came = next.get(30, TimeUnit.SECONDS);

            assertTrue(
                    came.equals("taken")
                            || came.equals("the running process refuses to hand over: it stops")
                            || came.startsWith("the running process has ended the hand-over before"),
                    came);
            server.close();
            server = HandOverServer.open(path, EPOLL, giver);
        }
    }

    private String takeOverOrWhyNot() {
        try (TakeOver next = TakeOver.from(path, EPOLL)) {
            next.sockets().forEach(socket -> open.add(new Socket(socket.fd())));
            return next.ready() ? "taken" : "taken for dead";
        } catch (IOException refused) {
            return refused.getMessage();
        }
    }

    @Test
    void aSecondOneAtATimeIsRefusedAndDoesNotDisturbTheFirst() throws IOException {
        try (TakeOver first = TakeOver.from(path, EPOLL)) {
            first.sockets().forEach(socket -> open.add(new Socket(socket.fd())));

            IOException refused = assertThrows(IOException.class, () -> TakeOver.from(path, EPOLL));

            assertEquals(
                    "the running process refuses to hand over: another process is taking over already; wait for it",
                    refused.getMessage());
            assertTrue(first.ready());
        }
    }

    @Test
    void whatHasNothingToGiveSaysWhyAndGoesOn() {
        offer = CompletableFuture.failedFuture(new IllegalStateException("it is starting"));

        IOException refused = assertThrows(IOException.class, () -> TakeOver.from(path, EPOLL));

        assertEquals("the running process refuses to hand over: it is starting", refused.getMessage());
        Await.until("it goes on", () -> told.equals(List.of("give", "go on")));
    }

    @Test
    void anotherVersionIsRefusedInWords() throws IOException {
        assertEquals(
                "REFUSED this process speaks version 1 of the hand-over, and not 2 with extras; restart it instead\n",
                answerTo("TIDEGATE-HANDOVER 2 with extras\n"));
        assertEquals(List.of(), told);
    }

    @Test
    void whatIsNoPartOfTheConversationEndsIt() throws IOException {
        assertEquals("REFUSED \"READY\" was not expected now (NEW)\n", answerTo("READY\n"));
        assertEquals(List.of(), told);
    }

    private String answerTo(String text) throws IOException {
        try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            client.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
            return new String(Channels.newInputStream(client).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void onlyThisUserCanOpenItAndALiveOneIsNotReplaced() throws IOException {
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));

        IOException refused = assertThrows(IOException.class, () -> HandOverServer.open(path, EPOLL, null));

        assertTrue(refused.getMessage().startsWith("another process listens there"), refused.getMessage());
        assertTrue(Files.exists(path));
    }

    @Test
    void whereNobodyListensThereIsNobodyToTakeOverFrom() {
        Path nowhere = directory.resolve("nowhere.sock");

        IOException refused = assertThrows(IOException.class, () -> TakeOver.from(nowhere, EPOLL));

        assertEquals(
                "there is no process to take over from at " + nowhere
                        + ": there is no such socket; start without --take-over",
                refused.getMessage());
    }

    @Test
    void anAnnouncementThatMakesNoSenseIsRefused() {
        for (String line : List.of("SOCKETS", "SOCKETS 2 0", "SOCKETS 1 2 frontend&&a", "nonsense")) {
            assertThrows(IllegalArgumentException.class, () -> Wire.announced(line), line);
        }
    }
}
