package dev.tidegate.protocol;

import static dev.tidegate.protocol.Http2Bytes.ACK;
import static dev.tidegate.protocol.Http2Bytes.CONTINUATION;
import static dev.tidegate.protocol.Http2Bytes.DATA;
import static dev.tidegate.protocol.Http2Bytes.END_HEADERS;
import static dev.tidegate.protocol.Http2Bytes.END_STREAM;
import static dev.tidegate.protocol.Http2Bytes.GOAWAY;
import static dev.tidegate.protocol.Http2Bytes.HEADERS;
import static dev.tidegate.protocol.Http2Bytes.MAX_ID;
import static dev.tidegate.protocol.Http2Bytes.NONE;
import static dev.tidegate.protocol.Http2Bytes.PADDED;
import static dev.tidegate.protocol.Http2Bytes.PING;
import static dev.tidegate.protocol.Http2Bytes.PREFACE;
import static dev.tidegate.protocol.Http2Bytes.PUSH_PROMISE;
import static dev.tidegate.protocol.Http2Bytes.RST_STREAM;
import static dev.tidegate.protocol.Http2Bytes.SETTINGS;
import static dev.tidegate.protocol.Http2Bytes.WINDOW_UPDATE;
import static dev.tidegate.protocol.Http2Bytes.ascii;
import static dev.tidegate.protocol.Http2Bytes.data;
import static dev.tidegate.protocol.Http2Bytes.frame;
import static dev.tidegate.protocol.Http2Bytes.goaway;
import static dev.tidegate.protocol.Http2Bytes.head;
import static dev.tidegate.protocol.Http2Bytes.integer;
import static dev.tidegate.protocol.Http2Bytes.join;
import static dev.tidegate.protocol.Http2Bytes.ping;
import static dev.tidegate.protocol.Http2Bytes.priority;
import static dev.tidegate.protocol.Http2Bytes.promise;
import static dev.tidegate.protocol.Http2Bytes.request;
import static dev.tidegate.protocol.Http2Bytes.requestFields;
import static dev.tidegate.protocol.Http2Bytes.reset;
import static dev.tidegate.protocol.Http2Bytes.response;
import static dev.tidegate.protocol.Http2Bytes.settings;
import static dev.tidegate.protocol.Http2Bytes.settingsAck;
import static dev.tidegate.protocol.Http2Bytes.statusFields;
import static dev.tidegate.protocol.Http2Bytes.trailerFields;
import static dev.tidegate.protocol.Http2Bytes.trailers;
import static dev.tidegate.protocol.Http2Bytes.windowUpdate;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules of the HTTP/2 tracker, one by one. */
class Http2TrackerTest {
    private final Http2Wire wire = new Http2Wire();
    private final Http2Tracker tracker = wire.tracker;

    @AfterEach
    void nothingOfTheEndpointIsLost() {
        assertArrayEquals(wire.fromEndpoint(), wire.toClientOfEndpoint());
    }

    // Recognition.

    @Test
    void isRecognisedWhenBothSidesHaveShownIt() {
        wire.client(PREFACE);
        assertFalse(tracker.recognised());
        wire.endpoint(settings(0));

        assertTrue(tracker.recognised());
        assertFalse(tracker.midExchange());
    }

    @Test
    void mayEndBySilenceOnlyAsLongAsItIsNotRecognised() {
        wire.client(PREFACE, settings(0));
        assertTrue(tracker.endsBySilence());
        wire.endpoint(settings(0));

        assertFalse(tracker.endsBySilence());
        assertEquals(Protocol.HTTP2, tracker.protocol());
        assertEquals(RetireHow.GOAWAY, tracker.how());
    }

    @Test
    void isRecognisedWhenTheEndpointSpeaksFirst() {
        wire.endpoint(settings(3));
        assertFalse(tracker.recognised());
        wire.client(PREFACE);

        assertTrue(tracker.recognised());
    }

    /** oven-sh/bun#40137: whatever the first read holds, nothing is decided on it for good. */
    @ParameterizedTest
    @ValueSource(ints = {1, 8, 18, 23})
    void aPrefaceThatIsBrokenOffIsOpaqueWithAllItsBytes(int length) {
        wire.client(Arrays.copyOf(PREFACE, length));
        assertEquals(0, wire.opaques);
        wire.client(ascii("?nonsense"));

        assertEquals(1, wire.opaques);
        assertArrayEquals(wire.fromClient(), wire.toEndpoint());
    }

    @Test
    void whatWasSeenOfThePrefaceBeforeCounts() {
        tracker.resume(10);
        wire.client(Arrays.copyOfRange(PREFACE, 10, PREFACE.length), settings(0));
        wire.endpoint(settings(0));

        assertTrue(tracker.recognised());
        assertEquals(0, wire.opaques);
    }

    /** wanghongenpin/proxypin#921: a client that waits for the endpoint's settings before it asks for anything. */
    @Test
    void greetingsPassAtOnceInBothDirections() {
        wire.client(PREFACE, settings(1));
        assertArrayEquals(join(PREFACE, settings(1)), wire.toEndpoint());
        wire.endpoint(settings(0));
        assertArrayEquals(settings(0), wire.toClient());

        assertEquals(0, wire.takenOver);
    }

