// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** A message as it is shown. */
public final class Message extends Content {
    Message(Wire wire, com.fasterxml.jackson.databind.JsonNode raw) {
        super(wire, raw);
    }

    /** Whether the message is done, cancelled, expired or dead. */
    public boolean hasEnded() {
        return switch (state()) {
            case "done", "cancelled", "expired", "dead" -> true;
            default -> false;
        };
    }

    public String id() {
        return text("id");
    }

    /** Null if there is none. */
    public String namespace() {
        return text("namespace");
    }

    public String queue() {
        return text("queue");
    }

    public String state() {
        return text("state");
    }

    public Instant due() {
        return instant("due_ms");
    }

    /** Null if there is none. */
    public Instant answerBy() {
        return instant("answer_by_ms");
    }

    public long checks() {
        return number("checks");
    }

    /** Null if there is none. */
    public Instant nominalDue() {
        return instant("nominal_due_ms");
    }

    /** Null if there is none. */
    public Instant expires() {
        return instant("expires_ms");
    }

    /** Null if there is none. */
    public String orderKey() {
        return text("order_key");
    }

    /** Null if there is none. */
    public String group() {
        return text("group");
    }

    /** Null if there is none. */
    public String key() {
        return text("key");
    }

    public long priority() {
        return number("priority");
    }

    public long attempts() {
        return number("attempts");
    }

    public boolean maybeDelivered() {
        return isTrue("maybe_delivered");
    }

    /** For a recurring message: the number of the occurrence that is due at `due`. */
    public long nextOccurrence() {
        return number("next_occurrence");
    }

    /** Null if there is none. */
    public String blockedBy() {
        return text("blocked_by");
    }

    /** Absent members are inherited from the queue, or else from the server's configuration. Null if there is none. */
    public JsonNode retry() {
        return part("retry");
    }

    /** Makes a recurring message. Null if there is none. */
    public JsonNode repeat() {
        return part("repeat");
    }

    /** For a recurring message: how long after its due time each occurrence expires, in milliseconds. Null if there is none. */
    public Duration expiresIn() {
        return duration("expires_in_ms");
    }

    /** The message is prepared, and is delivered only after a commit. Null if there is none. */
    public JsonNode transaction() {
        return part("transaction");
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

    /** For an occurrence: its number in the recurring message `parent`. */
    public long occurrence() {
        return number("occurrence");
    }

    /** Null if there is none. */
    public Instant put() {
        return instant("put_ms");
    }

    /** Null if there is none. */
    public Instant leaseUntil() {
        return instant("lease_until_ms");
    }

    public boolean cancelRequested() {
        return isTrue("cancel_requested");
    }

    /** Null if there is none. */
    public Instant delivered() {
        return instant("delivered_ms");
    }

    /** Null if there is none. */
    public String worker() {
        return text("worker");
    }

    /** Null if there is none. */
    public JsonNode progress() {
        return part("progress");
    }

    /** Null if there is none. */
    public JsonNode checkpoint() {
        return part("checkpoint");
    }

    public List<Attempt> timeline() {
        return list("timeline", each -> new Attempt(wire, each));
    }

    /** Null if there is none. */
    public Instant ended() {
        return instant("ended_ms");
    }

    /** Why it is a dead letter. Null if there is none. */
    public String reason() {
        return text("reason");
    }

    /** The result that its acknowledgement gave, as it was sent. Null if there is none. */
    public JsonNode result() {
        return part("result");
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
}
