package dev.tidegate.admin.view;

/**
 * One listening socket.
 *
 * @param address as configured
 * @param bound with its real port; null when it does not listen
 */
public record ListenerView(String address, @MayBeNull String bound) {}
