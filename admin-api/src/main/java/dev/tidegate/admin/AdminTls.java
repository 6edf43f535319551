package dev.tidegate.admin;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The files that TLS on TCP addresses is made from, all PEM. Immutable.
 *
 * @param certificate the server's, with what leads to its root behind it
 * @param key the private key, PKCS#8, not encrypted
 * @param clientCa who signs clients' certificates; given: a client must show one
 */
public record AdminTls(Path certificate, Path key, Optional<Path> clientCa) {}
