package dev.tidegate.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A real gRPC server with the standard health service, whose messages are written down by hand. Any thread. */
public final class GrpcHealthServer implements AutoCloseable {
    /** What is said of a service. One of which nothing was said is unknown to the server. */
    public enum Health {
        /** An empty message. */
        UNKNOWN,
        /** Fit. */
        SERVING,
        /** Not now. */
        NOT_SERVING,
        /** No message, but the error UNAVAILABLE with the words {@code no database}. */
        BROKEN
    }

    private static final MethodDescriptor<byte[], byte[]> CHECK = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("grpc.health.v1.Health/Check")
            .setRequestMarshaller(new Plain())
            .setResponseMarshaller(new Plain())
            .build();

    private final ExecutorService executor = Executors.newSingleThreadExecutor();
    private final Map<String, Health> said = new ConcurrentHashMap<>(Map.of("", Health.SERVING));
    private final Server server;
    private volatile String authority = ""; // writer: the executor

    private GrpcHealthServer(boolean withHealth) throws IOException {
        NettyServerBuilder builder =
                NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        if (withHealth) {
            builder.addService(ServerInterceptors.intercept(
                    ServerServiceDefinition.builder("grpc.health.v1.Health")
                            .addMethod(CHECK, ServerCalls.asyncUnaryCall(this::check))
                            .build(),
                    new Listening()));
        }
        server = builder.executor(executor).build().start();
    }

    /**
     * One that says of itself as a whole (the service with no name) that it is serving.
     *
     * @throws IOException when it cannot listen
     */
    public static GrpcHealthServer start() throws IOException {
        return new GrpcHealthServer(true);
    }

    /**
     * One that lacks the health service.
     *
     * @throws IOException when it cannot listen
     */
    public static GrpcHealthServer startWithoutHealth() throws IOException {
        return new GrpcHealthServer(false);
    }

    /** From now on it says that of a service; the empty name is the server as a whole. Gives itself. */
    public GrpcHealthServer say(String service, Health health) {
        said.put(service, health);
        return this;
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort());
    }

    /** The same as text. */
    public String hostPort() {
        return HostPort.of(address());
    }

    /** The authority that was asked last; empty before that. */
    public String lastAuthority() {
        return authority;
    }

    /** Ends it with the connections that it has. */
    public void die() {
        server.shutdownNow();
    }

    private void check(byte[] request, StreamObserver<byte[]> answer) {
        String service = request.length == 0 ? "" : new String(request, 2, request.length - 2, UTF_8);
        Health health = said.get(service);
        if (health == null) {
            answer.onError(Status.NOT_FOUND.asRuntimeException());
            return;
        }
        switch (health) {
            case UNKNOWN -> answer(answer, new byte[0]);
            case SERVING -> answer(answer, new byte[] {8, 1});
            case NOT_SERVING -> answer(answer, new byte[] {8, 2});
            case BROKEN ->
                answer.onError(Status.UNAVAILABLE.withDescription("no database").asRuntimeException());
        }
    }

    private static void answer(StreamObserver<byte[]> answer, byte[] message) {
        answer.onNext(message);
        answer.onCompleted();
    }

    /** Ends it, and waits until nothing of it is left. */
    @Override
    public void close() {
        die();
        executor.shutdown();
        Await.until("the gRPC server has ended", server::isTerminated);
        Await.until("its thread has ended", executor::isTerminated);
    }

    private final class Listening implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            authority = call.getAuthority();
            return next.startCall(call, headers);
        }
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
