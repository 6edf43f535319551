package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Probe;
import dev.tidegate.health.ProbeContext;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * A TLS handshake, of version 1.2 or 1.3: passes when it is complete. Immutable.
 *
 * <p>With a CA file the target's certificate must be signed by one of those in it, be valid by today's date, and, if a
 * name is asked for, be for that name. The file is read at the beginning of each run, so that a new one holds from the next
 * check on; one that is missing or malformed says nothing about the target, and the run tells so. Without a file any
 * certificate will do.
 *
 * <p>A handshake takes most of a millisecond of the processor, and takes it on the checks' loop. On a thread of its own, targets
 * timed out on a busy machine, as what their time-out is about was waiting there; on the loop, checks come late when there are
 * more than it can carry out, and none is wrong.
 *
 * <p>The connection ends by close_notify and FIN of this side; after a handshake that failed, by an alert and FIN.
 *
 * @param serverName the name asked for (SNI); empty: none
 * @param caFile the path of a file of certificates in PEM; empty: the target's is not verified
 */
public record TlsProbe(Optional<String> serverName, Optional<String> caFile) implements Probe {
    /**
     * Checks the name.
     *
     * @throws IllegalArgumentException if it is no host name
     */
    public TlsProbe {
        Objects.requireNonNull(caFile, "caFile");
        serverName.ifPresent(SNIHostName::new);
    }

    /** What is wrong with the CA file right now, as a run would tell it; empty: nothing, or there is none. Reads it. */
    public Optional<String> troubleWithCa() {
        try {
            TlsClient.of(serverName, caFile);
            return Optional.empty();
        } catch (TlsClient.UnusableCaException e) {
            return Optional.of(e.getMessage());
        }
    }

    @Override
    public Run start(ProbeContext context, InetSocketAddress address, Consumer<Finding> done) {
        Conversation conversation = new Conversation(done, channel -> {
            SslHandler tls = channel.pipeline().get(SslHandler.class);
            if (tls != null) {
                tls.closeOutbound();
            }
            PoliteClose.finFirst(channel);
        });
        try {
            TlsClient client = TlsClient.of(serverName, caFile);
            return conversation.begin(
                    context, address, pipeline -> addTo(pipeline, client, new Handshake(this, conversation)));
        } catch (TlsClient.UnusableCaException e) {
            conversation.tell(Finding.voided(e.getMessage()));
            return conversation;
        }
    }

    private static void addTo(ChannelPipeline pipeline, TlsClient client, Handshake handshake) {
        SslHandler tls = client.newHandler(pipeline.channel().alloc());
        // Whoever runs the probe cancels it in time.
        tls.setHandshakeTimeoutMillis(0);
        pipeline.addLast(tls, handshake);
    }

    private static final class Handshake extends ChannelInboundHandlerAdapter {
        private final TlsProbe probe;
        private final Conversation conversation;

        Handshake(TlsProbe probe, Conversation conversation) {
            this.probe = probe;
            this.conversation = conversation;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            conversation.await("end of the TLS handshake");
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof SslHandshakeCompletionEvent end) {
                if (end.isSuccess()) {
                    onComplete(ctx.pipeline().get(SslHandler.class).engine().getSession());
                } else {
                    onFailed(end.cause());
                }
            }
        }

        private void onComplete(SSLSession session) {
            try {
                X509Certificate certificate = (X509Certificate) session.getPeerCertificates()[0];
                Instant expires = certificate.getNotAfter().toInstant();
                LocalDate day = LocalDate.ofInstant(expires, ZoneOffset.UTC);
                boolean expired = isExpired(certificate);
                // The JDK takes a certificate that is itself in the CA file as it is, whatever its dates.
                if (expired && probe.caFile.isPresent()) {
                    conversation.fail("certificate expired " + day);
                } else {
                    String until = (expired ? ", expired " : ", expires ") + day;
                    conversation.tell(Finding.pass(session.getProtocol() + until));
                }
            } catch (SSLPeerUnverifiedException e) {
                conversation.fail("no certificate");
            }
        }

        private static boolean isExpired(X509Certificate certificate) {
            try {
                certificate.checkValidity();
                return false;
            } catch (CertificateExpiredException expired) {
                return true;
            } catch (CertificateNotYetValidException early) {
                return false; // whoever verifies it has said so
            }
        }

        private void onFailed(Throwable fault) {
            Optional<String> words = TlsFaults.words(fault, probe);
            if (words.isPresent()) {
                conversation.fail(words.get());
            } else {
                conversation.onFault(fault);
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            conversation.onClosed();
        }

        /** A failed handshake has told already; anything else is of the socket. */
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable fault) {
            onFailed(fault);
        }
    }
}
