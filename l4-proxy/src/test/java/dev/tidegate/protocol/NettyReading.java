package dev.tidegate.protocol;

import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The same connection as Netty's own frame reader reads it: an opinion that owes nothing to the tracker. */
final class NettyReading implements AutoCloseable {
    final Set<Integer> requests = new HashSet<>();
    final List<Integer> goaways = new ArrayList<>();
    final List<Long> pings = new ArrayList<>();

    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ChannelHandlerContext context = channel.pipeline().firstContext();
    private final Direction client = new Direction(Side.DOWNSTREAM);
    private final Direction endpoint = new Direction(Side.UPSTREAM);
    private final Map<Integer, Set<Side>> open = new HashMap<>();
    private int prefaceLeft = Http2Bytes.PREFACE.length;

    int openStreams() {
        return open.size();
    }

    /** Reads on. Returns whether the last of these bytes ends a frame, or a header block. */
    boolean read(Side from, byte[] bytes) {
        int skipped = from == Side.DOWNSTREAM ? Math.min(prefaceLeft, bytes.length) : 0;
        prefaceLeft -= skipped;
        return (from == Side.DOWNSTREAM ? client : endpoint).read(bytes, skipped);
    }

    @Override
    public void close() {
        client.close();
        endpoint.close();
        channel.close();
    }

    private void end(int id, Side by) {
        Set<Side> ended = open.get(id);
        if (ended != null) {
            ended.add(by);
            if (ended.size() == 2) {
                open.remove(id);
            }
        }
    }

    private final class Direction implements Http2FrameListener, AutoCloseable {
        private final Side side;
        private final DefaultHttp2FrameReader reader = new DefaultHttp2FrameReader(false);
        private final ByteBuf input = Unpooled.buffer();
        private int frames;

        Direction(Side side) {
            this.side = side;
        }

        boolean read(byte[] bytes, int from) {
            int before = frames;
            try {
                input.writeBytes(bytes, from, bytes.length - from);
                while (input.isReadable()) {
                    int index = input.readerIndex();
                    int had = frames;
                    reader.readFrame(context, input, this);
                    if (input.readerIndex() == index && frames == had) {
                        break;
                    }
                }
                input.discardReadBytes();
            } catch (Http2Exception e) {
                throw new AssertionError("Netty cannot read what " + side + " said", e);
            }
            return frames > before && !input.isReadable();
        }

        @Override
        public void close() {
            reader.close();
            input.release();
        }

        @Override
        public int onDataRead(ChannelHandlerContext ctx, int id, ByteBuf data, int padding, boolean last) {
            frames++;
            if (last) {
                end(id, side);
            }
            return 0;
        }

        @Override
        public void onHeadersRead(ChannelHandlerContext ctx, int id, Http2Headers headers, int padding, boolean last) {
            frames++;
            if (side == Side.DOWNSTREAM && requests.add(id)) {
                open.put(id, new HashSet<>());
            }
            if (last) {
                end(id, side);
            }
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext ctx,
                int id,
                Http2Headers headers,
                int dependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean last) {
            onHeadersRead(ctx, id, headers, padding, last);
        }

        @Override
        public void onPriorityRead(ChannelHandlerContext ctx, int id, int dependency, short weight, boolean exclusive) {
            frames++;
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext ctx, int id, long code) {
            frames++;
            open.remove(id);
        }

        @Override
        public void onSettingsAckRead(ChannelHandlerContext ctx) {
            frames++;
        }

        @Override
        public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings) {
            frames++;
        }

        @Override
        public void onPingRead(ChannelHandlerContext ctx, long payload) {
            frames++;
            pings.add(payload);
        }

        @Override
        public void onPingAckRead(ChannelHandlerContext ctx, long payload) {
            frames++;
        }

        @Override
        public void onPushPromiseRead(
                ChannelHandlerContext ctx, int id, int promised, Http2Headers headers, int padding) {
            frames++;
            open.put(promised, new HashSet<>(Set.of(Side.DOWNSTREAM)));
        }

        @Override
        public void onGoAwayRead(ChannelHandlerContext ctx, int lastId, long code, ByteBuf debug) {
            frames++;
            goaways.add(lastId);
        }

        @Override
        public void onWindowUpdateRead(ChannelHandlerContext ctx, int id, int increment) {
            frames++;
        }

        @Override
        public void onUnknownFrame(ChannelHandlerContext ctx, byte type, int id, Http2Flags flags, ByteBuf payload) {
            frames++;
        }
    }
}
