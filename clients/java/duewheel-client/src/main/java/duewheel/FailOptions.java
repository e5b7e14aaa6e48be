// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;

/** Members of a failed attempt besides its reason. */
public final class FailOptions extends Options<FailOptions> {
    public FailOptions() {
        super(java.util.Map.of());
    }

    private FailOptions(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    FailOptions copy(java.util.Map<String, Object> members) {
        return new FailOptions(members);
    }

    /** Make it a dead letter at once, without another attempt. */
    public FailOptions dead(boolean value) {
        return with("dead", value);
    }

    /** Retry after this time. */
    public FailOptions retryIn(Duration value) {
        return with("retry_in", value);
    }
}
