package dev.tidegate.config;

/**
 * What happens when too few endpoints are fit. Immutable.
 *
 * @param thresholdPercent below this share of fit endpoints the backend is in panic; 0..100, 0: never
 * @param spread whether unfit endpoints get connections then
 */
public record PanicConfig(int thresholdPercent, boolean spread) {
    /** There is no panic. */
    public static final PanicConfig NEVER = new PanicConfig(0, true);

    /** What holds when nothing is configured. */
    public static final PanicConfig DEFAULT = new PanicConfig(50, true);

    /**
     * Checks the range.
     *
     * @throws IllegalArgumentException if the threshold is out of range
     */
    public PanicConfig {
        IntRange.PANIC_THRESHOLD.require("panic threshold", thresholdPercent);
    }
}
