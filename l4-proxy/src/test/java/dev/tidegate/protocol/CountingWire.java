package dev.tidegate.protocol;

import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Counts what a tracker tells, follows {@link #become}, and lets it do nothing to the bytes but pass them on. */
final class CountingWire implements Wire {
    int requests;
    int opaque;
    int switched;
    int passedWhole;
    Tracker tracker;

    @Override
    public void pass(Side from, ByteBuf data) {
        passedWhole += data.readableBytes();
        data.release();
    }

    @Override
    public void insert(ByteBuf data) {
        throw new AssertionError("nothing is inserted");
    }

    @Override
    public void hold(ByteBuf data) {
        throw new AssertionError("nothing is held");
    }

    @Override
    public void release() {
        throw new AssertionError("nothing was held");
    }

    @Override
    public ByteBuf buffer(int capacity) {
        return Unpooled.buffer(capacity);
    }

    @Override
    public void onRequest() {
        requests++;
    }

    @Override
    public void become(Tracker next) {
        tracker = next;
    }

    @Override
    public void opaque() {
        opaque++;
        tracker = null;
    }

    @Override
    public void switched() {
        switched++;
        tracker = null;
    }

    @Override
    public void over() {
        throw new AssertionError("nothing is over");
    }

    @Override
    public void unheeded() {
        throw new AssertionError("nobody was told");
    }
}
