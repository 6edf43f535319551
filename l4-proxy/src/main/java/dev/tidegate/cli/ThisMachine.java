package dev.tidegate.cli;

import dev.tidegate.config.Machine;
import dev.tidegate.health.probe.TlsProbe;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/** The machine that this process runs on: its files and addresses. Any thread. */
final class ThisMachine implements Machine {
    private static final Path NET = Path.of("/proc/net");
    private static final Pattern LOCAL = Pattern.compile("\\|-- ([0-9.]+)\\s+/32 host LOCAL");
    private static final int V4_BYTES = 4;

    @Override
    public Optional<String> troubleWithCa(String file) {
        return new TlsProbe(Optional.empty(), Optional.of(file)).troubleWithCa();
    }

    @Override
    public Optional<String> troubleWithProgram(String file) {
        Path path = Path.of(file);
        String why = null;
        if (!Files.exists(path)) {
            why = "does not exist, or may not be seen";
        } else if (!Files.isRegularFile(path)) {
            why = "is no file";
        } else if (!Files.isExecutable(path)) {
            why = "may not be executed";
        }
        return Optional.ofNullable(why).map(words -> "program " + file + " " + words);
    }

    /** By what the kernel shows in files: to ask it otherwise takes a socket, and {@code check} opens none. */
    @Override
    public boolean hasAddress(String ip) {
        byte[] address = NetUtil.createByteArrayFromIpAddressString(ip);
        try {
            return address.length == V4_BYTES ? hasV4(ip) : hasV6(HexFormat.of().formatHex(address));
        } catch (IOException e) {
            return true; // not Linux, or not shown: it cannot be told
        }
    }

    private static boolean hasV4(String ip) throws IOException {
        return ip.startsWith("127.")
                || mayBindAny("ipv4")
                || LOCAL.matcher(Files.readString(NET.resolve("fib_trie")))
                        .results()
                        .anyMatch(local -> local.group(1).equals(ip));
    }

    private static boolean hasV6(String hex) throws IOException {
        return mayBindAny("ipv6")
                || Files.readString(NET.resolve("if_inet6")).lines().anyMatch(line -> line.startsWith(hex));
    }

    /** Whether the kernel lets sockets have addresses that are not there (yet). */
    private static boolean mayBindAny(String family) throws IOException {
        return Files.readString(Path.of("/proc/sys/net", family, "ip_nonlocal_bind"))
                .strip()
                .equals("1");
    }
}
