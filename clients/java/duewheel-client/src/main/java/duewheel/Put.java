// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** Members of a put besides its data. */
public final class Put extends Options<Put> {
    public Put() {
        super(java.util.Map.of());
    }

    private Put(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    Put copy(java.util.Map<String, Object> members) {
        return new Put(members);
    }

    /** A put that is due now, to be refined. */
    public static Put now() {
        return new Put();
    }

    /** A put that is due after a time. */
    public static Put in(Duration delay) {
        return new Put().delay(delay);
    }

    /** A put that is due at an instant. */
    public static Put at(Instant due) {
        return new Put().due(due);
    }

    /** Adds a header. */
    public Put header(String name, String value) {
        return withEntry("headers", name, value);
    }

    public Put delay(Duration value) {
        return with("delay", value);
    }

    public Put due(Instant value) {
        return with("due", value);
    }

    /** Expires if it has not been leased within this time: 250ms, 10m, PT1H. */
    public Put expiresIn(Duration value) {
        return with("expires_in", value);
    }

    public Put expires(Instant value) {
        return with("expires", value);
    }

    /** Messages with the same order key are delivered one after the other. */
    public Put orderKey(String value) {
        return with("order_key", value);
    }

    /** Groups of a queue are served in turns, within the limits that each has. */
    public Put group(String value) {
        return with("group", value);
    }

    /** Due messages with smaller values are delivered first. */
    public Put priority(long value) {
        return with("priority", value);
    }

    public Put repeat(Repeat value) {
        return with("repeat", value);
    }

    public Put retry(RetryRule value) {
        return with("retry", value);
    }

    public Put transaction(Transaction value) {
        return with("transaction", value);
    }

    /** Hold the message at once: it is not delivered until `kick`. */
    public Put held(boolean value) {
        return with("held", value);
    }

    public Put headers(Map<String, String> value) {
        return with("headers", value);
    }

    public Put kafka(Object value) {
        return with("kafka", value);
    }

    public Put contentType(String value) {
        return with("content_type", value);
    }

    /** Idempotency key: repeating the same request with the same key puts one message. */
    public Put key(String value) {
        return with("key", value);
    }

    /** What happens if the queue has an unfinished message with the key: `once` reports a repeated put, and refuses another one; `keep` leaves the message as it is; `replace` puts this one in its place. */
    public Put onKey(String value) {
        return with("on_key", value);
    }

    /** With `replace`: it is due at the latest this long after the first of the puts that it joins. */
    public Put within(Duration value) {
        return with("within", value);
    }

    public Put imported(Object value) {
        return with("imported", value);
    }
}
