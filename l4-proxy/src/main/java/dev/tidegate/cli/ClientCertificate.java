package dev.tidegate.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;

/** A client's own certificate and key, from PEM. Stateless. */
final class ClientCertificate {
    private static final Pattern KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
    private static final char[] NO_PASSWORD = {};

    private ClientCertificate() {}

    /**
     * What shows it to a server.
     *
     * @param certificates the client's own first, then those that lead to the authority
     * @param key of the first, as PKCS#8 and not encrypted
     * @throws GeneralSecurityException with words for the operator, when they cannot be used
     */
    static KeyManager[] managers(byte[] certificates, byte[] key) throws GeneralSecurityException, IOException {
        Collection<? extends Certificate> chain =
                CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(certificates));
        if (chain.isEmpty()) {
            throw new GeneralSecurityException("it holds no certificate; give a PEM file");
        }
        String algorithm = chain.iterator().next().getPublicKey().getAlgorithm();
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setKeyEntry("client", key(key, algorithm), NO_PASSWORD, chain.toArray(Certificate[]::new));
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(store, NO_PASSWORD);
        return managers.getKeyManagers();
    }

    private static PrivateKey key(byte[] text, String algorithm) throws GeneralSecurityException {
        Matcher pem = KEY.matcher(new String(text, StandardCharsets.ISO_8859_1));
        if (!pem.find()) {
            throw new GeneralSecurityException("the key is none in PEM as PKCS#8 (BEGIN PRIVATE KEY), not encrypted;"
                    + " `openssl pkcs8 -topk8 -nocrypt` makes one");
        }
        byte[] der = Base64.getMimeDecoder().decode(pem.group(1));
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
    }
}
