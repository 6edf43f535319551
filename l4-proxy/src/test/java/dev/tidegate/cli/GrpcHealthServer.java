package dev.tidegate.cli;

import dev.tidegate.testkit.Await;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;

/** A real gRPC server with the standard health service, whose messages are written down by hand. Any thread. */
final class GrpcHealthServer implements AutoCloseable {
    private static final MethodDescriptor<byte[], byte[]> CHECK = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("grpc.health.v1.Health/Check")
            .setRequestMarshaller(new Plain())
            .setResponseMarshaller(new Plain())
            .build();

    private static final byte[] SERVING = {8, 1};
    private static final byte[] NOT_SERVING = {8, 2};

    private final AtomicBoolean serving = new AtomicBoolean(true);
    private final Server server;

    GrpcHealthServer() throws IOException {
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(ServerServiceDefinition.builder("grpc.health.v1.Health")
                        .addMethod(CHECK, ServerCalls.asyncUnaryCall(this::check))
                        .build())
                .build()
                .start();
    }

    String hostPort() {
        return "127.0.0.1:" + server.getPort();
    }

    void serving(boolean now) {
        serving.set(now);
    }

    void die() {
        server.shutdownNow();
    }

    private void check(byte[] request, StreamObserver<byte[]> answer) {
        answer.onNext(serving.get() ? SERVING : NOT_SERVING);
        answer.onCompleted();
    }

    @Override
    public void close() {
        die();
        Await.until("the gRPC server has ended", server::isTerminated);
    }

    private static final class Plain implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
