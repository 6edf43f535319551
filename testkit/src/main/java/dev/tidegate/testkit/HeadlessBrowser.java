package dev.tidegate.testkit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A real Chromium without a window, with one tab, driven by its DevTools protocol.
 *
 * <pre>{@code
 * try (HeadlessBrowser browser = HeadlessBrowser.start()) {
 *     browser.open("http://127.0.0.1:" + port + "/");
 *     browser.await("the table has a row", "document.querySelector('tbody tr')");
 *     browser.click("tbody tr button");
 *     assertEquals(List.of(), browser.complaints());
 * }
 * }</pre>
 *
 * <p>It talks over a pipe, so nothing listens; it resolves no names and reaches 127.0.0.1 alone; its profile is its own and
 * goes on close. Use it from one thread. Every wait is bounded: what does not come is an {@link AssertionError}.
 */
public final class HeadlessBrowser implements AutoCloseable {
    /** A cold start, or a page, on a busy machine. */
    private static final Duration BOUND = Duration.ofSeconds(60);

    /** What a page does by itself; it shares the processors with all that is tested. */
    private static final Duration PAGE_BOUND = Duration.ofSeconds(30);

    private static final Duration STOP_BOUND = Duration.ofSeconds(10);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String STDERR = "stderr";
    private static final List<String> WORRYING = List.of("error", "warning", "assert");

    /** Chromium reads commands from descriptor 3 and answers on 4; a Java process has pipes to 0 and 1 only. */
    private static final String WITH_PIPE = "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>&2";

    private static final String TELL_VIOLATIONS = """
            addEventListener('securitypolicyviolation', event =>
                console.error('policy violated: ' + event.violatedDirective + ' by ' + event.blockedURI + ' ' + event.sample));
            """;

    private final Process process;
    private final TempDir directory;
    private final OutputStream commands;
    private final Thread reader;
    private final Map<Integer, CompletableFuture<JsonNode>> pending = new ConcurrentHashMap<>();
    private final List<String> complaints = new CopyOnWriteArrayList<>(); // writer: the reading thread
    private final AtomicInteger loads = new AtomicInteger(); // writer: the reading thread
    private int lastCommand;
    private String session = "";

