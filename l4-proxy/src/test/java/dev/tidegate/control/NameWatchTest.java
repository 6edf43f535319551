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
import java.util.List;
import java.util.Map;
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
                builder ->
                        builder.searchDomains(List.of("other.test", "svc.test")).ndots(5))) {
            watch.follow(Map.of(cell, EndpointAddress.parse("api:80")));
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
        try (var watch = new NameWatch(names.provider())) {
            watch.follow(
                    Map.of(slow, EndpointAddress.parse("slow.test:80"), fast, EndpointAddress.parse("fast.test:80")));

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
        try (var watch = new NameWatch(faulty)) {
            watch.follow(Map.of(one, EndpointAddress.parse("one.test:80"), two, EndpointAddress.parse("two.test:80")));

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
                names.provider(), builder -> builder.resolvedAddressTypes(ResolvedAddressTypes.IPV4_PREFERRED))) {
            watch.follow(Map.of(cell, EndpointAddress.parse("dual.test:80")));
            Await.until("both addresses", () -> cell.addresses().size() == 2);
        } finally {
            log.detachAppender(lines);
        }
        String line = lines.list.get(0).getFormattedMessage();
        assertTrue(line.contains("127.0.0.2") && line.contains("2001:db8::1"), line);
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
