package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.tidegate.config.EndpointAddress;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.LeakGuard;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class NameWatchTest {
    private final FakeNameServer names = FakeNameServer.start();

    @AfterEach
    void stopNames() {
        names.close();
    }

    /** In a Kubernetes pod every name is found under one of several search domains. */
    @Test
    @Tag("slow")
    void theTimeToLiveCountsAlsoWhenTheNameWasFoundUnderASearchDomain() {
        names.answer("api.svc.test", 1, "127.0.0.2");
        EndpointCell cell = cell("api:80");
        try (var watch = new NameWatch(
                names.provider(),
                (any, refused) -> {},
                () -> {},
                builder ->
                        builder.searchDomains(List.of("other.test", "svc.test")).ndots(5))) {
            watch.follow(Map.of(cell, EndpointAddress.parse("api:80")), Set.of());
            Await.equal("addresses", List.of("127.0.0.2"), () -> hosts(cell));

            names.answer("api.svc.test", 1, "127.0.0.3");

            Await.equal("addresses", List.of("127.0.0.3"), () -> hosts(cell));
        }
    }

    @Test
    @Tag("slow")
    void aNameIsAskedForNoSoonerThanItsTimeToLiveSays() {
        names.answer("slow.test", 300, "127.0.0.2");
        names.answer("fast.test", 1, "127.0.0.2");
        EndpointCell slow = cell("slow.test:80");
        EndpointCell fast = cell("fast.test:80");
        try (var watch = new NameWatch(names.provider(), (any, refused) -> {}, () -> {})) {
            watch.follow(
                    Map.of(slow, EndpointAddress.parse("slow.test:80"), fast, EndpointAddress.parse("fast.test:80")),
                    Set.of());

            Await.until("lookups of the other name", () -> names.queries("fast.test") >= 3);

            assertEquals(1, names.queries("slow.test"));
        }
    }

    /** Whatever goes wrong in one lookup, that name and the others are looked up again. */
    @Test
    @Tag("slow")
    void aFaultEndsNoWatch() {
        LeakGuard.installed().expect("name not looked up, tried again.*");
        names.answer("one.test", 1, "127.0.0.2");
        names.answer("two.test", 1, "127.0.0.3");
        EndpointCell one = cell("one.test:80");
        EndpointCell two = cell("two.test:80");
        AtomicBoolean broken = new AtomicBoolean();
        DnsServerAddressStreamProvider good = names.provider();
        DnsServerAddressStreamProvider faulty = host -> {
            if (broken.compareAndSet(true, false)) {
                throw new LinkageError("a fault that the test makes");
            }
            return good.nameServerAddressStream(host);
        };
        try (var watch = new NameWatch(faulty, (any, refused) -> {}, () -> {})) {
            watch.follow(
                    Map.of(one, EndpointAddress.parse("one.test:80"), two, EndpointAddress.parse("two.test:80")),
                    Set.of());

            Await.equal("addresses of one", List.of("127.0.0.2"), () -> hosts(one));
            Await.equal("addresses of two", List.of("127.0.0.3"), () -> hosts(two));

            broken.set(true);
            Await.until("the fault", () -> !broken.get());
            names.answer("one.test", 1, "127.0.0.4");
            names.answer("two.test", 1, "127.0.0.5");

            Await.equal("addresses of one", List.of("127.0.0.4"), () -> hosts(one));
            Await.equal("addresses of two", List.of("127.0.0.5"), () -> hosts(two));
        }
    }

    @Test
    void bothFamiliesAreTakenAndLoggedInCanonicalForm() {
        names.answer("dual.test", 60, "2001:db8::1", "127.0.0.2");
        EndpointCell cell = cell("dual.test:80");
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        Logger log = (Logger) LoggerFactory.getLogger(NameWatch.class);
        lines.start();
        log.addAppender(lines);
        try (var watch = new NameWatch(
                names.provider(),
                (any, refused) -> {},
                () -> {},
                builder -> builder.resolvedAddressTypes(ResolvedAddressTypes.IPV4_PREFERRED))) {
            watch.follow(Map.of(cell, EndpointAddress.parse("dual.test:80")), Set.of());
            Await.until("both addresses", () -> cell.addresses().size() == 2);
        } finally {
            log.detachAppender(lines);
        }
        String line = lines.list.get(0).getFormattedMessage();
        assertTrue(line.contains("127.0.0.2") && line.contains("2001:db8::1"), line);
    }

    /** A name is as good a way to the metadata service of a cloud as its address. */
    @Test
    @Tag("slow")
    void ofWhatWasAddedAtRunTimeAddressesThatAreNoneForItAreLeftOutAndToldOf() {
        Map<EndpointCell, EndpointAddress> cells = new LinkedHashMap<>();
        names.answer("mixed.test", 1, "169.254.169.254", "127.0.0.2", "0.0.0.0", "224.0.0.1", "fe80::1", "::");
        names.answer("good.test", 1, "127.0.0.3");
        EndpointCell mixed = add(cells, "mixed.test:80");
        EndpointCell good = add(cells, "good.test:80");
        EndpointCell configured = new EndpointCell("other", "mixed.test:80", 1, List.of());
        cells.put(configured, EndpointAddress.parse("mixed.test:80"));
        Map<EndpointCell, List<String>> told = new ConcurrentHashMap<>();
        try (var watch = new NameWatch(
                names.provider(),
                told::put,
                () -> {},
                builder -> builder.resolvedAddressTypes(ResolvedAddressTypes.IPV4_PREFERRED))) {
            watch.follow(cells, Set.of(mixed, good));

            Await.equal("addresses", List.of("127.0.0.2"), () -> hosts(mixed));
            Await.until(
                    "all of the configured one", () -> configured.addresses().size() == 6);
            assertEquals(List.of("0.0.0.0", "169.254.169.254", "224.0.0.1", "::", "fe80::1"), told.get(mixed));

            // With nothing else in the answer, what was good before stays.
            Await.equal("addresses", List.of("127.0.0.3"), () -> hosts(good));
            names.answer("good.test", 1, "169.254.169.254");
            Await.equal("told", List.of("169.254.169.254"), () -> told.get(good));
            assertEquals(List.of("127.0.0.3"), hosts(good));

            // Nor does one stay that was good only while the configuration named it.
            watch.follow(cells, Set.of(mixed, good, configured));
            Await.equal("addresses", List.of("127.0.0.2"), () -> hosts(configured));
        }
    }

    private static EndpointCell add(Map<EndpointCell, EndpointAddress> cells, String address) {
        EndpointCell cell = cell(address);
        cells.put(cell, EndpointAddress.parse(address));
        return cell;
    }

    private static EndpointCell cell(String address) {
        return new EndpointCell("back", address, 0, List.of());
    }

    private static List<String> hosts(EndpointCell cell) {
        return cell.addresses().stream()
                .map(address -> address.getAddress().getHostAddress())
                .toList();
    }
}
