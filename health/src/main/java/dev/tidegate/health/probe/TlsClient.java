package dev.tidegate.health.probe;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;

/** One side of a handshake, by the JDK: what is asked for and who is trusted. Immutable. */
final class TlsClient {
    /** All the world's public ones are some 200 KiB. A file is read on the checks' loop, so it must not be any larger. */
    private static final int CA_FILE_MAX_BYTES = 1 << 20;

    private final SslContext context;
    private final Optional<String> serverName;
    private final boolean verifying;

    private TlsClient(SslContext context, Optional<String> serverName, boolean verifying) {
        this.context = context;
        this.serverName = serverName;
        this.verifying = verifying;
    }

    static TlsClient of(Optional<String> serverName, Optional<String> caFile) throws UnusableCaException {
        // The name is not left to the context, which would verify one in any case, and could not verify one at all
        // without a trust manager of the JDK's.
        SslContextBuilder builder =
                SslContextBuilder.forClient().sslProvider(SslProvider.JDK).endpointIdentificationAlgorithm(null);
        try {
            if (caFile.isPresent()) {
                builder.trustManager(read(caFile.get()));
            } else {
                builder.trustManager(InsecureTrustManagerFactory.INSTANCE);
            }
            return new TlsClient(builder.build(), serverName, caFile.isPresent());
        } catch (SSLException | IllegalArgumentException e) {
            throw new UnusableCaException("TLS cannot be set up here: " + Printable.line(String.valueOf(e)), e);
        }
    }

    private static X509Certificate[] read(String file) throws UnusableCaException {
        try {
            byte[] pem = bytesOf(Path.of(file));
            List<X509Certificate> certificates =
                    CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem)).stream()
                            .map(X509Certificate.class::cast)
                            .toList();
            if (certificates.isEmpty()) {
                throw unusable(file, "holds no certificate", null);
            }
            return certificates.toArray(X509Certificate[]::new);
        } catch (NoSuchFileException e) {
            throw unusable(file, "does not exist", e);
        } catch (AccessDeniedException e) {
            throw unusable(file, "may not be read", e);
        } catch (IOException | InvalidPathException e) {
            throw unusable(file, "cannot be read (" + Printable.line(String.valueOf(e.getMessage())) + ")", e);
        } catch (CertificateException e) {
            throw unusable(file, "is not one of certificates in PEM", e);
        }
    }

    private static byte[] bytesOf(Path file) throws IOException {
        // A pipe would hold the loop up.
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException("it is no file");
        }
        if (Files.size(file) > CA_FILE_MAX_BYTES) {
            throw new IOException("it is larger than 1 MiB");
        }
        return Files.readAllBytes(file);
    }

    private static UnusableCaException unusable(String file, String why, Exception cause) {
        return new UnusableCaException("CA file " + file + " " + why, cause);
    }

    SslHandler newHandler(ByteBufAllocator alloc) {
        // The JDK verifies the name by the session's host. It has no use for a port but to find an older session.
        SslHandler handler =
                serverName.map(name -> context.newHandler(alloc, name, 0)).orElseGet(() -> context.newHandler(alloc));
        SSLEngine engine = handler.engine();
        SSLParameters parameters = engine.getSSLParameters();
        // By itself the JDK would ask for no name without a dot.
        parameters.setServerNames(
                serverName.stream().<SNIServerName>map(SNIHostName::new).toList());
        parameters.setEndpointIdentificationAlgorithm(verifying && serverName.isPresent() ? "HTTPS" : null);
        engine.setSSLParameters(parameters);
        return handler;
    }

    /** The file of those who are trusted is of no use. */
    static final class UnusableCaException extends Exception {
        private static final long serialVersionUID = 1;

        UnusableCaException(String message, Exception cause) {
            super(message, cause);
        }
    }
}
