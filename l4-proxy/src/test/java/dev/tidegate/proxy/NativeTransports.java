package dev.tidegate.proxy;

import dev.tidegate.listener.TransportChoice;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A test of what nio cannot do: runs once on epoll and once on io_uring. The test says what it is. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(name = "{0}")
@EnumSource(
        value = TransportChoice.Wish.class,
        names = {"IO_URING", "EPOLL"})
@interface NativeTransports {}
