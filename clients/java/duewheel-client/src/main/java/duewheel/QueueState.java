// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import com.fasterxml.jackson.databind.JsonNode;

/** The state of a queue. */
public final class QueueState extends Answer {
    QueueState(Wire wire, com.fasterxml.jackson.databind.JsonNode raw) {
        super(wire, raw);
    }

    /** Null if there is none. */
    public String namespace() {
        return text("namespace");
    }

    public String queue() {
        return text("queue");
    }

    public boolean paused() {
        return isTrue("paused");
    }

    /** Present if the target of its webhook answered 410 Gone. Null if there is none. */
    public String pausedBy() {
        return text("paused_by");
    }

    public long pending() {
        return number("pending");
    }

    public long scheduled() {
        return number("scheduled");
    }

    public long prepared() {
        return number("prepared");
    }

    public long ready() {
        return number("ready");
    }

    public long leased() {
        return number("leased");
    }

    public long held() {
        return number("held");
    }

    public long dead() {
        return number("dead");
    }

    public long waiters() {
        return number("waiters");
    }

    public boolean backlogOnDisk() {
        return isTrue("backlog_on_disk");
    }

    /** Present while one is in progress. Null if there is none. */
    public JsonNode purge() {
        return part("purge");
    }

    /** Present while one is in progress. Null if there is none. */
    public JsonNode discard() {
        return part("discard");
    }

    /** State of the webhook target, if the queue has one. Null if there is none. */
    public JsonNode webhook() {
        return part("webhook");
    }

    /** State of the Kafka target, if the queue has one. Null if there is none. */
    public JsonNode kafka() {
        return part("kafka");
    }

    public JsonNode settings() {
        return part("settings");
    }

    /** Only in the state of one queue: what applies to it, from its settings and, where they lack a member, from those of the server. Null if there is none. */
    public JsonNode inForce() {
        return part("in_force");
    }
}
