package duewheel;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;

/** The attempt has failed, and the next one follows after a time instead of the backoff: {@code throw RetryLater.after(ofMinutes(1), "why")}. */
public final class RetryLater extends HandlerOutcome {
    private final Duration after;

    private RetryLater(Duration after, String reason) {
        super(reason, null);
        this.after = notNegative(after);
    }

    public static RetryLater after(Duration time) {
        return after(time, "retry after " + time);
    }

    public static RetryLater after(Duration time, String reason) {
        return new RetryLater(time, reason);
    }

    @Override
    String verb() {
        return "fail";
    }

    @Override
    ObjectNode members(DuewheelClient client) {
        return client.failMembers(getMessage(), new FailOptions().retryIn(after));
    }
}
