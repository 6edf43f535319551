package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Http1TrackerTest {
    private static final String GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String HEAD = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String CONNECT = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String UPGRADE =
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    private static final String OK_AND_CLOSE = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    private static final String SWITCHING =
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";

    private final WatchedHttp1 seen = new WatchedHttp1();
    private final Http1Tracker tracker = seen.tracker();

    // Recognising

    @Test
    void isRecognisedWhenBothSidesHaveShownIt() {
        seen.client(GET);
        assertFalse(tracker.recognised());
        seen.endpoint("HTTP/1");
        assertFalse(tracker.recognised());
        seen.endpoint(".1 ");
        assertTrue(tracker.recognised());
        assertEquals(1, seen.requests());
        assertEquals(Protocol.HTTP1, tracker.protocol());
    }

    @Test
    void silenceEndsItWhenNothingIsUnderWayOrItIsNotRecognised() {
        assertTrue(tracker.endsBySilence());
        seen.client(GET);
        assertTrue(tracker.endsBySilence());
        seen.endpoint("HTTP/1.1 1");
        assertFalse(tracker.endsBySilence());
        seen.endpoint("00 x\r\n\r\n" + OK);
        assertTrue(tracker.endsBySilence());
        seen.client("GET");
        assertFalse(tracker.endsBySilence());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SSH-2.0-x\r\n",
                "GET /\r\n",
                "GET / HTTP/2.0\r\n\r\n",
                "GET / HTTP/1.2\r\n\r\n",
                "GET  / HTTP/1.1\r\n",
                "GET / HTTP/1.1 \r\n",
                " GET / HTTP/1.1\r\n",
                "GET / http/1.1\r\n",
                "\nGET / HTTP/1.1\r\n\r\n",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                "\u0016\u0003\u0001\u0002\u0000\u0001\u0000PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            })
    void whatIsNoRequestLineIsOpaqueAndPasses(String bytes) {
        seen.client(bytes).endpoint("answer");

        assertTrue(seen.isOpaque());
        assertEquals(bytes, seen.endpointSaw());
        assertEquals("answer", seen.clientSaw());
        assertEquals(0, seen.requests());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "220 hello\r\n",
                "HTTP/2.0 200 OK\r\n",
                "\r\nHTTP/1.1 200 OK\r\n",
                "HTTP/1.1 099 x\r\n",
                "HTTP/1.1 20 OK\r\n",
                "HTTP/1.1 2000 OK\r\n",
                "HTTP/1.1  200 OK\r\n"
            })
    void whatIsNoStatusLineIsOpaqueAndPasses(String bytes) {
        seen.client(GET).endpoint(bytes);

        assertTrue(seen.isOpaque());
        assertEquals(bytes, seen.clientSaw());
    }

    /** traefik/traefik#10592: a client that waits for a greeting must get it. */
    @Test
    void anEndpointThatGreetsFirstIsOpaqueAndIsHeardAtOnce() {
        seen.endpoint("220 ready\r\n");

        assertTrue(seen.isOpaque());
        assertEquals("220 ready\r\n", seen.clientSaw());
    }

    /** oven-sh/bun#40137: a decision for good on a part of the beginning. */
    @Test
    void theFirstLettersOfThePrefaceMayBeThoseOfARequest() {
        byte[] preface = WatchedHttp1.bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        tracker.resume(preface, 1);
        assertTrue(tracker.midExchange());
        seen.client("OST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx").endpoint(OK);
        assertFalse(tracker.midExchange());
        assertEquals(1, seen.requests());

        WatchedHttp1 other = new WatchedHttp1();
        other.tracker().resume(preface, 11);
        other.client("1.1\r\n\r\n").endpoint(OK);
        assertTrue(other.tracker().recognised());
        assertEquals(1, other.requests());

        WatchedHttp1 neither = new WatchedHttp1();
        neither.tracker().resume(preface, 8);
        neither.client("XX");
        assertTrue(neither.isOpaque());
        assertEquals("XX", neither.endpointSaw());

        for (Side next : Side.values()) {
            WatchedHttp1 whole = new WatchedHttp1();
            whole.tracker().resume(preface, 16);
            assertFalse(whole.isOpaque());
            assertTrue(whole.feed(next, new byte[] {'\r'}).isOpaque());
        }

        WatchedHttp1 none = new WatchedHttp1();
        none.tracker().resume(preface, 0);
        assertFalse(none.client(GET).isOpaque());
    }

    // Exchanges

    @Test
    void anExchangeIsOpenFromTheEndOfTheHeadToTheEndOfBothBodies() {
        seen.client("GET / HTTP/1.1\r\n");
        assertFalse(tracker.exchangeOpen());
        assertTrue(tracker.midExchange());
        seen.client("\r\n");
        assertTrue(tracker.exchangeOpen());
        seen.endpoint("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n1234");
        assertTrue(tracker.exchangeOpen());
        assertFalse(tracker.lastWord());
        seen.endpoint("5");
        assertFalse(tracker.exchangeOpen());
        assertFalse(tracker.midExchange());
        assertTrue(tracker.lastWord());
    }

    @Test
    void anEarlyResponseDoesNotEndAnExchangeWhoseRequestGoesOn() {
        seen.client("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n12345").endpoint(OK);
        assertTrue(tracker.exchangeOpen());
        seen.client("67890");
        assertFalse(tracker.exchangeOpen());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 204 No Content\r\n\r\n",
                "HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n",
                "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.0 200 \r\nCONTENT-LENGTH:3 \r\n\r\nabc",
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
                "HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\nabc",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTransfer-Encoding: gzip\r\nContent-Length: x\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: \tchunked \r\n\r\n1\r\nx\r\n0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip , chunked\r\n\r\n00a;q=\"1;2\"\r\n0123456789"
                        + "\r\n000 ;x\r\nContent-Length: 9\r\nX: y\r\n\r\n",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 x\r\n\r\nHTTP/1.1 103 x\r\nLink: y\r\n\r\nHTTP/1.1 103"
                        + " x\r\n\r\n" + OK
            })
    void aResponseEndsWhereItsFramingSays(String response) {
        for (int size = 1; size <= response.length(); size++) {
            WatchedHttp1 one = new WatchedHttp1().client(GET);
            for (int at = 0; at < response.length(); at += size) {
                assertTrue(one.tracker().exchangeOpen(), "before byte " + at);
                one.endpoint(response.substring(at, Math.min(response.length(), at + size)));
            }
            assertFalse(one.tracker().midExchange(), "in pieces of " + size);
            assertFalse(one.isOpaque());
            assertEquals(response, one.clientSaw());
        }
    }

    @Test
    void aResponseToHeadHasNoBodyAndTheNextOneHas() {
        seen.client(HEAD + GET).endpoint("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
        assertTrue(tracker.exchangeOpen());
        seen.endpoint(OK);
        assertFalse(tracker.midExchange());
        seen.client("HEADS / HTTP/1.1\r\n\r\nhead / HTTP/1.1\r\n\r\n").endpoint(OK + OK);
        assertFalse(tracker.midExchange());
        assertEquals(4, seen.requests());
    }

    @Test
    void aResponseWithoutLengthEndsWithItsConnection() {
        seen.client(GET).endpoint("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n");
        assertTrue(tracker.exchangeOpen());
        seen.fin(Side.UPSTREAM);
        assertFalse(tracker.midExchange());
        assertFalse(seen.isOpaque());
    }

    @Test
    void aClientsHalfCloseLetsTheResponseGoOn() {
        seen.client("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n12345").fin(Side.DOWNSTREAM);
        assertTrue(tracker.exchangeOpen());
        seen.endpoint(OK);
        assertFalse(tracker.midExchange());
        assertEquals(OK, seen.clientSaw());
    }

    @Test
    void emptyLinesBeforeARequestArePassedAndCountForNothing() {
        seen.client("\r\n\r\n" + GET + "\r\n" + GET).endpoint(OK + OK);

        assertEquals(2, seen.requests());
        assertFalse(tracker.midExchange());
        assertFalse(seen.isOpaque());
    }

    @Test
    void anAnswerThatNobodyAskedForIsOpaque() {
        seen.client(GET).endpoint(OK).endpoint("HTTP/1.1 408 Request Timeout\r\n\r\n");
        assertTrue(seen.isOpaque());

        WatchedHttp1 early = new WatchedHttp1().client("GET / HTTP").endpoint("HTTP/1.1 400 x\r\n\r\n");
        assertTrue(early.isOpaque());
    }

    // What is ambiguous

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
                "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
                "Content-Length: 3\r\nContent-Length: 4\r\n",
                "Content-Length: 3, 4\r\n",
                "Content-Length: \r\n",
                "Content-Length: +3\r\n",
                "Content-Length: 3 3\r\n",
                "Content-Length: 3,\r\n",
                "Content-Length: 99999999999999999999\r\n",
                "Transfer-Encoding: chunked, gzip\r\n",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n",
                "Transfer-Encoding: chunked, chunked\r\n",
                "Transfer-Encoding: gzip\r\n",
                "Transfer-Encoding: xchunked\r\n",
                "Transfer-Encoding: chunked;a=b\r\n",
                "Transfer-Encoding: ,chunked\r\n",
                "Transfer-Encoding: chun ked\r\n",
                "Transfer-Encoding: \u000bchunked\r\n",
                "Transfer-Encoding:\r\n",
                "Content-Length : 3\r\n",
                "X : y\r\n",
                ": y\r\n",
                "X\r\n",
                " X: y\r\n",
                "X: y\r\n z\r\n",
                "X: y\r\n\tz\r\n",
                "X: y\rz\r\n",
                "X: y\nZ: z\r\n",
                "X: \u0000\r\n",
                "Connection: close\n\r\n",
                "X(y): z\r\n",
                "\n"
            })
    void anAmbiguousHeadIsOpaqueAndPassesOnBothSides(String lines) {
        String request = "POST / HTTP/1.1\r\n" + lines + "\r\n";
        for (int split = 1; split < request.length(); split++) {
            WatchedHttp1 one = new WatchedHttp1().client(request.substring(0, split));
            one.client(request.substring(split)).endpoint(OK);
            assertTrue(one.isOpaque());
            assertEquals(0, one.requests());
            assertEquals(request, one.endpointSaw());
        }
        String response = "HTTP/1.1 200 OK\r\n" + lines + "\r\nabc";
        seen.withCap(1).client(GET).endpoint(response);
        assertTrue(seen.isOpaque());
        assertEquals(response, seen.clientSaw());
        assertFalse(tracker.told());
    }

    @Test
    void aCodingInAnOldVersionIsOpaque() {
        seen.client("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n");

        assertTrue(seen.isOpaque());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\r\n",
                "x\r\n",
                "-1\r\n",
                "0x1\r\n",
                " 1\r\n",
                "1 \r\n",
                "1 2\r\n",
                "1\n",
                "1;a\n",
                "1\r\nab",
                "1\r\na\n",
                "1\r\na\rx",
                "0\r\n x\r\n",
                "0\r\nX: y\n",
                "0\r\n\rx",
                "8000000000000000\r\n",
                "000000010000000000000000\r\n"
            })
    void invalidChunksAreOpaqueAndPass(String chunks) {
        String response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        seen.client(GET).endpoint(response).endpoint(chunks);

        assertTrue(seen.isOpaque());
        assertEquals(response + chunks, seen.clientSaw());
    }

    @Test
    void headsLongerThanTheBoundAreOpaque() {
        String start = "GET / HTTP/1.1\r\nX: ";
        String fits = start + "y".repeat(MessageReader.HEAD_BYTES_MAX - start.length() - 4) + "\r\n\r\n";
        seen.client(fits).endpoint(OK).client(fits).endpoint(OK);
        assertFalse(seen.isOpaque());
        assertEquals(2, seen.requests());

        for (int size : new int[] {1, 4_096, Integer.MAX_VALUE}) {
            WatchedHttp1 longer = new WatchedHttp1();
            String request = start + "y" + fits.substring(start.length());
            for (int at = 0; at < request.length(); at += Math.min(size, request.length())) {
                longer.client(request.substring(at, at + Math.min(size, request.length() - at)));
            }
            assertTrue(longer.isOpaque());
            assertEquals(request, longer.endpointSaw());
        }
    }

    @Test
    void moreUnansweredRequestsThanAreRememberedAreOpaque() {
        seen.client(GET.repeat(Unanswered.MAX));
        assertFalse(seen.isOpaque());
        seen.client(GET);
        assertTrue(seen.isOpaque());
        assertEquals(Unanswered.MAX, seen.requests());
        assertEquals(GET.repeat(Unanswered.MAX + 1), seen.endpointSaw());
    }

    @Test
    void ofManyPipelinedRequestsEachResponseFindsItsOwn() {
        Random random = new Random(5);
        for (int round = 0; round < 40; round++) {
            int count = 1 + random.nextInt(round < 38 ? 90 : Unanswered.MAX);
            StringBuilder requests = new StringBuilder();
            StringBuilder responses = new StringBuilder();
            for (int i = 0; i < count; i++) {
                boolean head = random.nextBoolean();
                requests.append(head ? HEAD : GET);
                responses.append("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n").append(head ? "" : "HTT");
            }
            seen.client(requests.toString()).endpoint(responses.toString());
            assertFalse(tracker.midExchange());
            assertFalse(seen.isOpaque());
        }
    }

    // Other protocols

    /** envoyproxy/envoy#3952: upgraded connections are no requests any more. */
    @Test
    void anUpgradeThatIsAgreedToCountsOnceAndEndsTheWatching() {
        seen.client(UPGRADE).endpoint(SWITCHING + GET);
        seen.client(GET + "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").endpoint(OK);

        assertTrue(seen.isSwitched());
        assertEquals(1, seen.requests());
        assertEquals(SWITCHING + GET + OK, seen.clientSaw());
    }

    @Test
    void anUpgradeThatIsRefusedIsARequestLikeOthers() {
        seen.client(UPGRADE).endpoint(OK).client(GET).endpoint(OK);

        assertFalse(seen.isSwitched());
        assertEquals(2, seen.requests());
        assertFalse(tracker.midExchange());
    }

    /** envoyproxy/envoy#45250. */
    @Test
    void aTunnelThatIsAgreedToCountsOnceAndEndsTheWatching() {
        String established = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        seen.client(CONNECT).endpoint(established).client(GET).endpoint("SSH-2.0\r\n");

        assertTrue(seen.isSwitched());
        assertEquals(1, seen.requests());
        assertEquals(established + "SSH-2.0\r\n", seen.clientSaw());
    }

    @Test
    void aTunnelThatIsRefusedIsARequestLikeOthers() {
        seen.client(CONNECT).endpoint("HTTP/1.1 403 no\r\nContent-Length: 1\r\n\r\nx");
        seen.client(GET).endpoint(OK);

        assertFalse(tracker.midExchange());
        assertEquals(2, seen.requests());
    }

    @Test
    void aConnectBehindAnotherRequestIsNotAnsweredByThatOnesResponse() {
        seen.client(GET + CONNECT).endpoint(OK);
        assertFalse(seen.isSwitched());
        seen.endpoint("HTTP/1.1 200 OK\r\n\r\n");
        assertTrue(seen.isSwitched());

        WatchedHttp1 begun =
                new WatchedHttp1().client(GET + CONNECT.substring(0, 20)).endpoint(OK);
        assertFalse(begun.isSwitched());
    }

    @Test
    void bytesBehindARequestForAnotherProtocolAreOpaqueUntilItIsAnswered() {
        assertTrue(new WatchedHttp1().client(UPGRADE + GET).isOpaque());
        assertTrue(new WatchedHttp1().client(CONNECT).client("x").isOpaque());
        assertTrue(new WatchedHttp1()
                .client("CONNECT a:1 HTTP/1.1\r\nContent-Length: 1\r\n\r\n")
                .isOpaque());
    }

    @Test
    void switchingUnaskedIsOpaque() {
        assertTrue(new WatchedHttp1().client(GET).endpoint(SWITCHING).isOpaque());
        String old = UPGRADE.replace("HTTP/1.1", "HTTP/1.0");
        assertTrue(new WatchedHttp1().client(old).endpoint(SWITCHING).isOpaque());
    }

    // Retiring

    @Test
    void theResponseUnderWayWhenItRetiresSaysCloseAndTheNextRequestIsNotPassedOn() {
        seen.client(GET).endpoint(OK).client(GET);
        tracker.retire();
        assertTrue(seen.holding());
        seen.client(GET).endpoint(OK.substring(0, 10));
        assertFalse(tracker.told());
        seen.endpoint(OK.substring(10));

        assertEquals(OK + OK_AND_CLOSE, seen.clientSaw());
        assertEquals(GET + GET, seen.endpointSaw());
        assertEquals(GET, WatchedHttp1.text(seen.held()));
        assertTrue(tracker.told());
        assertEquals(RetireHow.RESPONSE, tracker.how());
        assertTrue(seen.isOver());
        seen.fin(Side.UPSTREAM).fin(Side.DOWNSTREAM);
        assertTrue(seen.isOver());
    }

    @Test
    void betweenExchangesTheNextRequestIsTheLast() {
        seen.client(GET).endpoint(OK);
        tracker.retire();
        tracker.retire();
        assertFalse(seen.holding());
        assertTrue(tracker.lastWord());
        seen.client(GET + GET).endpoint(OK);

        assertEquals(GET + GET, seen.endpointSaw());
        assertEquals(OK + OK_AND_CLOSE, seen.clientSaw());
        assertTrue(seen.isOver());
    }

    @Test
    void theLineIsInsertedRightBeforeTheBlankLineOfAHeadThatComesWhole() {
        seen.withCap(1).client(GET).endpoint("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: keep-alive\r\n\r\nok");

        assertEquals(
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: keep-alive\r\nConnection: close\r\n\r\nok",
                seen.clientSaw());
    }

    @Test
    void itIsInsertedOnceAtTheBeginningOfALineWhateverTheSplit() {
        for (String own : new String[] {"X: y", "Connection: keep-alive"}) {
            String response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + own + "\r\n\r\nok";
            for (int one = 0; one < response.length(); one++) {
                for (int two = one; two < response.length(); two++) {
                    WatchedHttp1 split = new WatchedHttp1().withCap(1).client(GET);
                    split.endpoint(response.substring(0, one)).endpoint(response.substring(one, two));
                    split.endpoint(response.substring(two));
                    String got = split.clientSaw();
                    int at = got.indexOf("\nConnection: close\r\n");

                    assertTrue(at > 0 && at < got.indexOf("\r\n\r\n"), got);
                    assertEquals(response, got.replace("\nConnection: close\r\n", "\n"));
                    assertTrue(got.indexOf("Connection:") == at + 1, () -> "another stands before it: " + got);
                    assertTrue(split.isOver());
                }
            }
        }
    }

    @Test
    void retiredBehindTheFinalHeadTheNextRequestIsTheLast() {
        int blankLine = OK.indexOf("\r\n\r\n") + 2;
        for (int split = 1; split < OK.length(); split++) {
            WatchedHttp1 one = new WatchedHttp1().client(GET).endpoint(OK);
            one.client(GET).endpoint(OK.substring(0, split));
            one.tracker().retire();
            one.endpoint(OK.substring(split));
            boolean inTime = split <= blankLine;
            assertEquals(inTime, one.isOver(), "split at " + split);
            assertEquals(OK + (inTime ? OK_AND_CLOSE : OK), one.clientSaw());
            one.client(GET).endpoint(inTime ? "" : OK);
            assertEquals(inTime ? OK + OK_AND_CLOSE : OK + OK + OK_AND_CLOSE, one.clientSaw());
            assertTrue(one.isOver());
        }
    }

    @Test
    void behindTheEndpointsEndNothingIsHeld() {
        seen.client(GET).endpoint(OK).client(GET).fin(Side.UPSTREAM);
        tracker.retire();
        assertFalse(seen.holding());
        seen.client(GET);

        assertFalse(seen.holding());
        assertEquals(GET.repeat(3), seen.endpointSaw());
    }

    @Test
    void aRequestWhoseHeadIsBegunWhenItRetiresIsTheLast() {
        seen.client(GET).endpoint(OK).client(GET + "GET / HT");
        tracker.retire();
        assertFalse(seen.holding());
        seen.client("TP/1.1\r\n\r\n" + GET).endpoint(OK + OK);

        assertEquals(GET + GET + "GET / HTTP/1.1\r\n\r\n", seen.endpointSaw());
        assertEquals(OK + OK + OK_AND_CLOSE, seen.clientSaw());
        assertTrue(seen.isOver());
    }

    @Test
    void theBodyOfTheLastRequestIsPassedOnToItsEnd() {
        seen.client(GET).endpoint(OK).client("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n123");
        tracker.retire();
        seen.endpoint(OK);
        assertTrue(tracker.told());
        assertFalse(seen.isOver());
        seen.client("4567890" + GET);

        assertTrue(seen.isOver());
        assertTrue(seen.endpointSaw().endsWith("1234567890"));
    }

    @Test
    void aLastRequestThatTheClientBreaksOffIsOver() {
        seen.withCap(1)
                .client("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n123")
                .endpoint(OK);
        assertFalse(seen.isOver());
        seen.fin(Side.DOWNSTREAM);
        assertTrue(seen.isOver());
    }

    @Test
    void aLastResponseWithoutLengthEndsWithItsConnection() {
        seen.withCap(1).client(GET).endpoint("HTTP/1.0 200 OK\r\n\r\nbody");
        assertEquals("HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nbody", seen.clientSaw());
        assertFalse(seen.isOver());
        seen.fin(Side.UPSTREAM);
        assertTrue(seen.isOver());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Connection: close\r\n",
                "connection:CLOSE\r\n",
                "Connection: keep-alive, Close\r\n",
                "Connection: ,, close ,x\r\n",
                "Connection: x\r\nX: y\r\nCONNECTION:\tclose\t\r\n"
            })
    void aHeadThatSaysCloseOfItsOwnIsLeftAsItIs(String lines) {
        String response = "HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 0\r\n\r\n";
        seen.withCap(1).client(GET).endpoint(response);

        assertEquals(response, seen.clientSaw());
        assertTrue(tracker.told());
        assertTrue(seen.isOver());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Connection: closed\r\n",
                "Connection: clos\r\n",
                "Connection: clo se\r\n",
                "Connection: close x\r\n",
                "Connection: \"close\"\r\n",
                "Connections: close\r\n",
                "Connectio: close\r\n",
                "X-Connection: close\r\n",
                "X: y, close\r\n",
                "Connection: keep-alive\r\n"
            })
    void whatOnlyLooksLikeCloseIsNone(String lines) {
        seen.withCap(1).client(GET).endpoint("HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 0\r\n\r\n");

        String told = lines.startsWith("Connection:")
                ? "HTTP/1.1 200 OK\r\nConnection: close\r\n" + lines + "Content-Length: 0\r\n\r\n"
                : "HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 0\r\nConnection: close\r\n\r\n";
        assertEquals(told, seen.clientSaw());
    }

    /** Java's HttpClient and Python's http.client look at the first Connection line only, and nginx always has one. */
    @Test
    void ourLineStandsBeforeAConnectionLineOfTheEndpoint() {
        seen.withCap(1).client(GET);
        seen.endpoint("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n");

        assertEquals(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n",
                seen.clientSaw());
    }

    @Test
    void ourLineStandsBeforeTheFirstLineThatBeginsAPiece() {
        seen.client(GET).endpoint("HTTP/1.1 200 OK\r\n");
        tracker.retire();
        seen.endpoint("Connection: keep-alive\r\nContent-Length: 0\r\n\r\n");

        assertEquals(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
                seen.clientSaw());
        assertTrue(seen.isOver());
    }

    /** A folded line (RFC 9112, section 5.2) would go on with ours. */
    @Test
    void ourLineStandsNotBetweenALineAndWhatIsFoldedUnderIt() {
        String first = "HTTP/1.1 200 OK\r\nX: a";
        seen.client(GET).endpoint(first);
        tracker.retire();
        seen.endpoint("b\r\n").endpoint("\tc\r\nContent-Length: 0\r\n\r\n");

        assertTrue(seen.isOpaque());
        assertEquals(first + "b\r\n\tc\r\nContent-Length: 0\r\n\r\n", seen.clientSaw());
        assertFalse(tracker.told());
    }

    @Test
    void aCloseThatHasPassedBeforeTheConnectionRetiresIsEnough() {
        String first = "HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nX: ";
        seen.client(GET).endpoint(first);
        tracker.retire();
        seen.endpoint("y\r\nZ: z\r\nContent-");
        seen.endpoint("Length: 0\r\n\r\n");

        assertEquals(first + "y\r\nZ: z\r\nContent-Length: 0\r\n\r\n", seen.clientSaw());
        assertTrue(tracker.told());
        assertTrue(seen.isOver());
    }

    @Test
    void aCloseOfTheEndpointsOwnBeforeTheLastChangesNothing() {
        seen.client(GET).endpoint(OK_AND_CLOSE);
        assertFalse(tracker.told());
        assertFalse(seen.isOver());
        assertEquals(OK_AND_CLOSE, seen.clientSaw());
    }

    /** nghttp2/nghttp2#1259 and nginx/nginx#1241: interim responses taken for final ones. */
    @Test
    void interimResponsesNeitherCountNorSayClose() {
        String interim =
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 103 E\r\n\r\n";
        seen.withCap(10);
        for (int i = 1; i <= 10; i++) {
            assertFalse(seen.isOver());
            seen.client(GET).endpoint(interim + (i < 10 ? OK : ""));
            assertTrue(i < 10 || tracker.exchangeOpen());
        }
        assertFalse(tracker.told());
        seen.endpoint(OK);

        assertEquals(10, seen.requests());
        assertEquals((interim + OK).repeat(9) + interim + OK_AND_CLOSE, seen.clientSaw());
        assertTrue(seen.isOver());
    }

    /** drbrain/net-http-pipeline#2: a cap that cuts a pipeline. */
    @Test
    void ofAPipelineTheCapLeavesAllThatWasPassedOnAnsweredAndSendsNoMore() {
        seen.withCap(100).client(GET).endpoint(OK);
        String post = "POST / HTTP/1.1\r\nContent-Length: " + GET.length() + "\r\n\r\n" + GET;
        seen.client(post.repeat(149));
        assertEquals(100, seen.requests());
        assertEquals(GET + post.repeat(99), seen.endpointSaw());
        seen.endpoint(OK.repeat(99));

        assertTrue(seen.clientSaw().endsWith(OK + OK_AND_CLOSE));
        assertEquals(OK.repeat(99) + OK_AND_CLOSE, seen.clientSaw());
        assertTrue(seen.isOver());
    }

    /** The same in one write, before the endpoint has shown what it speaks. */
    @Test
    void theCapActsAtTheNextChanceWhenItWasReachedBeforeTheProtocolWasRecognised() {
        String requests = (HEAD + GET).repeat(75);
        seen.withCap(100).client(requests);
        assertEquals(150, seen.requests());
        assertEquals(requests, seen.endpointSaw());
        seen.endpoint("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
        assertTrue(seen.holding());
        seen.client(GET).endpoint(OK);
        for (int i = 2; i < 150; i += 2) {
            assertFalse(tracker.told());
            seen.endpoint("HTTP/1.1 304 x\r\nContent-Length: 2\r\n\r\n").endpoint(OK);
        }

        assertTrue(seen.clientSaw().endsWith(OK_AND_CLOSE));
        assertEquals(requests, seen.endpointSaw());
        assertTrue(seen.isOver());
    }

    @Test
    void retiredBeforeItIsRecognisedItIsRememberedAndDone() {
        tracker.retire();
        assertFalse(seen.holding());
        seen.client(GET).endpoint("HTTP/1");
        assertFalse(seen.holding());
        seen.endpoint(OK.substring(6));

        assertTrue(seen.isOver());
        assertEquals(OK_AND_CLOSE, seen.clientSaw());
    }

    @Test
    void anUpgradeThatIsAgreedToWhileRetiringGetsNoLineAndWhatWasHeldGoesOn() {
        seen.withCap(1).client(UPGRADE).endpoint("HTTP/1.1 103 x\r\n\r\nHT");
        seen.client(GET);
        assertEquals(UPGRADE, seen.endpointSaw());
        seen.endpoint(SWITCHING.substring(2) + "x");

        assertTrue(seen.isSwitched());
        assertFalse(tracker.told());
        assertEquals(UPGRADE + GET, seen.endpointSaw());
        assertEquals("HTTP/1.1 103 x\r\n\r\n" + SWITCHING + "x", seen.clientSaw());
        assertEquals(1, seen.requests());
    }

    @Test
    void aTunnelThatIsAgreedToWhileRetiringGetsNoLineAndWhatWasHeldGoesOn() {
        seen.client(GET).endpoint(OK);
        tracker.retire();
        seen.client(CONNECT + "\u0016\u0003\u0001").endpoint("HTTP/1.1 200 OK\r\n\r\nx");

        assertTrue(seen.isSwitched());
        assertFalse(seen.isOver());
        assertEquals(GET + CONNECT + "\u0016\u0003\u0001", seen.endpointSaw());
        assertEquals(OK + "HTTP/1.1 200 OK\r\n\r\nx", seen.clientSaw());
    }

    @Test
    void aTunnelThatIsRefusedWhileRetiringSaysClose() {
        seen.withCap(1).client(CONNECT).endpoint("HTTP/1.1 403 no\r\nContent-Length: 0\r\n\r\n");

        assertEquals("HTTP/1.1 403 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", seen.clientSaw());
        assertTrue(seen.isOver());
    }

    @Test
    void staysWhenItWasNotToldYetAndWhatWasHeldIsCounted() {
        seen.client(GET).endpoint(OK).client(GET);
        tracker.retire();
        seen.client(GET + HEAD);
        tracker.stay();
        assertFalse(seen.holding());
        assertEquals(4, seen.requests());
        seen.endpoint(OK + OK + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");

        assertFalse(seen.isOver());
        assertEquals(0, seen.inserted());
        assertFalse(tracker.midExchange());
        tracker.retire();
        seen.client(GET).endpoint(OK);
        assertTrue(seen.isOver());
    }

    @Test
    void leavesAllTheSameWhenItWasTold() {
        seen.withCap(1).client(GET).endpoint(OK.substring(0, OK.length() - 1));
        assertTrue(tracker.told());
        tracker.stay();
        seen.client(GET).endpoint("k");

        assertTrue(seen.isOver());
        assertEquals(GET, seen.endpointSaw());
    }

    @Test
    void whatWasHeldGoesOnWhenTheLastResponseTurnsOpaque() {
        seen.withCap(2).client(GET).endpoint(OK).client(GET + GET);
        assertEquals(GET + GET, seen.endpointSaw());
        seen.endpoint("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense");

        assertTrue(seen.isOpaque());
        assertFalse(seen.isOver());
        assertEquals(GET + GET + GET, seen.endpointSaw());
        assertEquals(
                OK + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nnonsense",
                seen.clientSaw());
    }

    /** envoyproxy/envoy#19664: a request that comes between the end of the drain and the close. */
    @Test
    void aRequestAtAnyMomentOfTheEndIsAnsweredOrNeverSent() {
        for (int at = 0; at < 6; at++) {
            WatchedHttp1 one = new WatchedHttp1().client(GET).endpoint(OK);
            int asked = 1;
            for (int step = 0; step < 6; step++) {
                if (step == at) {
                    one.tracker().retire();
                }
                if (step == 0 || step == 2) {
                    one.client(GET);
                    asked++;
                } else if (step == 3) {
                    one.endpoint(OK.substring(0, 30));
                } else if (step == 4) {
                    one.endpoint(OK.substring(30));
                }
            }
            int passedOn = one.endpointSaw().length() / GET.length();
            for (int answered = 2; answered < passedOn; answered++) {
                one.endpoint(OK);
            }
            assertEquals(asked * GET.length(), one.endpointSaw().length() + one.held().length);
            assertFalse(one.tracker().exchangeOpen());
            assertFalse(one.isOpaque());
        }
    }

    @Test
    void afterTheEndNothingIsReadIntoWhatStillComes() {
        seen.withCap(1).client(GET).endpoint(OK).endpoint("junk");

        assertTrue(seen.isOver());
        assertFalse(seen.isOpaque());
    }
}
