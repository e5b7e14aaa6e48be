package duewheel;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;

/** Not now: the message returns after a time, and the attempt does not count. {@code throw Snooze.of(ofHours(1))}. */
public final class Snooze extends HandlerOutcome {
    private final Duration delay;

    private Snooze(Duration delay) {
        super("snooze for " + delay, null);
        this.delay = notNegative(delay);
    }

    public static Snooze of(Duration delay) {
        return new Snooze(delay);
    }

    @Override
    String verb() {
        return "release";
    }

    @Override
    ObjectNode members(DuewheelClient client) {
        return client.releaseMembers(delay);
    }
}
