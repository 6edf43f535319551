package dev.tidegate.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** How a running process is reached and its answer shown: alike for all commands that talk to one. */
final class AdminOptions {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    @Option(
            names = "--admin",
            paramLabel = "ADDRESS",
            converter = AddressConverter.class,
            description = "The admin API: unix:PATH, http://HOST:PORT or https://HOST:PORT (default: the socket in"
                    + " $RUNTIME_DIRECTORY or $XDG_RUNTIME_DIR/tidegate; where that is not there,"
                    + " unix:/run/tidegate/admin.sock).")
    private ApiAddress address;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "Holds one bare token, to show who asks; a UNIX socket needs none.")
    private Path tokenFile;

    @Option(
            names = "--ca",
            paramLabel = "FILE",
            description = "Certificates (PEM) to trust for https, in place of the JDK's.")
    private Path ca;

    @Option(
            names = "--certificate",
            paramLabel = "FILE",
            description = "A certificate (PEM) to show over https, where the process asks for one; with --key.")
    private Path certificate;

    @Option(names = "--key", paramLabel = "FILE", description = "Its key (PEM, PKCS#8, not encrypted).")
    private Path key;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            converter = DemoCommand.DurationConverter.class,
            description = "How long to wait for an answer (default: 30s).")
    private Duration timeout;

    @Option(
            names = "--output",
            paramLabel = "table|json",
            converter = CheckCommand.OutputConverter.class,
            description = "table: for a person (default); json: what the process answers.")
    private CheckCommand.Output output;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    static final class AddressConverter implements ITypeConverter<ApiAddress> {
        @Override
        public ApiAddress convert(String text) {
            try {
                return ApiAddress.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** What a command does with the API. */
    interface Talk {
        /** Gives the exit code. */
        int with(AdminClient client) throws UnreachableException, RefusedException, InterruptedException;
    }

    /** Talks to the process, and tells what went wrong. */
    int talk(Talk talk) {
        try {
            return talk.with(client());
        } catch (UnreachableException e) {
            err().println("tidegate: " + e.getMessage());
            return Exit.UNAVAILABLE;
        } catch (RefusedException e) {
            if (json() && e.problem().isThere()) {
                out().println(e.problem().pretty());
            } else {
                e.lines().forEach(line -> err().println(line.startsWith(" ") ? line : "tidegate: " + line));
            }
            return Exit.FAILED;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Exit.INTERRUPTED;
        }
    }

    /** Whether the answer itself is wanted. */
    boolean json() {
        return pick(output, above().map(options -> options.output), CheckCommand.Output.TABLE)
                == CheckCommand.Output.JSON;
    }

    PrintWriter out() {
        return spec.commandLine().getOut();
    }

    PrintWriter err() {
        return spec.commandLine().getErr();
    }

    /** Prints an answer as it came, or in words. */
    void show(Json answer, String words) {
        out().println(json() ? answer.pretty() : words);
    }

    private AdminClient client() {
        ApiAddress to = pick(address, above().map(options -> options.address), null);
        ApiAddress api = to == null ? ApiAddress.standard(System.getenv()) : to;
        boolean secure = api instanceof ApiAddress.Http http && http.tls();
        return new AdminClient(
                api,
                Optional.ofNullable(pick(tokenFile, above().map(options -> options.tokenFile), null))
                        .map(this::token),
                secure ? Optional.of(tls()) : Optional.empty(),
                pick(timeout, above().map(options -> options.timeout), TIMEOUT));
    }

    /** The same options, where they were given before the command's name. */
    private Optional<AdminOptions> above() {
        CommandSpec parent = spec.parent();
        return parent != null && parent.userObject() instanceof Main main
                ? Optional.of(main.admin())
                : Optional.empty();
    }

    private static <T> T pick(T own, Optional<T> above, T otherwise) {
        return own != null ? own : above.orElse(otherwise);
    }

    private AdminClient.Token token(Path file) {
        String text = new String(read("--token-file", file), StandardCharsets.UTF_8).strip();
        if (text.isEmpty() || text.chars().anyMatch(c -> c <= ' ' || c >= 127)) {
            throw usage("--token-file " + file + " does not hold one bare token; a file of lines ROLE TOKEN is the"
                    + " process's own: copy one token out of it");
        }
        return new AdminClient.Token(file, text);
    }

    private SSLSocketFactory tls() {
        Path trusted = pick(ca, above().map(options -> options.ca), null);
        Path shown = pick(certificate, above().map(options -> options.certificate), null);
        Path secret = pick(key, above().map(options -> options.key), null);
        if ((shown == null) != (secret == null)) {
            throw usage("--certificate and --key belong together; give both");
        }
        if (trusted == null && shown == null) {
            return (SSLSocketFactory) SSLSocketFactory.getDefault();
        }
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(shown == null ? null : keys(shown, secret), trusted == null ? null : trust(trusted), null);
            return context.getSocketFactory();
        } catch (GeneralSecurityException e) {
            throw usage("TLS cannot be used: " + e.getMessage());
        }
    }

    private KeyManager[] keys(Path shown, Path secret) {
        try {
            return ClientCertificate.managers(read("--certificate", shown), read("--key", secret));
        } catch (GeneralSecurityException | IOException e) {
            throw usage("--certificate " + shown + " with --key " + secret + " cannot be used: " + e.getMessage());
        }
    }

    private TrustManager[] trust(Path file) {
        try {
            Collection<? extends Certificate> trusted = CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(read("--ca", file)));
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (Certificate each : trusted) {
                store.setCertificateEntry("ca" + store.size(), each);
            }
            if (store.size() == 0) {
                throw usage("--ca " + file + " holds no certificate; give a PEM file");
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            return factory.getTrustManagers();
        } catch (GeneralSecurityException | IOException e) {
            throw usage("--ca " + file + " cannot be used: " + e.getMessage() + "; give a PEM file");
        }
    }

    private byte[] read(String option, Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            throw usage(option + " " + file + " does not exist; check the path");
        } catch (IOException e) {
            throw usage(option + " " + file + " cannot be read: " + e.getMessage());
        }
    }

    private ParameterException usage(String message) {
        return new CommandLine.ParameterException(spec.commandLine(), message);
    }
}
