// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;
import java.util.Map;

/** Settings of a watchdog besides the data of its message. */
public final class WatchdogSettings extends Options<WatchdogSettings> {
    public WatchdogSettings() {
        super(java.util.Map.of());
    }

    private WatchdogSettings(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    WatchdogSettings copy(java.util.Map<String, Object> members) {
        return new WatchdogSettings(members);
    }

    public WatchdogSettings queue(String value) {
        return with("queue", value);
    }

    /** It fires this long after its last feed: 30s, 25h; required for a new watchdog. */
    public WatchdogSettings timeout(Duration value) {
        return with("timeout", value);
    }

    /** It fires this long after its first feed at the latest. */
    public WatchdogSettings max(Duration value) {
        return with("max", value);
    }

    /** It fires again at this interval until it is fed. */
    public WatchdogSettings repeatEvery(Duration value) {
        return with("repeat_every", value);
    }

    /** Feed a watchdog that exists already. */
    public WatchdogSettings feed(boolean value) {
        return with("feed", value);
    }

    public WatchdogSettings headers(Map<String, String> value) {
        return with("headers", value);
    }

    public WatchdogSettings kafka(Object value) {
        return with("kafka", value);
    }

    public WatchdogSettings contentType(String value) {
        return with("content_type", value);
    }

    /** Due messages with smaller values are delivered first. */
    public WatchdogSettings priority(long value) {
        return with("priority", value);
    }

    /** Messages with the same order key are delivered one after the other. */
    public WatchdogSettings orderKey(String value) {
        return with("order_key", value);
    }

    /** Groups of a queue are served in turns, within the limits that each has. */
    public WatchdogSettings group(String value) {
        return with("group", value);
    }

    /** A message expires if it has not been leased within this time. */
    public WatchdogSettings expiresIn(Duration value) {
        return with("expires_in", value);
    }

    public WatchdogSettings retry(RetryRule value) {
        return with("retry", value);
    }
}
