// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Instant;

/** One attempt in the timeline of a message. */
public final class Attempt extends Answer {
    Attempt(Wire wire, com.fasterxml.jackson.databind.JsonNode raw) {
        super(wire, raw);
    }

    public long attempt() {
        return number("attempt");
    }

    public Instant started() {
        return instant("started_ms");
    }

    /** Null if there is none. */
    public Instant ended() {
        return instant("ended_ms");
    }

    /** Null if there is none. */
    public String outcome() {
        return text("outcome");
    }

    /** The reason of a failure, shortened to 256 bytes. Null if there is none. */
    public String reason() {
        return text("reason");
    }

    /** Null if there is none. */
    public String worker() {
        return text("worker");
    }
}
