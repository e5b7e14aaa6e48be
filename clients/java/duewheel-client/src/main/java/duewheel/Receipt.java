// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Instant;

/** The response to a put. */
public final class Receipt extends Answer {
    Receipt(Wire wire, com.fasterxml.jackson.databind.JsonNode raw) {
        super(wire, raw);
    }

    public String id() {
        return text("id");
    }

    public String state() {
        return text("state");
    }

    public Instant due() {
        return instant("due_ms");
    }

    /** The message of the key was there, and is as it was. */
    public boolean kept() {
        return isTrue("kept");
    }

    /** The message of the key was there, and is that of this put now. */
    public boolean replaced() {
        return isTrue("replaced");
    }

    /** The message of the key has ended, and nothing was put. */
    public boolean ended() {
        return isTrue("ended");
    }

    /** Null if there is none. */
    public String hint() {
        return text("hint");
    }
}
