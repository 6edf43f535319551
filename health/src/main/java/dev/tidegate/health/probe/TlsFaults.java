package dev.tidegate.health.probe;

import io.netty.handler.ssl.NotSslRecordException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Optional;
import javax.net.ssl.SSLException;

/** Why a handshake failed, in plain words. Stateless. */
final class TlsFaults {
    private static final String ALERT = "Received fatal alert: ";

    private TlsFaults() {}

    /** The words; empty when it was the connection and not the handshake. */
    static Optional<String> words(Throwable fault, TlsProbe probe) {
        String innermost = null;
        // Innermost last, and it knows best.
        for (Throwable at = fault; at != null; at = at.getCause()) {
            String words = wordsOf(at, probe);
            innermost = words == null ? innermost : words;
        }
        return Optional.ofNullable(innermost);
    }

    private static String wordsOf(Throwable fault, TlsProbe probe) {
        String message = String.valueOf(fault.getMessage());
        if (fault instanceof NotSslRecordException || message.startsWith("Unsupported or unrecognized SSL message")) {
            return "answered with something that is not TLS";
        }
        if (fault instanceof CertificateExpiredException) {
            return "certificate expired";
        }
        if (fault instanceof CertificateNotYetValidException) {
            return "certificate not yet valid";
        }
        if (fault instanceof CertPathBuilderException || fault instanceof CertPathValidatorException) {
            return "certificate not signed by a CA in " + probe.caFile().orElse("the CA file");
        }
        if (fault instanceof CertificateException) {
            boolean name = message.contains("No name matching") || message.contains("No subject alternative");
            return name
                    ? "certificate is not for " + probe.serverName().orElse("the name asked for")
                    : "certificate not accepted: " + Printable.line(message);
        }
        if (fault instanceof SSLException) {
            int alert = message.indexOf(ALERT);
            return alert >= 0
                    ? "handshake refused by the target (" + Printable.line(message.substring(alert + ALERT.length()))
                            + ")"
                    : isClose(message) ? null : "handshake failed: " + Printable.line(message);
        }
        return null;
    }

    /** Netty's word for a close in the middle; channelInactive comes behind it, and knows what was awaited. */
    private static boolean isClose(String message) {
        return message.startsWith("Connection closed while SSL/TLS handshake was in progress");
    }
}
