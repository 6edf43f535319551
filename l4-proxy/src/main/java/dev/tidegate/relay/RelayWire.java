package dev.tidegate.relay;

import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import dev.tidegate.protocol.Tracker;
import dev.tidegate.protocol.Wire;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;

/**
 * What the tracker of a connection does to its two flows. Its word reaches them in order: the flow that the bytes came by
 * has not passed them on yet.
 *
 * <p>Confined to its worker's loop.
 */
public final class RelayWire implements Wire {
    private final FlowOwner owner;
    private final Channel downstream;
    private final Flow toEndpoint;
    private Flow toClient; // null until an endpoint is connected
    private Tracker tracker;
    private Protocol protocol = Protocol.TCP; // while no tracker is asked
    private RetireHow told; // by a tracker that is not asked any more

    /**
     * @param owner what is told of what the tracker has seen
     * @param downstream the client's channel
     * @param toEndpoint what the client sends goes by it
     */
    public RelayWire(FlowOwner owner, Channel downstream, Flow toEndpoint) {
        this.owner = owner;
        this.downstream = downstream;
        this.toEndpoint = toEndpoint;
    }

    /** The tracker that is shown the bytes; null when none is any more. */
    public Tracker tracker() {
        return tracker;
    }

    /** What the connection has turned out to speak, or spoke until it turned to something else. */
    public Protocol protocol() {
        return tracker != null && tracker.recognised() ? tracker.protocol() : protocol;
    }

    /** What a request that is seen now is taken for. */
    public Protocol protocolOfRequest() {
        return tracker == null ? Protocol.TCP : tracker.protocol();
    }

    /** How the client was told that the connection ends; null when it was not. */
    public RetireHow told() {
        return tracker != null && tracker.told() ? tracker.how() : told;
    }

    /** An endpoint is connected, and sends by that flow. */
    public void join(Flow flow) {
        toClient = flow;
        toClient.watch(tracker);
    }

    @Override
    public void become(Tracker next) {
        tracker = next;
        toEndpoint.watch(next);
        if (toClient != null) {
            toClient.watch(next);
        }
    }

    @Override
    public void pass(Side from, ByteBuf data) {
        (from == Side.DOWNSTREAM ? toEndpoint : toClient).pass(data);
    }

    @Override
    public void insert(ByteBuf data) {
        toClient.pass(data);
    }

    @Override
    public void hold(ByteBuf data) {
        toEndpoint.hold(data);
    }

    @Override
    public void release() {
        toEndpoint.release();
    }

    @Override
    public ByteBuf buffer(int capacity) {
        return downstream.alloc().directBuffer(capacity);
    }

    @Override
    public void onRequest() {
        owner.onRequest();
    }

    @Override
    public void opaque() {
        told = told();
        protocol = protocol();
        become(null);
        owner.onOpaque();
    }

    @Override
    public void switched() {
        told = told();
        protocol = protocol();
        become(null);
        owner.onSwitched();
    }

    @Override
    public void over() {
        owner.onOver();
    }

    @Override
    public void unheeded() {
        owner.onUnheeded();
    }
}
