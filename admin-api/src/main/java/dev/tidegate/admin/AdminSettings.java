package dev.tidegate.admin;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where the admin server listens and whom it believes. Immutable.
 *
 * @param addresses where it listens
 * @param tokenFile lines {@code ROLE TOKEN}, for TCP; empty: TCP serves reads only, on loopback only
 * @param tls for all TCP addresses; empty: loopback only
 */
public record AdminSettings(List<AdminAddress> addresses, Optional<Path> tokenFile, Optional<AdminTls> tls) {
    /** Copies the list. */
    public AdminSettings {
        addresses = List.copyOf(addresses);
    }

    /** These addresses, without tokens and without TLS. */
    public static AdminSettings of(List<AdminAddress> addresses) {
        return new AdminSettings(addresses, Optional.empty(), Optional.empty());
    }
}
