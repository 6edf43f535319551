package dev.tidegate.bench.jmh;

import dev.tidegate.config.ConfigReader;
import dev.tidegate.control.Proxy;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.telemetry.FloodLog;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One message through a whole running proxy and back, over real loopback sockets. The time is a round trip of three
 * threads; what this is for is {@code -prof gc}: in steady state a relayed message allocates nothing.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 3, time = 2)
@Fork(value = 1, jvmArgsAppend = "-Dio.netty.leakDetection.level=disabled")
public class RelayBenchmark {
    /** The way of doing I/O. */
    @Param({"IO_URING", "EPOLL", "NIO"})
    public TransportChoice.Wish transport;

    /** Bytes of a message. */
    @Param({"64", "16384"})
    public int bytes;

    private ServerSocketChannel echo;
    private Proxy proxy;
    private FloodLog floods;
    private SocketChannel client;
    private ByteBuffer message;

    /** Starts endpoint, proxy and client. */
    @Setup
    public void start() throws Exception {
        echo = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread endpoint = new Thread(this::echo, "echo");
        endpoint.setDaemon(true);
        endpoint.start();
        String yaml = """
                frontends: [{name: f, listen: "127.0.0.1:0", backend: b}]
                backends: [{name: b, endpoints: [{address: "127.0.0.1:%d"}]}]
                """.formatted(((InetSocketAddress) echo.getLocalAddress()).getPort());
        floods = new FloodLog(System::nanoTime);
        proxy = Proxy.start(
                ConfigReader.readText("bench", yaml.getBytes(StandardCharsets.UTF_8), name -> null)
                        .config()
                        .orElseThrow(),
                new Proxy.Parts(
                        TransportChoice.choose(transport).transport(),
                        1,
                        100,
                        System::nanoTime,
                        1,
                        floods,
                        record -> {},
                        DnsServerAddressStreamProviders.platformDefault(),
                        InstantSource.system()));
        client = SocketChannel.open(proxy.listeningOn().values().iterator().next());
        message = ByteBuffer.allocateDirect(bytes);
    }

    private void echo() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(64 * 1024);
        try (SocketChannel connection = echo.accept()) {
            while (connection.read(buffer.clear()) >= 0) {
                buffer.flip();
                while (buffer.hasRemaining()) {
                    connection.write(buffer);
                }
            }
        } catch (IOException ended) {
            System.err.println("the echo ended: " + ended);
        }
    }

    /** There and back. */
    @Benchmark
    public void roundTrip() throws IOException {
        message.clear();
        while (message.hasRemaining()) {
            client.write(message);
        }
        message.clear();
        while (message.hasRemaining()) {
            if (client.read(message) < 0) {
                throw new IOException("the proxy ended the connection");
            }
        }
    }

    /** Ends all. */
    @TearDown
    public void stop() throws IOException {
        client.close();
        proxy.close();
        floods.close();
        echo.close();
    }
}
