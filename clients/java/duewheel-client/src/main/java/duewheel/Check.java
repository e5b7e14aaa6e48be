// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

/** What a check message asks about. */
public final class Check extends Answer {
    Check(Wire wire, com.fasterxml.jackson.databind.JsonNode raw) {
        super(wire, raw);
    }

    public String message() {
        return text("message");
    }

    public long number() {
        return number("number");
    }

    public long times() {
        return number("times");
    }

    public String otherwise() {
        return text("otherwise");
    }
}
