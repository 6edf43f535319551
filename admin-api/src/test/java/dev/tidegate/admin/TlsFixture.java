package dev.tidegate.admin;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A self-signed pair for the server and one for a client, made by the JDK's keytool, and a client that knows them. */
final class TlsFixture {
    private static final char[] PASSWORD = "changeit".toCharArray();
    private static final Map<String, KeyStore> PAIRS = new HashMap<>(); // guarded by the class

    private final Path directory;
    private final KeyStore server;
    private final KeyStore client;

    private TlsFixture(Path directory, KeyStore server, KeyStore client) {
        this.directory = directory;
        this.server = server;
        this.client = client;
    }

    static TlsFixture make(Path directory) throws IOException, InterruptedException {
        return make(directory, "server");
    }

    /** With another pair for the server. */
    static TlsFixture other(Path directory) throws IOException, InterruptedException {
        return make(directory, "other");
    }

    private static TlsFixture make(Path directory, String serverPair) throws IOException, InterruptedException {
        TlsFixture files = new TlsFixture(directory, pair(serverPair), pair("client"));
        files.write("server", files.server);
        files.write("client", files.client);
        return files;
    }

    /** Made once: keytool takes its time. */
    private static synchronized KeyStore pair(String name) throws IOException, InterruptedException {
        KeyStore known = PAIRS.get(name);
        if (known == null) {
            Path store = Files.createTempDirectory("tidegate-pair").resolve("pair.p12");
            try {
                known = make(name, store);
            } finally {
                Files.deleteIfExists(store);
                Files.delete(store.getParent());
            }
            PAIRS.put(name, known);
        }
        return known;
    }

    private static KeyStore make(String name, Path store) throws IOException, InterruptedException {
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "it",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=" + name,
                        "-ext",
                        "SAN=dns:admin.example,ip:127.0.0.1,ip:127.0.0.2",
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        new String(PASSWORD),
                        "-keystore",
                        store.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
            throw new IOException("keytool: " + said);
        }
        try (InputStream in = Files.newInputStream(store)) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(in, PASSWORD);
            return keys;
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    private void write(String name, KeyStore keys) throws IOException {
        try {
            write(file(name + ".crt"), "CERTIFICATE", keys.getCertificate("it").getEncoded());
            Key key = keys.getKey("it", PASSWORD);
            write(file(name + ".key"), "PRIVATE KEY", key.getEncoded());
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    private static void write(Path file, String kind, byte[] der) throws IOException {
        String text = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(der);
        Files.writeString(file, "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
    }

    Path file(String name) {
        return directory.resolve(name);
    }

    /** The server's files; clients need no certificate. */
    AdminTls server() {
        return new AdminTls(file("server.crt"), file("server.key"), Optional.empty());
    }

    /** The server's files; clients need the client's certificate. */
    AdminTls mutual() {
        return new AdminTls(file("server.crt"), file("server.key"), Optional.of(file("client.crt")));
    }

    /** What knows the server, and shows the client's certificate if that is wanted. */
    SSLContext context(boolean withCertificate, String protocol) throws IOException {
        try {
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            Certificate certificate = server.getCertificate("it");
            trusted.setCertificateEntry("server", certificate);
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(client, PASSWORD);
            KeyManager[] none = {};
            SSLContext context = SSLContext.getInstance(protocol);
            context.init(withCertificate ? keys.getKeyManagers() : none, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    HttpResponse<String> get(InetSocketAddress address, String target, String token)
            throws IOException, InterruptedException {
        return get(address, target, token, false);
    }

    HttpResponse<String> get(InetSocketAddress address, String target, String token, boolean withCertificate)
            throws IOException, InterruptedException {
        URI uri = URI.create("https://" + address.getAddress().getHostAddress() + ":" + address.getPort() + target);
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(10));
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        return HttpClient.newBuilder()
                .sslContext(context(withCertificate, "TLS"))
                .build()
                .send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
