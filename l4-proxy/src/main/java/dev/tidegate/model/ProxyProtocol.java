package dev.tidegate.model;

/** Which PROXY header, if any, an endpoint is sent first. Immutable. */
public enum ProxyProtocol {
    /** None. */
    OFF,
    /** The text header. */
    V1,
    /** The binary header. */
    V2
}
