package dev.tidegate.config;

import java.math.BigDecimal;

/** The numbers with a fraction that a key takes, both ends included. Immutable. */
record DecimalRange(double min, double max) {
    static final DecimalRange AGGRESSION = new DecimalRange(0.1, 10);

    boolean contains(double value) {
        return value >= min && value <= max;
    }

    void require(String name, double value) {
        if (!contains(value)) {
            throw new IllegalArgumentException(name + " " + value + " is out of range (" + this + ")");
        }
    }

    /** As a file writes it: no exponent, and no fraction where there is none. */
    static String format(double value) {
        BigDecimal exact = BigDecimal.valueOf(value).stripTrailingZeros();
        return exact.setScale(Math.max(0, exact.scale())).toPlainString();
    }

    @Override
    public String toString() {
        return format(min) + ".." + format(max);
    }
}
