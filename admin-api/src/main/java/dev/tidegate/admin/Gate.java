package dev.tidegate.admin;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/** What one listener takes its callers for. Confined to the admin loop. */
final class Gate {
    private static final String SCHEME = "bearer ";

    private final Role bare;
    private final TokenFile tokens;
    private final boolean local;
    private final LongSupplier nanoTime;

    private Gate(Role bare, TokenFile tokens, boolean local, LongSupplier nanoTime) {
        this.bare = bare;
        this.tokens = tokens;
        this.local = local;
        this.nanoTime = nanoTime;
    }

    /** A UNIX socket: whoever could open it is an administrator. */
    static Gate socket() {
        return new Gate(Role.ADMIN, null, true, () -> 0);
    }

    /** Loopback without tokens: everyone on this machine may read. */
    static Gate readsOnly() {
        return new Gate(Role.VIEWER, null, true, () -> 0);
    }

    /** Whoever has a token is what the token says. */
    static Gate tokens(TokenFile tokens, boolean local, LongSupplier nanoTime) {
        return new Gate(Role.ANYONE, tokens, local, nanoTime);
    }

    Caller caller(HttpHeaders headers, String from) {
        if (tokens == null) {
            return new Caller(bare, from, false, () -> true);
        }
        List<String> given = headers.getAll(HttpHeaderNames.AUTHORIZATION);
        if (given.isEmpty()) {
            return new Caller(Role.ANYONE, from, false, () -> true);
        }
        byte[] digest = TokenFile.digest(given.size() == 1 ? bearer(given.get(0)) : "");
        tokens.look(nanoTime.getAsLong());
        Role role = tokens.roleOf(digest);
        return new Caller(role, from, true, () -> stillGood(digest, role));
    }

    private boolean stillGood(byte[] digest, Role role) {
        tokens.look(nanoTime.getAsLong());
        return tokens.roleOf(digest).covers(role);
    }

    private static String bearer(String header) {
        return header.toLowerCase(Locale.ROOT).startsWith(SCHEME)
                ? header.substring(SCHEME.length()).strip()
                : "";
    }

    /** Whether a caller may have what needs a role; null if so, what to refuse it with otherwise. */
    Answer refusal(Route route, Caller caller) {
        if (caller.role().covers(route.role()) || (route.openLocally() && local)) {
            return null;
        }
        if (caller.role() == Role.ANYONE) {
            return Answer.unauthorized(caller.tokenGiven(), route.role());
        }
        if (tokens == null) {
            return Answer.forbidden(
                    "this address serves reads only, since it has no tokens; use the UNIX socket, or set"
                            + " admin.token-file");
        }
        return Answer.forbidden("the token's role is " + caller.role().word() + "; " + route + " needs "
                + route.role().word());
    }
}
