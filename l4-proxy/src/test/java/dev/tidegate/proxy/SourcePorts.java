package dev.tidegate.proxy;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.Scripts;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;

/** What {@link SourcePortsIT} runs in a network namespace of its own, where there are 20 source ports. */
final class SourcePorts {
    private static final int CLIENTS = 25;

    private SourcePorts() {}

    /** Arguments: the transport and how many endpoints. Prints what came of the clients. */
    public static void main(String[] arguments) throws Exception {
        Wish transport = Wish.valueOf(arguments[0]);
        int endpoints = Integer.parseInt(arguments[1]);
        List<ScriptedBackend> backends = new ArrayList<>();
        List<Socket> clients = new ArrayList<>();
        ProxyFixture.Setup setup =
                ProxyFixture.on(transport).listen("127.0.0.1:9000").connect("{attempts: 3}");
        for (int i = 0; i < endpoints; i++) {
            // Numbers are safe here: nobody else is in this namespace.
            backends.add(ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onPort(7001 + i), Scripts.echo()));
            setup.endpoint(backends.get(i));
        }
        int served = 0;
        int reset = 0;
        long slowestMillis = 0;
        try (ProxyFixture proxy = setup.start()) {
            for (int i = 0; i < CLIENTS; i++) {
                long begin = System.nanoTime();
                // From ports outside the range: those inside are for the proxy.
                Socket client = new Socket();
                client.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000 + i));
                clients.add(client);
                try {
                    client.connect(proxy.address(), 5_000);
                    client.setSoTimeout(5_000);
                    client.getOutputStream().write('x');
                    served += client.getInputStream().read() == 'x' ? 1 : 0;
                } catch (SocketException gone) {
                    reset++;
                }
                slowestMillis = Math.max(slowestMillis, (System.nanoTime() - begin) / 1_000_000);
            }
            // A client sees its reset before the proxy has written it down.
            long told = reset;
            Await.equal("dial-failed", told, () -> proxy.closed(CloseReason.DIAL_FAILED));
            System.out.println("served=" + served + " reset=" + reset + " dial-failed="
                    + proxy.closed(CloseReason.DIAL_FAILED) + " quick=" + (slowestMillis < 3_000));
            for (Socket client : clients) {
                client.close();
            }
            proxy.awaitNoConnections();
        } finally {
            backends.forEach(ScriptedBackend::close);
        }
    }
}
