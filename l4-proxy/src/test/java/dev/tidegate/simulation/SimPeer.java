package dev.tidegate.simulation;

/** Who is at the other end of a connection of the balancer's: a client, an endpoint. */
interface SimPeer {
    /** Bytes have come; {@link Link#taken} makes room for more. */
    void onBytes(Link link, byte[] bytes);

    /** The balancer has ended its direction. */
    void onFin(Link link);

    /** The balancer has reset the connection, which is over. */
    void onReset(Link link);
}
