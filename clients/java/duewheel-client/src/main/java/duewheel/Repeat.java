// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;
import java.time.Instant;

/** Makes a message recurring. */
public final class Repeat extends Options<Repeat> {
    public Repeat() {
        super(java.util.Map.of());
    }

    private Repeat(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    Repeat copy(java.util.Map<String, Object> members) {
        return new Repeat(members);
    }

    /** Make it a recurring message, with this interval. */
    public Repeat every(Duration value) {
        return with("every", value);
    }

    /** Number of occurrences. */
    public Repeat times(long value) {
        return with("times", value);
    }

    /** Factor by which the interval grows each time: 2 doubles it. */
    public Repeat factor(double value) {
        return with("factor", value);
    }

    /** Maximum interval. */
    public Repeat max(Duration value) {
        return with("max", value);
    }

    public Repeat until(Instant value) {
        return with("until", value);
    }
}
