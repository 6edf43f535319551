package dev.tidegate.admin;

import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * TLS as its files have it. Immutable.
 *
 * @param context for new connections
 * @param names that the server's certificate is for
 */
record TlsFiles(SslContext context, List<String> names) {
    private static final int DNS_NAME = 2; // RFC 5280, section 4.2.1.6
    private static final int IP_ADDRESS = 7;

    /**
     * Reads the files.
     *
     * @throws IOException with a message for the operator
     */
    static TlsFiles read(AdminTls tls) throws IOException {
        readable("certificate", tls.certificate());
        readable("key", tls.key());
        try {
            SslContextBuilder builder = builder(tls).protocols("TLSv1.3", "TLSv1.2");
            if (tls.clientCa().isPresent()) {
                Path clientCa = tls.clientCa().get();
                readable("client-ca", clientCa);
                try {
                    builder.trustManager(clientCa.toFile()).clientAuth(ClientAuth.REQUIRE);
                } catch (IllegalArgumentException e) {
                    throw wrong("client-ca", clientCa, "has no certificates in PEM form", e);
                }
            }
            return new TlsFiles(builder.build(), names(tls.certificate()));
        } catch (CertificateException e) {
            throw wrong("certificate", tls.certificate(), "cannot be understood", e);
        }
    }

    private static SslContextBuilder builder(AdminTls tls) throws IOException {
        try {
            return SslContextBuilder.forServer(
                    tls.certificate().toFile(), tls.key().toFile());
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    "admin.tls: certificate \"" + tls.certificate() + "\" and key \"" + tls.key()
                            + "\" cannot be used (" + reason(e) + "); the certificate must be PEM, the key PEM as"
                            + " PKCS#8 (BEGIN PRIVATE KEY) and not encrypted",
                    e);
        }
    }

    private static String reason(Throwable e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        return String.valueOf(cause.getMessage());
    }

    private static void readable(String key, Path path) throws IOException {
        if (!Files.isReadable(path)) {
            throw new IOException("admin.tls." + key + ": \"" + path + "\" cannot be read");
        }
        if (!Files.isRegularFile(path)) {
            throw new IOException("admin.tls." + key + ": \"" + path + "\" is no regular file, and no link to one");
        }
    }

    private static IOException wrong(String key, Path path, String what, Exception cause) {
        return new IOException("admin.tls." + key + ": \"" + path + "\" " + what, cause);
    }

    private static List<String> names(Path path) throws IOException, CertificateException {
        try (InputStream in = Files.newInputStream(path)) {
            Certificate first = CertificateFactory.getInstance("X.509").generateCertificate(in);
            Collection<List<?>> all = ((X509Certificate) first).getSubjectAlternativeNames();
            List<String> names = new ArrayList<>();
            for (List<?> name : all == null ? List.<List<?>>of() : all) {
                if (name.get(0).equals(DNS_NAME) || name.get(0).equals(IP_ADDRESS)) {
                    names.add((String) name.get(1));
                }
            }
            return List.copyOf(names);
        }
    }
}
