package dev.tidegate.real;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Real gRPC clients, over channels that each stick to one connection at a time. Without TLS they call without a pause. */
final class GrpcCrowd implements AutoCloseable {
    /** A call that failed. */
    record Failure(long call, String kind, Throwable cause) {}

    private static final int BIDI_ROUNDS = 10;
    private static final long LONGEST_PARK_NANOS = 100_000_000; // so that the end is heard of in a rest
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(20);

    private final List<ManagedChannel> channels = new ArrayList<>();
    private final List<Thread> callers = new ArrayList<>();
    private final AtomicLong calls;
    private final AtomicLong done = new AtomicLong();
    private final Queue<Failure> failures = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean stopping = new AtomicBoolean();

    private GrpcCrowd(long firstCall) {
        calls = new AtomicLong(firstCall);
    }

    /**
     * Begins to call.
     *
     * @param channels how many; each has one connection at a time, and callers of each kind
     * @param retries whether gRPC may repeat a call of which it knows that no server has seen it
     * @param firstCall the number of the first call, so that several crowds can be told apart
     */
    static GrpcCrowd start(InetSocketAddress proxy, int channels, boolean retries, long firstCall) {
        GrpcCrowd crowd = new GrpcCrowd(firstCall);
        for (int i = 0; i < channels; i++) {
            NettyChannelBuilder builder = NettyChannelBuilder.forAddress(proxy).usePlaintext();
            crowd.add(retries ? builder : builder.disableRetry(), Pace.WITHOUT_REST);
        }
        crowd.callers.forEach(Thread::start);
        return crowd;
    }

    /**
     * Begins to call over TLS.
     *
     * @param trusted the server's certificate
     * @param channels how many
     * @param work how long a channel's callers call, all of them
     * @param rest how long they rest then, all of them at once; 0 for never
     */
    static GrpcCrowd startTls(InetSocketAddress proxy, SelfSigned trusted, int channels, Duration work, Duration rest)
            throws IOException {
        GrpcCrowd crowd = new GrpcCrowd(1);
        SslContext tls = GrpcSslContexts.forClient()
                .trustManager(trusted.certificate().toFile())
                .build();
        for (int i = 0; i < channels; i++) {
            Pace pace = rest.isZero() ? Pace.WITHOUT_REST : new Pace(work, rest, i / (double) channels);
            crowd.add(NettyChannelBuilder.forAddress(proxy).sslContext(tls), pace);
        }
        crowd.callers.forEach(Thread::start);
        return crowd;
    }

    private void add(NettyChannelBuilder builder, Pace pace) {
        ManagedChannel channel = builder.directExecutor().build();
        channels.add(channel);
        caller("unary", pace, call -> unary(channel, call));
        caller("unary", pace, call -> unary(channel, call));
        caller("server-stream", pace, call -> serverStream(channel, call));
        caller("bidi", pace, call -> bidi(channel, call));
    }

    /** When the callers of a channel call and when they rest, all by the same clock. */
    private static final class Pace {
        static final Pace WITHOUT_REST = new Pace(Duration.ofDays(1), Duration.ZERO, 0);

        private final long workNanos;
        private final long cycleNanos;
        private final long startNanos;

        Pace(Duration work, Duration rest, double phase) {
            workNanos = work.toNanos();
            cycleNanos = workNanos + rest.toNanos();
            startNanos = System.nanoTime() - (long) (phase * cycleNanos);
        }

        /** How much longer is to be rested; 0 or less when it is time to call. */
        long restNanos() {
            long into = (System.nanoTime() - startNanos) % cycleNanos;
            return into < workNanos ? 0 : cycleNanos - into;
        }
    }

    private interface Call {
        void make(long call) throws Exception;
    }

    private void caller(String kind, Pace pace, Call call) {
        Thread thread = new Thread(
                () -> {
                    while (!stopping.get()) {
                        long restNanos = pace.restNanos();
                        if (restNanos > 0) {
                            LockSupport.parkNanos(Math.min(restNanos, LONGEST_PARK_NANOS));
                            continue;
                        }
                        long number = calls.getAndAdd(GrpcService.STREAMED);
                        try {
                            call.make(number);
                            done.getAndIncrement();
                        } catch (Exception e) {
                            failures.add(new Failure(number, kind, e));
                        }
                    }
                },
                "grpc-" + kind);
        callers.add(thread);
    }

    private static CallOptions options() {
        return CallOptions.DEFAULT.withDeadlineAfter(ANSWER_LIMIT.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void unary(ManagedChannel channel, long call) {
        check(call, ClientCalls.blockingUnaryCall(channel, GrpcService.UNARY, options(), call));
    }

    private void serverStream(ManagedChannel channel, long call) {
        Iterator<Long> answers =
                ClientCalls.blockingServerStreamingCall(channel, GrpcService.SERVER_STREAM, options(), call);
        for (int i = 0; i < GrpcService.STREAMED; i++) {
            check(call + i, answers.next());
        }
        if (answers.hasNext()) {
            throw new IllegalStateException("more answers than there are");
        }
    }

    private void bidi(ManagedChannel channel, long call) throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        AtomicLong answered = new AtomicLong();
        List<Throwable> faults = new ArrayList<>(); // written before ended
        StreamObserver<Long>[] requests = newArray();
        requests[0] = ClientCalls.asyncBidiStreamingCall(
                channel.newCall(GrpcService.BIDI, options()), new StreamObserver<>() {
                    @Override
                    public void onNext(Long answer) {
                        if (answer == call && answered.incrementAndGet() < BIDI_ROUNDS) {
                            requests[0].onNext(call);
                        } else {
                            requests[0].onCompleted();
                        }
                    }

                    @Override
                    public void onError(Throwable fault) {
                        faults.add(fault);
                        ended.countDown();
                    }

                    @Override
                    public void onCompleted() {
                        ended.countDown();
                    }
                });
        requests[0].onNext(call);
        if (!ended.await(2 * ANSWER_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            throw new IllegalStateException("a call without an end");
        }
        if (!faults.isEmpty()) {
            throw new IllegalStateException(faults.get(0));
        }
        check(BIDI_ROUNDS, answered.get());
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // arrays have no type arguments
    private static StreamObserver<Long>[] newArray() {
        return new StreamObserver[1];
    }

    private static void check(long expected, long answer) {
        if (answer != expected) {
            throw new IllegalStateException("answered " + answer + ", not " + expected);
        }
    }

    long done() {
        return done.get();
    }

    List<Failure> failures() {
        return List.copyOf(failures);
    }

    /** Ends all callers, each after the call that it is in. */
    void stop() throws InterruptedException {
        stopping.set(true);
        for (Thread caller : callers) {
            caller.join(3 * ANSWER_LIMIT.toMillis());
            if (caller.isAlive()) {
                throw new IllegalStateException(caller + " does not end");
            }
        }
    }

    @Override
    public void close() {
        stopping.set(true);
        channels.forEach(ManagedChannel::shutdownNow);
        for (ManagedChannel channel : channels) {
            try {
                channel.awaitTermination(5, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
