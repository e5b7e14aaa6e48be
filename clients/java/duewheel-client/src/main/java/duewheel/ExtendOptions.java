// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;

/** Members of an extension. */
public final class ExtendOptions extends Options<ExtendOptions> {
    public ExtendOptions() {
        super(java.util.Map.of());
    }

    private ExtendOptions(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    ExtendOptions copy(java.util.Map<String, Object> members) {
        return new ExtendOptions(members);
    }

    /** New duration, from now, and never less than the remaining time. */
    public ExtendOptions lease(Duration value) {
        return with("lease", value);
    }

    /** How far the work is: a number from 0 to 1, or other JSON. */
    public ExtendOptions progress(Object value) {
        return with("progress", value);
    }

    /** What the next attempt needs to continue this work, as JSON. */
    public ExtendOptions checkpoint(Object value) {
        return with("checkpoint", value);
    }
}
