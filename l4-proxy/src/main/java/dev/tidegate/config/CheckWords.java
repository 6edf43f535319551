package dev.tidegate.config;

import dev.tidegate.config.HealthConfig.StatusRange;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SNIHostName;

/** The texts that a check is made of: what may be sent, and what may be asked for. Stateless. */
final class CheckWords {
    static final int HEADERS_MAX = 32;
    static final int STATUSES_MAX = 32;
    static final int STEPS_MAX = 32;
    static final int ARGUMENTS_MAX = 100;

    static final String STATUS_PATTERN = "[1-5][0-9][0-9](-[1-5][0-9][0-9])?";
    static final String HEX_PATTERN = "([0-9A-Fa-f][0-9A-Fa-f])+";

    private static final int FINAL_LEAST = 200;
    private static final int SERVICE_MAX = 1_000;
    private static final int METHOD_MAX = 32;
    private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
    private static final Pattern METHOD = Pattern.compile(TOKEN);
    private static final Pattern HEADER = Pattern.compile("(" + TOKEN + "):[ \\t]*([\\x20-\\x7e\\t]*?)[ \\t]*");
    private static final Pattern TARGET = Pattern.compile("/[\\x21-\\x7e&&[^#]]*|\\*");
    private static final Pattern AUTHORITY = Pattern.compile("[A-Za-z0-9._~%!$&'()*+,;=:\\[\\]-]{1,260}");
    /** A name with a colon has a port; of an IPv6 address only what comes after its bracket is one. */
    private static final Pattern AUTHORITY_PORT = Pattern.compile("(?:^[^:]*|\\]):([0-9]+)$");

    private static final int PORT_DIGITS = 5;
    private static final Pattern STATUS = Pattern.compile("([1-5][0-9][0-9])(?:-([1-5][0-9][0-9]))?");
    private static final Pattern STATUS_CLASS = Pattern.compile("([1-5])[xX]{2}");
    private static final Pattern HEX = Pattern.compile(HEX_PATTERN);
    /** What frames the request belongs to whoever writes it; in HTTP/2 most of these are an error. */
    private static final Set<String> FRAMING = Set.of(
            "connection",
            "content-length",
            "transfer-encoding",
            "keep-alive",
            "proxy-connection",
            "upgrade",
            "te",
            "trailer",
            "expect");

    private CheckWords() {}

