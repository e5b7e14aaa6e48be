// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;

/** Settings of a queue. */
public final class QueueSettings extends Options<QueueSettings> {
    public QueueSettings() {
        super(java.util.Map.of());
    }

    private QueueSettings(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    QueueSettings copy(java.util.Map<String, Object> members) {
        return new QueueSettings(members);
    }

    /** The receiver of its messages. */
    public QueueSettings target(Object value) {
        return with("target", value);
    }

    /** Pause the queue: deliver nothing. */
    public QueueSettings paused(boolean value) {
        return with("paused", value);
    }

    /** Default duration of leases. */
    public QueueSettings lease(Duration value) {
        return with("lease", value);
    }

    public QueueSettings retry(RetryRule value) {
        return with("retry", value);
    }

    public QueueSettings rate(Object value) {
        return with("rate", value);
    }

    public QueueSettings limits(Object value) {
        return with("limits", value);
    }

    public QueueSettings groups(Object value) {
        return with("groups", value);
    }
}
