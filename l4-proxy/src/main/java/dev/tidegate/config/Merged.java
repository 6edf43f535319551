package dev.tidegate.config;

import java.util.ArrayList;
import java.util.List;

/** Frontends or backends of all files together. Confined to the thread that reads. */
final class Merged {
    private final Key<List<Located<Values>>> key;
    private final List<Located<Values>> elements = new ArrayList<>();
    private boolean complete = true;

    Merged(Key<List<Located<Values>>> key) {
        this.key = key;
    }

    void take(Values file) {
        file.given(key).ifPresent(list -> elements.addAll(list.value()));
        complete &= !file.isRefused(key);
    }

    void lack() {
        complete = false;
    }

    Key<List<Located<Values>>> key() {
        return key;
    }

    List<Located<Values>> elements() {
        return elements;
    }

    /** Whether these are all that were meant: nothing that could not be read may have held more. */
    boolean complete() {
        return complete;
    }
}