    static Stream<Arguments> otherGreetings() {
        return Stream.of(
                Arguments.of("an acknowledgement", settingsAck()),
                Arguments.of("a stream's settings", frame(SETTINGS, NONE, 1)),
                Arguments.of("a length that is no multiple of 6", frame(SETTINGS, NONE, 0, new byte[5])),
                Arguments.of("a GOAWAY", goaway(0)),
                Arguments.of("HTTP/1", ascii("HTTP/1.1 400 Bad Request\r\n\r\n")),
                Arguments.of("TLS", new byte[] {22, 3, 3, 0, 100, 2, 0, 0, 96, 3}));
    }

    /** cloudflare/pingora#826: bytes of something else are not read as frames. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("otherGreetings")
    void anEndpointThatGreetsOtherwiseIsOpaque(String name, byte[] first) {
        wire.client(PREFACE, settings(0), request(1, NONE));
        wire.endpoint(first);

        assertEquals(1, wire.opaques);
        assertEquals(0, wire.requests);
        assertArrayEquals(first, wire.toClient());
        assertArrayEquals(wire.fromClient(), wire.toEndpoint());
    }

    @Test
    void aClientWhoseFirstFrameIsNotItsSettingsIsOpaque() {
        wire.client(PREFACE, request(1, NONE));

        assertEquals(1, wire.opaques);
    }

    /** cloudflare/pingora#826, the other way round: a preface inside a payload is payload. */
    @Test
    void aPrefaceInTheMiddleIsNothing() {
        wire.greeted().client(request(1, NONE), frame(DATA, NONE, 1, PREFACE));
        wire.endpoint(response(1, NONE), frame(DATA, END_STREAM, 1, PREFACE));

        assertEquals(0, wire.opaques);
        assertEquals(1, wire.requests);
        assertTrue(tracker.exchangeOpen());
    }

    // Streams.

    @Test
    void aStreamIsOpenUntilBothSidesHaveEnded() {
        wire.greeted().client(request(1, NONE));
        wire.endpoint(response(1, NONE), data(1, 10, END_STREAM));
        assertTrue(tracker.exchangeOpen());
        wire.client(data(1, 0, END_STREAM));

        assertFalse(tracker.exchangeOpen());
        assertFalse(tracker.midExchange());
        assertEquals(1, wire.requests);
    }

    @Test
    void aStreamOnlyEndsWithTheLastByteOfItsLastFrame() {
        byte[] last = data(1, 10, END_STREAM);
        wire.greeted().client(request(1, END_STREAM));
        wire.endpoint(response(1, NONE), Arrays.copyOf(last, last.length - 1));
        assertTrue(tracker.exchangeOpen());
        wire.endpoint(new byte[1]);

        assertFalse(tracker.exchangeOpen());
    }

    @Test
    void eitherSidesResetEndsAStream() {
        wire.greeted().client(request(1, NONE), request(3, NONE));
        wire.client(reset(1));
        assertTrue(tracker.exchangeOpen());
        wire.endpoint(reset(3));

        assertFalse(tracker.exchangeOpen());
        assertEquals(2, wire.requests);
    }

    @Test
    void endStreamOnHeadersCountsWhenTheirContinuationIsWhole() {
        byte[] fields = requestFields();
        wire.greeted().client(frame(HEADERS, END_STREAM, 1, fields[0]), frame(CONTINUATION, NONE, 1, fields[1]));
        wire.endpoint(response(1, END_STREAM));
        assertTrue(tracker.exchangeOpen());
        assertTrue(tracker.midExchange());
        wire.client(frame(CONTINUATION, END_HEADERS, 1, fields[2]));

        assertFalse(tracker.midExchange());
        assertEquals(1, wire.requests);
    }

    /** nghttp2/nghttp2#1259 and nginx/nginx#1241: early answers are no answers, however many. */
    @Test
    void earlyAnswersEndNothingAndCountNothing() {
        wire.greeted().client(request(1, END_STREAM));
        for (int status : new int[] {100, 103, 103, 200}) {
            wire.endpoint(frame(HEADERS, END_HEADERS, 1, statusFields(status)));
            assertTrue(tracker.exchangeOpen());
        }
        wire.endpoint(trailers(1));

        assertFalse(tracker.exchangeOpen());
        assertEquals(1, wire.requests);
    }

