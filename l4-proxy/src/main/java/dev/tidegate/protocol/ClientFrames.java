package dev.tidegate.protocol;

/** The client's direction of an HTTP/2 connection. Confined to the connection's worker. */
final class ClientFrames extends FrameWalker {
    @Override
    boolean begin() {
        // RFC 9113 section 8.4: a client cannot push.
        return type() != FrameType.PUSH_PROMISE && super.begin();
    }
}
