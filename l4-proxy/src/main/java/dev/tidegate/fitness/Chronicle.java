package dev.tidegate.fitness;

import dev.tidegate.model.EndpointCell;

/** Is told each change of what is thought of an endpoint or a backend. On control's thread. */
public interface Chronicle {
    /** An endpoint's change. */
    enum Change {
        /** It is ejected. */
        EJECTED("endpoint-ejected"),
        /** Its ejection is over. */
        RETURNED("endpoint-returned"),
        /** Its breaker has opened: it is not dialed. */
        BREAKER_OPEN("breaker-open"),
        /** Its breaker is half open: a few connects try it. */
        BREAKER_HALF_OPEN("breaker-half-open"),
        /** Its breaker has closed: it is dialed as ever. */
        BREAKER_CLOSED("breaker-closed");

        private final String word;

        Change(String word) {
            this.word = word;
        }

        /** The type of the event. */
        public String word() {
            return word;
        }
    }

    /**
     * An endpoint's change.
     *
     * @param why for a person, in a few words
     */
    void onEndpoint(EndpointCell endpoint, Change change, String why);

    /**
     * A backend has come into panic, or out of it.
     *
     * @param fit endpoints that are fit
     * @param counted of so many that count
     */
    void onPanic(String backend, boolean panic, int fit, int counted);
}