    /** envoyproxy/envoy#6130: the totals add up, whatever else there is on a connection. */
    @Test
    void countsOneForEachStreamOfTheClient() {
        wire.greeted();
        int asked = 0;
        for (int id = 1; id < 400; id += 8) {
            wire.client(request(id, NONE), data(id, 5, NONE), trailers(id), request(id + 2, NONE), reset(id + 2));
            wire.endpoint(promise(id, id + 1), response(id, NONE), response(id + 1, NONE), trailers(id));
            wire.client(request(id + 4, END_STREAM), ping(NONE, id));
            wire.endpoint(data(id + 1, 7, END_STREAM), ping(ACK, id), reset(id + 4));
            asked += 3;
        }
        wire.endpoint(goaway(MAX_ID));
        wire.client(request(401, END_STREAM));
        wire.endpoint(response(401, END_STREAM));

        assertEquals(asked + 1, wire.requests);
        assertFalse(tracker.exchangeOpen());
        assertEquals(0, wire.opaques);
    }

    @Test
    void headersOnAStreamThatHasEndedCountNothingAndOpenNothing() {
        wire.greeted().client(request(5, END_STREAM));
        wire.endpoint(response(5, END_STREAM));

        wire.client(request(5, NONE), request(3, NONE));

        assertEquals(1, wire.requests);
        assertFalse(tracker.exchangeOpen());
    }

    @Test
    void aPromisedStreamIsOpenUntilTheEndpointEndsIt() {
        wire.greeted().client(request(1, END_STREAM));
        wire.endpoint(promise(1, 2), response(1, END_STREAM));
        assertTrue(tracker.exchangeOpen());
        wire.endpoint(response(2, NONE), data(2, 3, END_STREAM));

        assertFalse(tracker.exchangeOpen());
        assertEquals(1, wire.requests);
    }

    @Test
    void aPromiseWithPaddingAndContinuationIsTheSame() {
        byte[] fields = requestFields();
        byte[] payload = join(new byte[] {2}, integer(0x8000_0004), new byte[] {fields[0], 0, 0});
        wire.greeted().client(request(1, END_STREAM));
        wire.endpoint(
                frame(PUSH_PROMISE, PADDED, 1, payload), frame(CONTINUATION, END_HEADERS, 1, fields[1], fields[2]));
        wire.endpoint(response(1, END_STREAM));
        assertTrue(tracker.exchangeOpen());
        wire.client(reset(4));

        assertFalse(tracker.exchangeOpen());
        assertEquals(0, wire.opaques);
    }

    @Test
    void aRequestIsToldOfBeforeItsBytesPass() {
        wire.greeted();
        int[] passedAtRequest = {-1};
        wire.atRequest = () -> passedAtRequest[0] = wire.toEndpoint().length;
        int before = wire.toEndpoint().length;
        wire.client(request(1, NONE));

        assertEquals(before, passedAtRequest[0]);
    }

    @Test
    void requestsBeforeTheEndpointSpeaksAreCountedWhenItDoes() {
        wire.client(PREFACE, settings(1), request(1, END_STREAM), request(3, END_STREAM));
        assertEquals(0, wire.requests);
        assertTrue(tracker.exchangeOpen());
        wire.endpoint(settings(1));

        assertEquals(2, wire.requests);
    }

    // Frames.

    /** embedthis/appweb#4: a flag that has no meaning on a frame's type has none. */
    @Test
    void onlyTheLengthSaysWhereAFrameEnds() {
        wire.greeted().client(request(1, NONE));
        byte[] odd = join(
                frame(SETTINGS, PADDED, 0, new byte[] {0, 3, 0, 0, 0, 9}),
                frame(PING, PADDED, 0, new byte[] {7, 7, 7, 7, 7, 7, 7, 7}),
                frame(WINDOW_UPDATE, PADDED, 0, new byte[] {0, 0, 0, 9}),
                frame(0xfe, 0xff, 1, new byte[] {9, 9, 9}),
                frame(0x0a, PADDED, 0, new byte[] {(byte) 200}));
        wire.client(odd);
        wire.endpoint(odd);
        assertTrue(tracker.exchangeOpen());
        wire.client(reset(1));

        assertFalse(tracker.midExchange());
        assertEquals(0, wire.opaques);
        assertEquals(0, wire.takenOver);
    }

    /** embedthis/appweb#4: a frame of the greatest length passes as it comes. */
    @Test
    void aFrameOfTheGreatestLengthPassesByteByByte() {
        int length = (1 << 24) - 1;
        wire.greeted().client(request(1, END_STREAM));
        for (byte each : head(length, DATA, END_STREAM, 1)) {
            wire.endpoint(new byte[] {each});
        }
        int left = length;
        wire.endpoint(new byte[] {1});
        left--;
        assertEquals(wire.fromEndpoint().length, wire.toClient().length);
        assertTrue(tracker.midExchange());
        byte[] piece = new byte[1 << 20];
        for (; left > piece.length; left -= piece.length) {
            wire.endpoint(piece);
        }
        assertTrue(tracker.exchangeOpen());
        wire.endpoint(new byte[left]);

        assertFalse(tracker.midExchange());
        assertEquals(0, wire.takenOver);
    }

