package dev.tidegate.testkit;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 of what has passed so far. One thread updates, any thread may ask. */
final class RunningHash {
    private final MessageDigest digest;

    RunningHash() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is required of every Java platform", e);
        }
    }

    synchronized void update(byte[] bytes, int offset, int length) {
        digest.update(bytes, offset, length);
    }

    /** Lower-case hex; hashing goes on afterwards. */
    synchronized String hex() {
        try {
            MessageDigest copy = (MessageDigest) digest.clone();
            return HexFormat.of().formatHex(copy.digest());
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("the SHA-256 of this JDK cannot be copied", e);
        }
    }
}
