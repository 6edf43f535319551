package dev.tidegate.real;

import dev.tidegate.listener.TransportChoice.Wish;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A test that runs once on io_uring, once on epoll and once on nio. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest
@EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
@interface EachTransport {}
