package dev.tidegate.config;

import java.util.Optional;

/**
 * How the operator's window is encrypted on TCP: PEM files, absolute or relative to the working directory. Immutable.
 *
 * @param certificate the file of the certificate, with those between it and its root
 * @param key the file of its private key
 * @param clientCa the file of the certificates that clients' must be signed by; empty asks clients for none
 */
public record AdminTlsConfig(String certificate, String key, Optional<String> clientCa) {
    /**
     * Checks the paths.
     *
     * @throws IllegalArgumentException if one is none of a file
     */
    public AdminTlsConfig {
        Paths.requireFile(certificate);
        Paths.requireFile(key);
        clientCa.ifPresent(Paths::requireFile);
    }
}
