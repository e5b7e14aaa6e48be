// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** What changes of a message. A null removes a member. */
public final class Changes extends Options<Changes> {
    public Changes() {
        super(java.util.Map.of());
    }

    private Changes(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    Changes copy(java.util.Map<String, Object> members) {
        return new Changes(members);
    }

    /** The new data, as that of a put. */
    public Changes data(Object value) {
        return with(DATA, value);
    }

    public Changes delay(Duration value) {
        return with("delay", value);
    }

    public Changes due(Instant value) {
        return with("due", value);
    }

    public Changes expiresIn(Duration value) {
        return with("expires_in", value);
    }

    public Changes expires(Instant value) {
        return with("expires", value);
    }

    public Changes priority(long value) {
        return with("priority", value);
    }

    public Changes retry(Object value) {
        return with("retry", value);
    }

    public Changes contentType(String value) {
        return with("content_type", value);
    }

    public Changes headers(Map<String, String> value) {
        return with("headers", value);
    }

    public Changes kafka(Object value) {
        return with("kafka", value);
    }
}
