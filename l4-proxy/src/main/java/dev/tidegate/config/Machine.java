package dev.tidegate.config;

import java.util.Optional;

/** What a configuration needs of the machine that it runs on, for who asks before it does. Any thread. */
public interface Machine {
    /** What is wrong with a file of certificates in PEM, in words such as {@code CA file /a.pem does not exist}. */
    Optional<String> troubleWithCa(String file);

    /** What is wrong with a program, in words such as {@code program /bin/check does not exist}. */
    Optional<String> troubleWithProgram(String file);

    /** Whether connections can come from that IP address now. */
    boolean hasAddress(String ip);
}
