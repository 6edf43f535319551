package dev.tidegate.admin;

import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;

/** Reads requests and takes nothing that two readers could understand in two ways (RFC 9112, section 6.3). */
final class StrictRequestDecoder extends HttpRequestDecoder {
    private static final int REQUEST_LINE_BYTES = 4096;
    private static final int CHUNK_BYTES = 8192;

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
}
