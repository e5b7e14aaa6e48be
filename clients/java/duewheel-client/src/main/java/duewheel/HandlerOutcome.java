package duewheel;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;

/** What a handler throws to end its message in another way than done or failed. It may be the cause of another exception. */
public abstract sealed class HandlerOutcome extends RuntimeException permits RetryLater, Snooze, Dead {
    HandlerOutcome(String reason, Throwable cause) {
        super(reason, cause, false, false);
    }

    static Duration notNegative(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("the time until a retry or the end of a snooze is negative: " + time);
        }
        return time;
    }

    /** The call that ends the lease. */
    abstract String verb();

    abstract ObjectNode members(DuewheelClient client);

    /** What was thrown, or is the cause of it; null if it is none of these. */
    public static HandlerOutcome of(Throwable thrown) {
        int depth = 0;
        for (Throwable each = thrown; each != null && depth < 100; each = each.getCause(), ++depth) {
            if (each instanceof HandlerOutcome found) {
                return found;
            }
        }
        return null;
    }

    /** What a handler threw, as the outcome of its message, for logs and metrics: "retry", "snooze", "dead" or "failed". */
    public static String nameOf(Throwable thrown) {
        HandlerOutcome outcome = of(thrown);
        return outcome instanceof RetryLater ? "retry" : outcome instanceof Snooze ? "snooze" : outcome instanceof Dead ? "dead" : "failed";
    }
}