    /** Checks a text that a record is made of: it must be what its reader makes of it. */
    static void require(ScalarType.Parser<String> reader, String text) {
        try {
            String read = reader.parse(text);
            if (!read.equals(text)) {
                throw new IllegalArgumentException(Text.quote(text) + " is not canonical; write " + Text.quote(read));
            }
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }

    static String method(String text) throws InvalidValue {
        if (text.length() > METHOD_MAX || !METHOD.matcher(text).matches()) {
            throw new InvalidValue(Text.quote(text) + " is no method", "write one such as GET or HEAD");
        }
        if (text.equals("CONNECT")) {
            throw new InvalidValue(
                    "method CONNECT asks for a tunnel, not for an answer", "write one such as GET or HEAD");
        }
        String upper = text.toUpperCase(Locale.ROOT);
        if (!text.equals(upper)) {
            throw new InvalidValue(
                    Text.quote(text) + " is not in capitals, and methods tell them apart", "write " + upper);
        }
        return text;
    }

    static String target(String text) throws InvalidValue {
        if (text.startsWith("http://") || text.startsWith("https://")) {
            throw new InvalidValue(Text.quote(text) + " is a URL", "write what comes after the host, as in /healthz");
        }
        if (!text.startsWith("/") && !text.equals("*")) {
            throw new InvalidValue(Text.quote(text) + " does not begin with a slash", "write a path, as in /healthz");
        }
        if (!TARGET.matcher(text).matches()) {
            throw new InvalidValue(
                    Text.quote(text) + " has a character that a path has not",
                    "write visible ASCII without #, others percent-encoded");
        }
        return text;
    }

    static String authority(String text) throws InvalidValue {
        if (!AUTHORITY.matcher(text).matches()) {
            throw new InvalidValue(
                    Text.quote(text) + " is no host",
                    "write a name or address and perhaps a port, as in app.internal:8080");
        }
        Matcher port = AUTHORITY_PORT.matcher(text);
        if (port.find()) {
            checkPort(text, port.group(1));
        }
        return text;
    }

    private static void checkPort(String text, String digits) throws InvalidValue {
        boolean fits = digits.length() <= PORT_DIGITS && IntRange.PORT.contains(Integer.parseInt(digits));
        if (!fits) {
            throw new InvalidValue(
                    Text.quote(text) + ": its port is out of range", "write a port in " + IntRange.PORT + ", or none");
        }
    }

    static String header(String text) throws InvalidValue {
        Matcher header = HEADER.matcher(text);
        if (!header.matches()) {
            throw new InvalidValue(
                    Text.quote(text) + " is no header",
                    "write NAME: VALUE in visible ASCII, as in \"Accept: text/plain\"");
        }
        String name = header.group(1).toLowerCase(Locale.ROOT);
        if (name.equals("host")) {
            throw new InvalidValue("header Host has a key of its own", "write it as host");
        }
        if (FRAMING.contains(name)) {
            throw new InvalidValue("header " + header.group(1) + " is for the check itself to set", "remove it");
        }
        if (header.group(2).isEmpty()) {
            throw new InvalidValue("header " + header.group(1) + " has no value", "give it one, or remove it");
        }
        return header.group(1) + ": " + header.group(2);
    }

    static StatusRange statuses(String text) throws InvalidValue {
        Matcher status = STATUS.matcher(text);
        if (!status.matches()) {
            Matcher whole = STATUS_CLASS.matcher(text);
            String digit = whole.matches() ? whole.group(1) : "";
            throw new InvalidValue(
                    Text.quote(text) + " is no status",
                    digit.isEmpty()
                            ? "write one of 100..599 or a range of them, as in 200 or 200-399"
                            : "write " + digit + "00-" + digit + "99");
        }
        int from = Integer.parseInt(status.group(1));
        int to = status.group(2) == null ? from : Integer.parseInt(status.group(2));
        if (to < from) {
            throw new InvalidValue(Text.quote(text) + " ends before it begins", "write " + to + "-" + from);
        }
        if (to < FINAL_LEAST) {
            throw new InvalidValue(
                    "status " + text + " is never the final one of an answer",
                    "write one of 200..599 or a range of them");
        }
        return new StatusRange(from, to);
    }

    static String hex(String text) throws InvalidValue {
        if (!HEX.matcher(text).matches()) {
            throw new InvalidValue(
                    Text.quote(text) + " is not bytes in hexadecimal",
                    "write two digits for each, as in 0d0a, and no spaces");
        }
        return text;
    }

    static String some(String text) throws InvalidValue {
        if (text.isEmpty()) {
            throw new InvalidValue("the text is empty", "write at least one character");
        }
        return text;
    }

    static String service(String text) throws InvalidValue {
        if (text.length() > SERVICE_MAX || text.chars().anyMatch(Character::isISOControl)) {
            throw new InvalidValue(
                    Text.quote(text) + " is no name of a service", "write it as the .proto does, as in shop.v1.Cart");
        }
        return text;
    }

    static String serverName(String text) throws InvalidValue {
        if (IpText.parse(text).isPresent()) {
            throw new InvalidValue(
                    Text.quote(text) + " is an address, and TLS asks for names only",
                    "write a name, or remove the key");
        }
        // A port that is always right: the rest is what an endpoint's name is held to.
        HostPort parts;
        try {
            parts = HostPort.read(text + ":443", IntRange.PORT, "app.internal:443");
        } catch (InvalidValue e) {
            throw new InvalidValue(Text.quote(text) + " is no host name", "write one, as in app.internal");
        }
        try {
            return new SNIHostName(parts.host()).getAsciiName();
        } catch (IllegalArgumentException e) {
            throw new InvalidValue(
                    Text.quote(text) + " is no name that TLS can ask for",
                    "write one of letters, digits, hyphens and dots, with no dot at the end");
        }
    }

    static String argument(String text) throws InvalidValue {
        if (text.indexOf('\0') >= 0) {
            throw new InvalidValue(Text.quote(text) + " has a zero byte, which ends an argument", "remove it");
        }
        return text;
    }

    static String program(String text) throws InvalidValue {
        Paths.checkFile(text);
        if (!text.startsWith("/")) {
            throw new InvalidValue(
                    "program " + Text.quote(text) + " is not an absolute path",
                    "write it from the root on, as in /usr/local/bin/check; none is looked for in $PATH");
        }
        return text;
    }
}
