// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;

/** Members of a lease call. */
public final class LeaseOptions extends Options<LeaseOptions> {
    public LeaseOptions() {
        super(java.util.Map.of());
    }

    private LeaseOptions(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    LeaseOptions copy(java.util.Map<String, Object> members) {
        return new LeaseOptions(members);
    }

    /** Maximum number of messages. */
    public LeaseOptions max(long value) {
        return with("max", value);
    }

    /** Duration of the lease. */
    public LeaseOptions lease(Duration value) {
        return with("lease", value);
    }

    /** How long to wait for the first message. */
    public LeaseOptions wait(Duration value) {
        return with("wait", value);
    }

    /** Wait until this number of messages is due. */
    public LeaseOptions min(long value) {
        return with("min", value);
    }

    /** Name of the worker, which the message shows. */
    public LeaseOptions worker(String value) {
        return with("worker", value);
    }
}
