package dev.tidegate.health.probe;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tidegate.testkit.Await;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A real gRPC server with a health service whose messages are written down by hand. */
final class GrpcHealth implements AutoCloseable {
    private static final Map<String, byte[]> ANSWERS = Map.of(
            "", new byte[] {8, 1},
            "shop.Orders", new byte[] {8, 1},
            "shop.Draining", new byte[] {8, 2},
            "shop.Starting", new byte[0]);

    private final ExecutorService executor = Executors.newSingleThreadExecutor();
    private final Server server;
    private volatile String authority = ""; // writer: the executor

    private GrpcHealth(boolean healthy) throws IOException {
        NettyServerBuilder builder =
                NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        if (healthy) {
            builder.addService(ServerInterceptors.intercept(
                    ServerServiceDefinition.builder("grpc.health.v1.Health")
                            .addMethod(CHECK, ServerCalls.asyncUnaryCall(GrpcHealth::check))
                            .build(),
                    new Listening()));
        }
        server = builder.executor(executor).build().start();
    }

    static GrpcHealth start() throws IOException {
        return new GrpcHealth(true);
    }

    static GrpcHealth startWithoutHealth() throws IOException {
        return new GrpcHealth(false);
    }

    InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort());
    }

    /** The authority that a run of this probe asks. */
    String lastAuthority(ProbeBench bench, GrpcProbe probe) {
        bench.run(probe, address());
        return authority;
    }

    private static void check(byte[] request, StreamObserver<byte[]> answer) {
        String service = request.length == 0 ? "" : new String(request, 2, request.length - 2, UTF_8);
        byte[] known = ANSWERS.get(service);
        if (known != null) {
            answer.onNext(known);
            answer.onCompleted();
        } else if (service.equals("shop.Broken")) {
            answer.onError(Status.UNAVAILABLE.withDescription("no database").asRuntimeException());
        } else {
            answer.onError(Status.NOT_FOUND.asRuntimeException());
        }
    }

    @Override
    public void close() {
        server.shutdownNow();
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

    private static final MethodDescriptor<byte[], byte[]> CHECK = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("grpc.health.v1.Health/Check")
            .setRequestMarshaller(new Plain())
            .setResponseMarshaller(new Plain())
            .build();

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
