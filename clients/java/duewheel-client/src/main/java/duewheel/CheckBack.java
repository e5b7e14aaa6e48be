// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;

/** When and where the server asks what became of a prepared message. */
public final class CheckBack extends Options<CheckBack> {
    public CheckBack() {
        super(java.util.Map.of());
    }

    private CheckBack(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    CheckBack copy(java.util.Map<String, Object> members) {
        return new CheckBack(members);
    }

    /** The server asks in this queue. */
    public static CheckBack to(String queue) {
        return new CheckBack().queue(queue);
    }

    /** Queue for check messages, which ask for the outcome when that time is over; without it, none are sent. */
    public CheckBack queue(String value) {
        return with("queue", value);
    }

    /** Time to respond with `commit` or `rollback`, before and after each check. */
    public CheckBack after(Duration value) {
        return with("after", value);
    }

    /** Number of check messages. */
    public CheckBack times(long value) {
        return with("times", value);
    }
}
