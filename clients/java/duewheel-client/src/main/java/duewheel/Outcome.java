package duewheel;

import com.fasterxml.jackson.databind.JsonNode;

/** What a call made of a message. */
public final class Outcome extends Answer {
    Outcome(Wire wire, JsonNode raw) {
        super(wire, raw);
    }

    /** Such as "cancelled", "retrying" or "done". Null if there is none. */
    public String outcome() {
        return text("outcome");
    }

    /** The state of the message. Null if there is none. */
    public String state() {
        return text("state");
    }

    /** Whether the worker should stop. */
    public boolean cancelRequested() {
        return isTrue("cancel_requested");
    }
}