    /** hahwul/gori#423: frames on streams that nobody opened leave no trace. */
    @Test
    void floodsOnUnknownStreamsCountNothingAndTakeNothing() {
        wire.greeted();
        byte[][] flood = new byte[3_000][];
        for (int i = 0; i < 1_000; i++) {
            flood[3 * i] = priority(2 * i + 1);
            flood[3 * i + 1] = windowUpdate(2 * i + 1);
            flood[3 * i + 2] = reset(2 * i + 1);
        }
        wire.client(flood);
        wire.endpoint(flood);

        assertEquals(0, wire.requests);
        assertFalse(tracker.midExchange());
        assertEquals(0, wire.opaques);
    }

    /** hahwul/gori#423: a continuation of nothing is no stream. */
    @Test
    void aLoneContinuationIsOpaqueAndNoRequest() {
        wire.greeted().client(frame(CONTINUATION, END_HEADERS, 1, requestFields()), request(1, NONE));

        assertEquals(0, wire.requests);
        assertEquals(1, wire.opaques);
        assertArrayEquals(wire.fromClient(), wire.toEndpoint());
    }

    /** varnishcache/varnish-cache#3996: opened and reset at once still counts, and the cap still acts. */
    @Test
    void streamsResetAtOnceCountAndTakeNoRoom() {
        wire.greeted();
        wire.atRequest = () -> {
            if (wire.requests == 1_000) {
                tracker.retire();
            }
        };
        for (int id = 1; id < 2_000; id += 2) {
            wire.client(request(id, NONE), reset(id));
        }
        assertEquals(1_000, wire.requests);
        assertTrue(tracker.told());
        assertFalse(tracker.exchangeOpen());
        wire.acknowledge();

        assertEquals(1, wire.overs);
        assertEquals(List.of(MAX_ID, 1_999), goawayIds());
    }