    private HeadlessBrowser(Process process, TempDir directory) {
        this.process = process;
        this.directory = directory;
        this.commands = process.getOutputStream();
        this.reader = new Thread(() -> read(process.getInputStream()), "headless-browser-reader");
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts one, with a tab of 1280 × 900 that shows nothing; without Chromium that is the end of the test. */
    public static HeadlessBrowser start() {
        Path chromium = Tool.require("chromium").path();
        TempDir directory = TempDir.create();
        HeadlessBrowser browser;
        try {
            browser = new HeadlessBrowser(launch(chromium, directory), directory);
        } catch (IOException e) {
            directory.close();
            throw new UncheckedIOException("cannot start " + chromium, e);
        }
        try {
            browser.attach();
            return browser;
        } catch (AssertionError e) {
            browser.close();
            throw e;
        }
    }

    private static Process launch(Path chromium, TempDir directory) throws IOException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", WITH_PIPE, chromium.toString()));
        command.addAll(List.of(
                "--headless",
                "--remote-debugging-pipe",
                "--user-data-dir=" + directory.path().resolve("profile"),
                "--window-size=1280,900",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-default-apps",
                "--disable-sync",
                "--disable-breakpad",
                "--no-first-run",
                "--no-default-browser-check",
                "--no-proxy-server",
                "--password-store=basic",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"));
        if ("root".equals(System.getProperty("user.name"))) {
            command.add("--no-sandbox"); // Chromium's sandbox refuses to work for root
        }
        command.add("about:blank");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.path().toFile())
                .redirectError(directory.path().resolve(STDERR).toFile());
        // What it would otherwise leave in the user's home.
        builder.environment().put("HOME", directory.path().toString());
        builder.environment().put("TMPDIR", directory.path().toString());
        builder.environment().keySet().removeIf(name -> name.startsWith("XDG_"));
        return builder.start();
    }

    private void attach() {
        String target = call("Target.createTarget", object().put("url", "about:blank"))
                .get("targetId")
                .asText();
        session = call("Target.attachToTarget", object().put("targetId", target).put("flatten", true))
                .get("sessionId")
                .asText();
        for (String domain : List.of("Page", "Runtime", "Log")) {
            call(domain + ".enable", object());
        }
        call("Page.addScriptToEvaluateOnNewDocument", object().put("source", TELL_VIOLATIONS));
    }

    /** Goes to that address and waits until all of the page is loaded. */
    public void open(String url) {
        int before = loads.get();
        JsonNode answer = call("Page.navigate", object().put("url", url));
        if (answer.hasNonNull("errorText")) {
            throw new AssertionError(url + " cannot be opened: " + answer.get("errorText"));
        }
        Await.until(url + " is loaded", BOUND, () -> loads.get() > before);
    }

    /**
     * What a JavaScript expression gives, a promise awaited, as JSON; null for undefined.
     *
     * @throws AssertionError with what it threw
     */
    public JsonNode evaluate(String expression) {
        JsonNode answer = call(
                "Runtime.evaluate",
                object().put("expression", expression)
                        .put("returnByValue", true)
                        .put("awaitPromise", true)
                        .put("userGesture", true));
        if (answer.has("exceptionDetails")) {
            throw new AssertionError(expression + " threw " + thrown(answer.get("exceptionDetails")));
        }
        JsonNode value = answer.get("result").get("value");
        return value == null ? JSON.nullNode() : value;
    }

    /** What an expression gives, as text. */
    public String text(String expression) {
        return evaluate(expression).asText();
    }

    /** Whether an expression is true to JavaScript. */
    public boolean isTrue(String expression) {
        return evaluate("!!(" + expression + ")").asBoolean();
    }

    /** Waits until an expression is true to JavaScript. */
    public void await(String what, String expression) {
        if (!Await.tryUntil(PAGE_BOUND, () -> isTrue(expression))) {
            throw new AssertionError("still not so after " + Await.words(PAGE_BOUND) + ": " + what + ": " + expression
                    + "; the page says: " + text("document.body.innerText") + "; complaints: " + complaints);
        }
    }

    /**
     * Presses and lets go of the mouse in the middle of an element, which must be there and not be covered by another.
     *
     * @param selector of CSS; the first one that fits
     */
    public void click(String selector) {
        clickElement("document.querySelector(" + quoted(selector) + ")");
    }

    /** The same for the element that an expression gives. */
    public void clickElement(String expression) {
        JsonNode at = evaluate("""
                (() => {
                  const element = %s;
                  if (!element) return {wrong: 'is not there'};
                  element.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
                  const box = element.getBoundingClientRect();
                  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
                  const top = document.elementFromPoint(x, y);
                  if (!element.contains(top)) return {wrong: 'is covered by ' + (top ? top.outerHTML.slice(0, 200) : 'nothing')};
                  return {x, y};
                })()""".formatted(expression));
        if (at.has("wrong")) {
            throw new AssertionError(expression + " " + at.get("wrong").asText());
        }
        for (String type : List.of("mouseMoved", "mousePressed", "mouseReleased")) {
            ObjectNode event = object().put("type", type)
                    .put("x", at.get("x").asDouble())
                    .put("y", at.get("y").asDouble());
            if (!type.equals("mouseMoved")) {
                event.put("button", "left").put("clickCount", 1);
            }
            call("Input.dispatchMouseEvent", event);
        }
    }

    /** Moves the mouse to the corner of the page, where it points at nothing. */
    public void pointAway() {
        call(
                "Input.dispatchMouseEvent",
                object().put("type", "mouseMoved").put("x", 0).put("y", 0));
    }

    /** Puts text where the caret is. */
    public void type(String text) {
        call("Input.insertText", object().put("text", text));
    }

    /** Presses and lets go of a key. */
    public void press(Key key) {
        for (String type : List.of("keyDown", "keyUp")) {
            ObjectNode event = object().put("type", type)
                    .put("key", key.key)
                    .put("code", key.code)
                    .put("windowsVirtualKeyCode", key.number);
            if (!key.text.isEmpty() && type.equals("keyDown")) {
                event.put("text", key.text);
            }
            call("Input.dispatchKeyEvent", event);
        }
    }

    /** A key of the keyboard. */
    public enum Key {
        /** Activates what has the focus. */
        ENTER("Enter", "Enter", 13, "\r"),
        /** Closes a dialog. */
        ESCAPE("Escape", "Escape", 27, ""),
        /** Goes on to the next control. */
        TAB("Tab", "Tab", 9, ""),
        /** The character. */
        SLASH("/", "Slash", 191, "/");

        private final String key;
        private final String code;
        private final int number;
        private final String text;

        Key(String key, String code, int number, String text) {
            this.key = key;
            this.code = code;
            this.number = number;
            this.text = text;
        }
    }

    /** Makes the page as large as that, in CSS pixels. */
    public void resize(int width, int height) {
        call(
                "Emulation.setDeviceMetricsOverride",
                object().put("width", width)
                        .put("height", height)
                        .put("deviceScaleFactor", 1)
                        .put("mobile", false));
    }

    /** Has pages believe that the user prefers dark colours, or light ones. */
    public void preferDark(boolean dark) {
        ObjectNode parameters = object();
        parameters
                .putArray("features")
                .addObject()
                .put("name", "prefers-color-scheme")
                .put("value", dark ? "dark" : "light");
        call("Emulation.setEmulatedMedia", parameters);
    }

    /** Writes what is to be seen to a PNG file. */
    public void screenshot(Path png) throws IOException {
        String data = call("Page.captureScreenshot", object().put("format", "png"))
                .get("data")
                .asText();
        Files.write(png, Base64.getDecoder().decode(data));
    }

    /**
     * What the pages so far complained of: uncaught exceptions, errors and warnings on the console, violations of a
     * Content-Security-Policy. Answers that are errors, and servers that are gone, are not among them.
     */
    public List<String> complaints() {
        return List.copyOf(complaints);
    }

    /** Its process id. */
    public long pid() {
        return process.pid();
    }

    private JsonNode call(String method, ObjectNode parameters) {
        int id = ++lastCommand;
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        pending.put(id, answer);
        ObjectNode command = object().put("id", id).put("method", method);
        command.set("params", parameters);
        if (!session.isEmpty()) {
            command.put("sessionId", session);
        }
        try {
            commands.write(JSON.writeValueAsBytes(command));
            commands.write(0);
            commands.flush();
            JsonNode message = answer.get(BOUND.toMillis(), TimeUnit.MILLISECONDS);
            if (message.has("error")) {
                throw new AssertionError(command + " failed: " + message.get("error"));
            }
            return message.get("result");
        } catch (IOException | ExecutionException e) {
            throw new AssertionError("the browser is gone, asked " + command + ": " + this, e);
        } catch (TimeoutException e) {
            throw new AssertionError("no answer to " + command + " after " + Await.words(BOUND) + ", from " + this, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        } finally {
            pending.remove(id);
        }
    }

    private void read(InputStream pipe) {
        IOException gone = new IOException("its pipe has ended");
        try (InputStream in = new BufferedInputStream(pipe)) {
            ByteArrayOutputStream message = new ByteArrayOutputStream();
            for (int next = in.read(); next >= 0; next = in.read()) {
                if (next != 0) {
                    message.write(next);
                } else {
                    onMessage(JSON.readTree(message.toByteArray()));
                    message.reset();
                }
            }
        } catch (IOException e) {
            gone = e; // told to whoever waits
        }
        IOException why = gone;
        pending.values().forEach(answer -> answer.completeExceptionally(why));
    }

    private void onMessage(JsonNode message) {
        if (message.has("id")) {
            CompletableFuture<JsonNode> answer = pending.get(message.get("id").asInt());
            if (answer != null) {
                answer.complete(message);
            }
            return;
        }
        JsonNode parameters = message.path("params");
        switch (message.path("method").asText()) {
            case "Page.loadEventFired" -> loads.incrementAndGet();
            case "Runtime.exceptionThrown" -> complaints.add("uncaught " + thrown(parameters.get("exceptionDetails")));
            case "Runtime.consoleAPICalled" -> onConsole(parameters);
            case "Log.entryAdded" -> onLog(parameters.get("entry"));
            default -> {} // the rest is news that nobody here asked for
        }
    }

    private void onConsole(JsonNode call) {
        if (WORRYING.contains(call.get("type").asText())) {
            StringBuilder words =
                    new StringBuilder("console." + call.get("type").asText());
            for (JsonNode argument : call.get("args")) {
                words.append(' ')
                        .append(argument.path("value")
                                .asText(argument.path("description").asText()));
            }
            complaints.add(words.toString());
        }
    }

    private void onLog(JsonNode entry) {
        boolean fromNetwork = entry.get("source").asText().equals("network");
        if (!fromNetwork && WORRYING.contains(entry.get("level").asText())) {
            complaints.add(
                    entry.get("source").asText() + ": " + entry.get("text").asText());
        }
    }

    private static String thrown(JsonNode details) {
        return details.path("text").asText() + " "
                + details.path("exception").path("description").asText();
    }

    private static ObjectNode object() {
        return JSON.createObjectNode();
    }

    /** A Java string as a JavaScript one. */
    public static String quoted(String text) {
        try {
            return JSON.writeValueAsString(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("no JavaScript string: " + text, e);
        }
    }

    /** Ends it and all processes that it started, and waits for that; its profile goes. */
    @Override
    public void close() {
        List<ProcessHandle> family = new ArrayList<>(process.descendants().toList());
        family.add(process.toHandle());
        try {
            commands.close(); // with its pipe gone it ends in order
        } catch (IOException alreadyGone) {
            process.destroy();
        }
        List<Long> survivors = new ArrayList<>();
        for (ProcessHandle member : family) {
            if (!ended(member)) {
                member.destroyForcibly();
                if (!ended(member)) {
                    survivors.add(member.pid());
                }
            }
        }
        if (!survivors.isEmpty()) {
            throw new AssertionError("survived KILL for " + Await.words(STOP_BOUND) + ": processes " + survivors);
        }
        try {
            reader.join(STOP_BOUND.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        directory.close();
    }

    private static boolean ended(ProcessHandle process) {
        return Await.tryUntil(STOP_BOUND, () -> !process.isAlive());
    }

    @Override
    public String toString() {
        return "HeadlessBrowser[pid " + process.pid() + (process.isAlive() ? "" : ", ended") + ", stderr: "
                + directory.read(STDERR) + "]";
    }
}
