// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** A message that this consumer has until its lease ends. */
public final class Lease extends Content {
    Lease(Wire wire, com.fasterxml.jackson.databind.JsonNode raw) {
        super(wire, raw);
    }

    public String id() {
        return text("id");
    }

    public String queue() {
        return text("queue");
    }

    public String token() {
        return text("lease");
    }

    public Instant leaseUntil() {
        return instant("lease_until_ms");
    }

    /** Null if there is none. */
    public String group() {
        return text("group");
    }

    /** Null if there is none. */
    public String key() {
        return text("key");
    }

    /** Null if there is none. */
    public JsonNode checkpoint() {
        return part("checkpoint");
    }

    /** Null if there is none. */
    public String contentType() {
        return text("content_type");
    }

    public Map<String, String> headers() {
        return texts("headers");
    }

    /** Null if there is none. */
    public JsonNode kafka() {
        return part("kafka");
    }

    /** Null if there is none. */
    public String traceparent() {
        return text("traceparent");
    }

    /** Null if there is none. */
    public Check check() {
        return object("check", each -> new Check(wire, each));
    }

    /** Null if there is none. */
    public String parent() {
        return text("parent");
    }

    /** Null if there is none. */
    public String schedule() {
        return text("schedule");
    }

    /** Null if there is none. */
    public String watchdog() {
        return text("watchdog");
    }

    /** Null if there is none. */
    public Instant lastFed() {
        return instant("last_fed_ms");
    }

    public long occurrence() {
        return number("occurrence");
    }

    public Instant due() {
        return instant("due_ms");
    }

    public Instant delivered() {
        return instant("delivered_ms");
    }

    public Duration lateness() {
        return duration("lateness_ms");
    }

    public Duration waited() {
        return duration("wait_ms");
    }

    public long attempt() {
        return number("attempt");
    }

    public boolean maybeDelivered() {
        return isTrue("maybe_delivered");
    }
}