    static Stream<Arguments> invalid() {
        return Stream.of(
                Arguments.of("DATA on stream 0", frame(DATA, NONE, 0, new byte[1])),
                Arguments.of("HEADERS on stream 0", request(0, NONE)),
                Arguments.of("HEADERS on an even stream", request(2, NONE)),
                Arguments.of("RST_STREAM on stream 0", reset(0)),
                Arguments.of("RST_STREAM of 3 bytes", frame(RST_STREAM, NONE, 1, new byte[3])),
                Arguments.of("PRIORITY on stream 0", priority(0)),
                Arguments.of("SETTINGS of 7 bytes", frame(SETTINGS, NONE, 0, new byte[7])),
                Arguments.of("SETTINGS on a stream", frame(SETTINGS, NONE, 1, new byte[6])),
                Arguments.of("SETTINGS acknowledged with values", frame(SETTINGS, ACK, 0, new byte[6])),
                Arguments.of("PING of 7 bytes", frame(PING, NONE, 0, new byte[7])),
                Arguments.of("PING on a stream", frame(PING, NONE, 1, new byte[8])),
                Arguments.of("GOAWAY of 7 bytes", frame(GOAWAY, NONE, 0, new byte[7])),
                Arguments.of("GOAWAY on a stream", frame(GOAWAY, NONE, 1, new byte[8])),
                Arguments.of("WINDOW_UPDATE of 5 bytes", frame(WINDOW_UPDATE, NONE, 0, new byte[5])),
                Arguments.of("PUSH_PROMISE of a client", promise(1, 2)),
                Arguments.of("CONTINUATION of nothing", frame(CONTINUATION, END_HEADERS, 1, requestFields())),
                Arguments.of(
                        "CONTINUATION of another stream",
                        join(frame(HEADERS, NONE, 1, requestFields()), frame(CONTINUATION, END_HEADERS, 3))),
                Arguments.of("PING in a header block", join(frame(HEADERS, NONE, 1, requestFields()), ping(NONE, 1))),
                Arguments.of(
                        "an unknown frame in a header block",
                        join(frame(HEADERS, NONE, 1, requestFields()), frame(0x33, NONE, 1))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("invalid")
    void anInvalidFrameIsOpaqueAndPassesUntouched(String name, byte[] frames) {
        wire.greeted().client(ping(NONE, 1), frames, ascii("and whatever comes"));

        assertEquals(1, wire.opaques);
        assertEquals(0, wire.takenOver);
        assertArrayEquals(wire.fromClient(), wire.toEndpoint());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void aPromiseOfWhatTheEndpointCannotOpenIsOpaque(int promised) {
        wire.greeted().client(request(1, NONE));
        wire.endpoint(promise(1, promised));

        assertEquals(1, wire.opaques);
    }

    @Test
    void aPromiseTooShortForAnIdIsOpaque() {
        wire.greeted().client(request(1, NONE));
        wire.endpoint(frame(PUSH_PROMISE, PADDED | END_HEADERS, 1, new byte[4]));

        assertEquals(1, wire.opaques);
    }

    @Test
    void moreStreamsThanTheTableTakesAreCountedAndNeverThoughtEnded() {
        wire.greeted();
        int streams = StreamTable.MAX_STREAMS + 10;
        for (int i = 0; i < streams; i++) {
            wire.client(request(2 * i + 1, END_STREAM));
        }
        tracker.retire();
        wire.acknowledge();
        for (int i = 0; i < streams; i++) {
            wire.endpoint(response(2 * i + 1, END_STREAM));
        }

        assertEquals(streams, wire.requests);
        assertTrue(tracker.midExchange());
        assertEquals(0, wire.overs);
    }

    // Going away.

    @Test
    void anIdleConnectionIsToldAtOnceAndEndsWhenThePingIsAnswered() {
        wire.greeted();
        tracker.retire();
        assertTrue(tracker.told());
        assertArrayEquals(join(settings(2), goaway(MAX_ID), ping(NONE, wire.pingPayload())), wire.toClient());
        assertEquals(0, wire.overs);
        wire.acknowledge();

        assertEquals(1, wire.overs);
        assertEquals(List.of(MAX_ID, 0), goawayIds());
        assertArrayEquals(join(PREFACE, settings(1)), wire.toEndpoint());
    }

    /** grpc/grpc-go#2767: nothing is refused that the client could not know of. */
    @Test
    void streamsOpenedBeforeTheClientKnowsAreServed() {
        wire.greeted().client(request(1, END_STREAM));
        tracker.retire();
        wire.client(request(3, END_STREAM));
        wire.endpoint(response(1, END_STREAM), response(3, NONE));
        wire.client(request(5, END_STREAM), wire.ack());
        assertEquals(List.of(MAX_ID), goawayIds());
        wire.endpoint(data(3, 9, END_STREAM));
        assertEquals(0, wire.overs);
        wire.endpoint(response(5, END_STREAM));

        assertEquals(1, wire.overs);
        assertEquals(List.of(MAX_ID, 5), goawayIds());
    }

    /** grpc/grpc-java#9566: long answers go on to their end. */
    @Test
    void longAnswersUnderWayAreWhole() {
        wire.greeted();
        for (int id = 1; id < 40; id += 2) {
            wire.client(request(id, END_STREAM));
            wire.endpoint(response(id, NONE));
        }
        tracker.retire();
        wire.acknowledge();
        for (int round = 0; round < 16; round++) {
            for (int id = 1; id < 40; id += 2) {
                assertEquals(0, wire.overs);
                wire.endpoint(data(id, 16_384, round == 15 ? END_STREAM : NONE));
            }
        }

        assertEquals(1, wire.overs);
        assertEquals(List.of(MAX_ID, 39), goawayIds());
    }

    /** envoyproxy/envoy#36450: what is passed on beyond a cap is served too, and the last GOAWAY says so. */
    @Test
    void theRequestAtTheCapStartsTheEndAndThoseBehindItAreServed() {
        wire.greeted();
        wire.atRequest = () -> {
            if (wire.requests == 100) {
                tracker.retire();
            }
        };
        byte[][] asked = new byte[200][];
        byte[][] answered = new byte[200][];
        for (int i = 0; i < 200; i++) {
            asked[i] = request(2 * i + 1, END_STREAM);
            answered[i] = response(2 * i + 1, END_STREAM);
        }
        wire.client(asked);
        wire.endpoint(answered);
        assertEquals(0, wire.overs);
        wire.acknowledge();

        assertEquals(200, wire.requests);
        assertEquals(1, wire.overs);
        assertEquals(List.of(MAX_ID, 399), goawayIds());
    }

    /** golang/go#80759: an id of the wrong side's numbering is an error to strict clients. */
    @Test
    void aPromisedIdIsNeverTheLastOne() {
        wire.greeted().client(request(1, END_STREAM));
        wire.endpoint(promise(1, 2), promise(1, 4), response(1, END_STREAM));
        tracker.retire();
        wire.acknowledge();
        assertEquals(0, wire.overs, "what is pushed is under way");
        wire.endpoint(response(2, END_STREAM), response(4, END_STREAM));

        assertEquals(1, wire.overs);
        assertEquals(List.of(MAX_ID, 1), goawayIds());
        assertArrayEquals(join(PREFACE, settings(1), request(1, END_STREAM)), wire.toEndpoint());
    }

    /** envoyproxy/envoy#19045: a client that opens streams for ever meets an end. */
    @Test
    void aClientThatDoesNotHeedIsToldOfOnceAndGetsALastWord() {
        wire.greeted();
        tracker.retire();
        wire.client(request(1, NONE), wire.ack());
        int id = 1;
        for (int i = 0; i < 100; i++) {
            id += 2;
            wire.client(request(id, NONE));
        }
        assertEquals(0, wire.unheeded);
        for (int i = 0; i < 150; i++) {
            id += 2;
            wire.client(request(id, NONE));
        }
        assertEquals(1, wire.unheeded);

        assertTrue(tracker.lastWord());
        assertEquals(List.of(MAX_ID, id), goawayIds());
        assertEquals(0, wire.overs);
    }

    @Test
    void theFirstGoawayWaitsForTheEndOfTheEndpointsFrame() {
        byte[] answer = join(response(1, NONE), data(1, 100, NONE));
        wire.greeted().client(request(1, END_STREAM));
        wire.endpoint(Arrays.copyOf(answer, 60));
        tracker.retire();
        assertFalse(tracker.told());
        wire.endpoint(Arrays.copyOfRange(answer, 60, answer.length), data(1, 5, NONE));

        assertTrue(tracker.told());
        assertEquals(settings(2).length + answer.length, wire.insertions.get(0).at());
    }

    @Test
    void theFirstGoawayWaitsForTheEndOfAHeaderBlock() {
        byte[] block = join(
                frame(HEADERS, NONE, 1, statusFields(200)),
                frame(CONTINUATION, NONE, 1, trailerFields()),
                frame(CONTINUATION, END_HEADERS, 1, trailerFields()));
        wire.greeted().client(request(1, END_STREAM));
        wire.endpoint(Arrays.copyOf(block, block.length - 5));
        tracker.retire();
        wire.endpoint(Arrays.copyOfRange(block, block.length - 5, block.length), data(1, 5, NONE));

        assertEquals(settings(2).length + block.length, wire.insertions.get(0).at());
    }

    @Test
    void theFirstGoawayWaitsForTheEndpointsSettings() {
        wire.client(PREFACE, settings(0));
        tracker.retire();
        assertFalse(tracker.told());
        wire.endpoint(Arrays.copyOf(settings(2), 9));
        assertTrue(tracker.recognised());
        assertFalse(tracker.told());
        wire.endpoint(new byte[12]);

        assertTrue(tracker.told());
        assertEquals(21, wire.insertions.get(0).at());
    }

    @Test
    void theFirstGoawayWaitsForThePreface() {
        wire.endpoint(settings(0));
        tracker.retire();
        wire.client(Arrays.copyOf(PREFACE, 23));
        assertFalse(tracker.told());
        wire.client(new byte[] {'\n'}, settings(0));

        assertTrue(tracker.told());
        wire.acknowledge();
        assertEquals(1, wire.overs);
    }

    @Test
    void aRequestThatEndsTheConnectionBeforeItWasRecognisedActsLater() {
        wire.atRequest = tracker::retire;
        wire.client(PREFACE, settings(0), request(1, END_STREAM));
        wire.endpoint(settings(0), response(1, END_STREAM));
        wire.acknowledge();

        assertEquals(9, wire.insertions.get(0).at());
        assertEquals(List.of(MAX_ID, 1), goawayIds());
        assertEquals(1, wire.overs);
    }

    @Test
    void stayTakesBackWhatTheClientWasNotTold() {
        wire.greeted().client(request(1, END_STREAM));
        wire.endpoint(Arrays.copyOf(data(1, 9, NONE), 10));
        tracker.retire();
        tracker.stay();
        wire.endpoint(new byte[8]);

        assertFalse(tracker.told());
        tracker.retire();
        assertTrue(tracker.told());
        tracker.stay();
        assertTrue(tracker.told());
    }

    @Test
    void retiringTwiceTellsOnce() {
        wire.greeted();
        tracker.retire();
        tracker.retire();

        assertEquals(List.of(MAX_ID), goawayIds());
    }

    @Test
    void theEndWaitsForTheEdgesOfBothDirections() {
        wire.greeted().client(request(1, END_STREAM));
        tracker.retire();
        wire.acknowledge();
        wire.client(Arrays.copyOf(windowUpdate(0), 5));
        wire.endpoint(response(1, END_STREAM), Arrays.copyOf(windowUpdate(0), 11));
        assertEquals(0, wire.overs);
        wire.client(Arrays.copyOfRange(windowUpdate(0), 5, 13));
        assertEquals(0, wire.overs);
        wire.endpoint(Arrays.copyOfRange(windowUpdate(0), 11, 13));

        assertEquals(1, wire.overs);
        assertEquals(List.of(MAX_ID, 1), goawayIds());
    }

    @Test
    void theEndComesAfterAllThatCameWithIt() {
        wire.greeted().client(request(1, NONE));
        tracker.retire();
        wire.endpoint(response(1, END_STREAM));
        wire.client(wire.ack(), data(1, 4, END_STREAM), ping(ACK, 77));

        assertEquals(1, wire.overs);
        assertArrayEquals(
                join(PREFACE, settings(1), request(1, NONE), data(1, 4, END_STREAM), ping(ACK, 77)), wire.toEndpoint());
    }

    // The acknowledgement.

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 8, 9, 10, 16})
    void anAcknowledgementIsTakenOutWhereverItIsSplit(int at) {
        wire.greeted().client(request(1, NONE));
        tracker.retire();
        byte[] ack = wire.ack();
        wire.client(windowUpdate(1), Arrays.copyOf(ack, at));
        assertTrue(tracker.midExchange());
        wire.client(Arrays.copyOfRange(ack, at, 17), data(1, 3, NONE));

        assertArrayEquals(
                join(PREFACE, settings(1), request(1, NONE), windowUpdate(1), data(1, 3, NONE)), wire.toEndpoint());
        wire.client(ack);
        assertTrue(Arrays.equals(ack, tail(wire.toEndpoint(), 17)), "a second one is the client's own affair");
    }

    @Test
    void anotherAcknowledgementPasses() {
        wire.greeted();
        tracker.retire();
        byte[] other = ping(ACK, wire.pingPayload() ^ 1);
        for (byte each : other) {
            wire.client(new byte[] {each});
        }

        assertArrayEquals(join(PREFACE, settings(1), other), wire.toEndpoint());
        assertEquals(0, wire.overs);
        wire.acknowledge();
        assertEquals(1, wire.overs);
    }

    @Test
    void bytesThatLookLikeAnAcknowledgementInsideAPayloadPass() {
        wire.greeted().client(request(1, NONE));
        tracker.retire();
        wire.client(frame(DATA, NONE, 1, wire.ack()));

        assertArrayEquals(
                join(PREFACE, settings(1), request(1, NONE), frame(DATA, NONE, 1, wire.ack())), wire.toEndpoint());
        assertEquals(List.of(MAX_ID), goawayIds());
    }

    @Test
    void nothingIsHeldThatCannotBeTheAcknowledgement() {
        wire.greeted().client(request(1, NONE));
        tracker.retire();
        wire.client(Arrays.copyOf(data(1, 3, NONE), 4));

        assertArrayEquals(wire.fromClient(), wire.toEndpoint());
        assertEquals(0, wire.takenOver);
    }

    /** With all of it a client could choose ids that fall on one slot of the table: each of its frames took 300 times as long. */
    @Test
    void thePingTellsOnlyHalfOfWhatTheTableOfStreamsIsSaltedWith() {
        assertEquals(pingOf(0x1234_5678), pingOf(0x8765_5678));
        assertNotEquals(pingOf(0x1234_5678), pingOf(0x1234_5679));
    }

    private static long pingOf(int secret) {
        Http2Wire salted = new Http2Wire(() -> (long) secret << Integer.SIZE).greeted();
        salted.tracker.retire();
        return salted.pingPayload();
    }

    @Test
    void whatIsHeldGoesOnBeforeTheClientsFin() {
        wire.greeted();
        tracker.retire();
        wire.client(Arrays.copyOf(wire.ack(), 12));
        assertEquals(12, wire.fromClient().length - wire.toEndpoint().length);
        tracker.onFin(Side.DOWNSTREAM);

        assertArrayEquals(wire.fromClient(), wire.toEndpoint());
    }

    @Test
    void whatIsHeldGoesOnWhenTheEndpointTurnsOpaque() {
        wire.greeted();
        tracker.retire();
        wire.client(Arrays.copyOf(wire.ack(), 16));
        wire.endpoint(reset(0));

        assertEquals(1, wire.opaques);
        assertArrayEquals(wire.fromClient(), wire.toEndpoint());
    }

    @Test
    void whatIsHeldGoesOnAtTheHardEnd() {
        wire.greeted();
        tracker.retire();
        wire.client(Arrays.copyOf(wire.ack(), 7));
        assertTrue(tracker.lastWord());

        assertArrayEquals(wire.fromClient(), wire.toEndpoint());
        assertEquals(List.of(MAX_ID, 0), goawayIds());
    }

    @Test
    void anInvalidFrameBehindTheAcknowledgementPassesUntouched() {
        wire.greeted();
        tracker.retire();
        byte[] ack = wire.ack();
        wire.client(ack, reset(0), ascii("more"));

        assertEquals(1, wire.opaques);
        assertEquals(0, wire.overs);
        assertArrayEquals(join(PREFACE, settings(1), reset(0), ascii("more")), wire.toEndpoint());
    }

    // The endpoint's own GOAWAY.

    @Test
    void anEndpointThatHasNamedItsLastStreamIsNotRepeated() {
        wire.greeted().client(request(1, END_STREAM), request(3, END_STREAM));
        wire.endpoint(goaway(3), response(1, END_STREAM));
        tracker.retire();
        assertTrue(tracker.told());
        assertEquals(0, wire.overs);
        wire.endpoint(response(3, END_STREAM));

        assertEquals(1, wire.overs);
        assertEquals(List.of(), goawayIds());
    }

    @Test
    void streamsAboveTheEndpointsGoawayAreNotWaitedFor() {
        wire.greeted().client(request(1, END_STREAM), request(3, END_STREAM));
        wire.endpoint(goaway(1), response(1, END_STREAM));
        wire.client(request(5, END_STREAM));
        assertFalse(tracker.exchangeOpen());
        tracker.retire();

        assertEquals(1, wire.overs);
        assertEquals(3, wire.requests);
        assertEquals(List.of(), goawayIds(), "a last id of 3 or 5 would rise");
    }

    @Test
    void anEndpointThatBeganToGoAwayNeedsOnlyThePing() {
        wire.greeted().client(request(1, END_STREAM));
        wire.endpoint(goaway(MAX_ID));
        tracker.retire();
        assertTrue(tracker.told());
        assertEquals(17, wire.insertions.get(0).bytes().length);
        wire.endpoint(response(1, END_STREAM));
        wire.acknowledge();

        assertEquals(1, wire.overs);
        assertEquals(List.of(1), goawayIds());
    }

    @Test
    void anEndpointThatLeavesRoomForStreamsUnderWayNeedsThePingToo() {
        wire.greeted().client(request(1, END_STREAM));
        wire.endpoint(goaway(9), response(1, END_STREAM));
        tracker.retire();
        assertEquals(0, wire.overs, "3 to 9 may be under way, and are answered");
        wire.client(request(3, END_STREAM), wire.ack());
        assertTrue(tracker.exchangeOpen());
        wire.endpoint(response(3, END_STREAM));

        assertEquals(1, wire.overs);
        assertEquals(List.of(3), goawayIds());
    }

    @Test
    void anEndpointsGoawayAfterOursEndsTheWaitForTheAcknowledgement() {
        wire.greeted().client(request(1, END_STREAM), request(3, END_STREAM));
        tracker.retire();
        wire.endpoint(goaway(1));
        assertEquals(0, wire.overs);
        wire.endpoint(response(1, END_STREAM));

        assertEquals(1, wire.overs);
        assertEquals(List.of(MAX_ID), goawayIds());
    }

    @Test
    void anAcknowledgementAfterTheEndpointsGoawayIsStillTakenOut() {
        wire.greeted().client(request(1, END_STREAM));
        tracker.retire();
        wire.endpoint(goaway(1));
        wire.acknowledge();
        wire.endpoint(response(1, END_STREAM));

        assertArrayEquals(join(PREFACE, settings(1), request(1, END_STREAM)), wire.toEndpoint());
        assertEquals(1, wire.overs);
    }

    @Test
    void theLastWordIsNotAboveTheEndpoints() {
        wire.greeted().client(request(1, END_STREAM), request(3, END_STREAM));
        tracker.retire();
        wire.endpoint(goaway(1));

        assertTrue(tracker.lastWord());
        assertEquals(List.of(MAX_ID), goawayIds(), "the endpoint has said 1 already");
    }

    @Test
    void aClientsGoawayChangesNothing() {
        wire.greeted().client(request(1, END_STREAM), goaway(0));
        tracker.retire();
        wire.acknowledge();
        assertEquals(0, wire.overs);
        wire.endpoint(response(1, END_STREAM));

        assertEquals(1, wire.overs);
    }

    /** Section 6.8: ids must not rise, and this one could until our FIN. */
    @Test
    void nothingOfTheEndpointFollowsTheLastWord() {
        wire.greeted().client(request(1, END_STREAM));
        tracker.retire();
        wire.acknowledge();
        wire.endpoint(response(1, END_STREAM));
        byte[] all = wire.toClient();
        assertEquals(1, wire.overs);
        wire.endpoint(goaway(MAX_ID));

        assertArrayEquals(all, wire.toClient());
        assertEquals(List.of(MAX_ID, 1), goawayIds());
    }

    /** Else a connection that the endpoint has ended would count as retired by us. */
    @Test
    void behindTheEndpointsFinTheClientIsToldNothing() {
        wire.greeted().client(request(1, NONE));
        tracker.onFin(Side.UPSTREAM);
        tracker.retire();

        assertFalse(tracker.told());
        assertEquals(List.of(), goawayIds());
    }

    @Test
    void anEndpointThatNamedItsLastStreamBeforeItsFinHasTold() {
        wire.greeted().client(request(1, END_STREAM));
        wire.endpoint(response(1, END_STREAM), goaway(1));
        tracker.onFin(Side.UPSTREAM);
        tracker.retire();

        assertTrue(tracker.told());
        assertEquals(1, wire.overs);
    }

    // The hard limit.

    @Test
    void theLastWordNamesTheHighestStreamPassedOn() {
        wire.greeted().client(request(1, NONE), request(7, NONE));

        assertTrue(tracker.lastWord());
        assertTrue(tracker.told());
        assertEquals(List.of(7), goawayIds());
    }

    @Test
    void insideAFrameOrAHeaderBlockThereIsNoLastWord() {
        wire.greeted().client(request(1, NONE));
        wire.endpoint(frame(HEADERS, NONE, 1, statusFields(200)));
        assertFalse(tracker.lastWord());
        wire.endpoint(frame(CONTINUATION, END_HEADERS, 1), Arrays.copyOf(data(1, 9, NONE), 12));
        assertFalse(tracker.lastWord());

        assertEquals(List.of(), goawayIds());
    }

    @Test
    void beforeTheEndpointsSettingsThereIsNoLastWord() {
        wire.client(PREFACE, settings(0), request(1, NONE));

        assertFalse(tracker.lastWord());
    }

    private List<Integer> goawayIds() {
        return wire.insertions.stream()
                .map(Http2Wire.Insertion::bytes)
                .filter(bytes -> bytes[3] == GOAWAY)
                .map(bytes -> ByteBuffer.wrap(bytes).getInt(9))
                .toList();
    }

    private static byte[] tail(byte[] bytes, int length) {
        return Arrays.copyOfRange(bytes, bytes.length - length, bytes.length);
    }
}
