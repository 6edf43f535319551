package dev.tidegate.real;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A certificate for 127.0.0.1 and its key, made by openssl.
 *
 * @param certificate PEM
 * @param key PEM, PKCS 8, without a password
 */
record SelfSigned(Path certificate, Path key) {
    static SelfSigned in(Path directory) throws IOException, InterruptedException {
        SelfSigned made = new SelfSigned(directory.resolve("server.crt"), directory.resolve("server.key"));
        Command.run(
                        "openssl",
                        "req",
                        "-x509",
                        "-newkey",
                        "ec",
                        "-pkeyopt",
                        "ec_paramgen_curve:prime256v1",
                        "-nodes",
                        "-days",
                        "2",
                        "-subj",
                        "/CN=localhost",
                        "-addext",
                        "subjectAltName=IP:127.0.0.1",
                        "-keyout",
                        made.key().toString(),
                        "-out",
                        made.certificate().toString())
                .expectSuccess();
        return made;
    }
}
