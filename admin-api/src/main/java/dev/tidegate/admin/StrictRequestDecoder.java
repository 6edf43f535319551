package dev.tidegate.admin;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.List;

/**
 * Reads requests and takes nothing that two readers could understand in two ways (RFC 9112, sections 5.2 and 6.3). Confined
 * to its connection's loop.
 */
final class StrictRequestDecoder extends HttpRequestDecoder {
    private static final int REQUEST_LINE_BYTES = 4096;
    private static final int CHUNK_BYTES = 8192;

    private boolean inHead = true;
    private boolean lineTaken; // of the head that is being read
    private boolean unfit;

    StrictRequestDecoder(int headerBytes) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(REQUEST_LINE_BYTES)
                .setMaxHeaderSize(headerBytes)
                .setMaxChunkSize(CHUNK_BYTES)
                .setAllowDuplicateContentLengths(false)
                .setValidateHeaders(true)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
    }

    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        throw new IllegalArgumentException("transfer-encoding beside content-length");
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (!unfit && inHead && hasFoldedLine(in)) {
            unfit = true;
            out.add(foldedRequest());
        }
        if (unfit) {
            in.skipBytes(in.readableBytes());
            return;
        }
        int before = in.readerIndex();
        int messages = out.size();
        super.decode(ctx, in, out);
        lineTaken |= inHead && hasText(in, before, in.readerIndex()); // empty lines before a request are none of it
        for (Object message : out.subList(messages, out.size())) {
            if (message instanceof HttpRequest) {
                inHead = false;
            }
            if (message instanceof LastHttpContent) {
                inHead = true;
                lineTaken = false;
            }
        }
    }

    /** The base class takes whole lines, and joins folded ones without a word; so they are looked for before. */
    private boolean hasFoldedLine(ByteBuf in) {
        boolean begun = lineTaken;
        boolean lineBegins = lineTaken;
        for (int i = in.readerIndex(); i < in.writerIndex(); i++) {
            byte b = in.getByte(i);
            if (lineBegins && (b == ' ' || b == '\t')) {
                return true;
            }
            if (begun && lineBegins && (b == '\r' || b == '\n')) {
                return false; // the empty line: the head ends here
            }
            begun |= isText(b);
            lineBegins = b == '\n';
        }
        return false;
    }

    private static boolean hasText(ByteBuf in, int from, int to) {
        for (int i = from; i < to; i++) {
            if (isText(in.getByte(i))) {
                return true;
            }
        }
        return false;
    }

    /** Whether a line begins with that; the base class passes over white space and control characters before one. */
    private static boolean isText(byte b) {
        return b > ' ' && b != 0x7f;
    }

    private static HttpRequest foldedRequest() {
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
        request.setDecoderResult(DecoderResult.failure(new IllegalArgumentException("a header line is folded")));
        return request;
    }
}
