package dev.tidegate.real;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A real gRPC server with a call of each kind. Every call carries its number, and the service remembers which it saw. */
final class GrpcService implements AutoCloseable {
    /** Answers of a server-streaming call. */
    static final int STREAMED = 20;

    static final MethodDescriptor<Long, Long> UNARY = method("Unary", MethodType.UNARY);
    static final MethodDescriptor<Long, Long> SERVER_STREAM = method("ServerStream", MethodType.SERVER_STREAMING);
    static final MethodDescriptor<Long, Long> BIDI = method("Bidi", MethodType.BIDI_STREAMING);

    private final Server server;
    private final ExecutorService executor = Executors.newFixedThreadPool(2);
    private final Set<Long> seen = ConcurrentHashMap.newKeySet();

    private GrpcService(SelfSigned pair) throws IOException {
        ServerServiceDefinition service = ServerServiceDefinition.builder("tidegate.Test")
                .addMethod(UNARY, ServerCalls.asyncUnaryCall(this::unary))
                .addMethod(SERVER_STREAM, ServerCalls.asyncServerStreamingCall(this::serverStream))
                .addMethod(BIDI, ServerCalls.asyncBidiStreamingCall(this::bidi))
                .build();
        NettyServerBuilder builder =
                NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        if (pair != null) {
            builder.sslContext(GrpcSslContexts.forServer(
                            pair.certificate().toFile(), pair.key().toFile())
                    .build());
        }
        server = builder.executor(executor).addService(service).build().start();
    }

    /** In clear text. */
    static GrpcService start() throws IOException {
        return new GrpcService(null);
    }

    /** Over TLS. */
    static GrpcService start(SelfSigned pair) throws IOException {
        return new GrpcService(pair);
    }

    String hostPort() {
        return "127.0.0.1:" + server.getPort();
    }

    /** Whether a call of that number has come to this server. */
    boolean saw(long call) {
        return seen.contains(call);
    }

    private void unary(Long call, StreamObserver<Long> answer) {
        seen.add(call);
        answer.onNext(call);
        answer.onCompleted();
    }

    private void serverStream(Long call, StreamObserver<Long> answer) {
        seen.add(call);
        for (int i = 0; i < STREAMED; i++) {
            answer.onNext(call + i);
        }
        answer.onCompleted();
    }

    private StreamObserver<Long> bidi(StreamObserver<Long> answer) {
        return new StreamObserver<>() {
            @Override
            public void onNext(Long call) {
                seen.add(call);
                answer.onNext(call);
            }

            @Override
            public void onError(Throwable gone) {
                // The client has given the call up, and counts it.
            }

            @Override
            public void onCompleted() {
                answer.onCompleted();
            }
        };
    }

    @Override
    public void close() {
        server.shutdownNow();
        executor.shutdownNow();
        try {
            server.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static MethodDescriptor<Long, Long> method(String name, MethodType type) {
        return MethodDescriptor.<Long, Long>newBuilder()
                .setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName("tidegate.Test", name))
                .setRequestMarshaller(new Numbers())
                .setResponseMarshaller(new Numbers())
                .build();
    }

    private static final class Numbers implements MethodDescriptor.Marshaller<Long> {
        @Override
        public InputStream stream(Long value) {
            return new ByteArrayInputStream(
                    ByteBuffer.allocate(Long.BYTES).putLong(value).array());
        }

        @Override
        public Long parse(InputStream stream) {
            try {
                return ByteBuffer.wrap(stream.readAllBytes()).getLong();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
