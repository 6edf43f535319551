package dev.tidegate.proxy;

import dev.tidegate.listener.TransportChoice;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A test that runs once on each transport, and takes it as its argument. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(name = "{0}")
@EnumSource(value = TransportChoice.Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
public @interface EachTransport {}
