// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** Settings of a schedule besides the data of its messages. */
public final class ScheduleSettings extends Options<ScheduleSettings> {
    public ScheduleSettings() {
        super(java.util.Map.of());
    }

    private ScheduleSettings(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    ScheduleSettings copy(java.util.Map<String, Object> members) {
        return new ScheduleSettings(members);
    }

    public ScheduleSettings queue(String value) {
        return with("queue", value);
    }

    /** A cron expression of 5 fields, of 6 fields that begin with seconds, or in Quartz syntax; or a macro such as @daily. */
    public ScheduleSettings cron(String value) {
        return with("cron", value);
    }

    /** A fixed interval: 10s, 1h. */
    public ScheduleSettings every(Duration value) {
        return with("every", value);
    }

    /** An ISO 8601 repeating interval, such as R5/2027-01-01T09:00:00/P1M. */
    public ScheduleSettings iso(String value) {
        return with("iso", value);
    }

    /** One time: an instant, or a local time in its zone: 2027-01-01T06:00. */
    public ScheduleSettings at(String value) {
        return with("at", value);
    }

    /** Its time zone, of the IANA database, such as Europe/Oslo. */
    public ScheduleSettings zone(String value) {
        return with("zone", value);
    }

    /** Only for cron: a local time that a clock change skips fires at the end of the gap (shift, the default), or not at all (skip). */
    public ScheduleSettings dst(String value) {
        return with("dst", value);
    }

    /** Only for cron: a local time that a clock change repeats fires at its first occurrence (first, the default), or at both. */
    public ScheduleSettings dstRepeat(String value) {
        return with("dst_repeat", value);
    }

    /** Days without a run, such as 'SAT SUN 12-25 2026-12-28..2026-12-31'. */
    public ScheduleSettings closed(String value) {
        return with("closed", value);
    }

    /** No run before this time. */
    public ScheduleSettings start(Instant value) {
        return with("start", value);
    }

    /** No run after this time. */
    public ScheduleSettings end(Instant value) {
        return with("end", value);
    }

    /** Total number of nominal times. */
    public ScheduleSettings times(long value) {
        return with("times", value);
    }

    /** Delay each run by a random time up to this. */
    public ScheduleSettings jitter(Duration value) {
        return with("jitter", value);
    }

    /** How many runs are created for missed times: one for all of them (once, the default), one for each (all), or none (skip). */
    public ScheduleSettings misfire(String value) {
        return with("misfire", value);
    }

    /** Maximum age of a missed time that is made up for. */
    public ScheduleSettings misfireWindow(Duration value) {
        return with("misfire_window", value);
    }

    /** What happens to a run while the previous one is unfinished: allow (default), skip, or queue_one. */
    public ScheduleSettings overlap(String value) {
        return with("overlap", value);
    }

    /** Pause the schedule: it creates no runs until it is resumed. */
    public ScheduleSettings paused(boolean value) {
        return with("paused", value);
    }

    public ScheduleSettings headers(Map<String, String> value) {
        return with("headers", value);
    }

    public ScheduleSettings kafka(Object value) {
        return with("kafka", value);
    }

    public ScheduleSettings contentType(String value) {
        return with("content_type", value);
    }

    /** Due messages with smaller values are delivered first. */
    public ScheduleSettings priority(long value) {
        return with("priority", value);
    }

    /** Messages with the same order key are delivered one after the other. */
    public ScheduleSettings orderKey(String value) {
        return with("order_key", value);
    }

    /** Groups of a queue are served in turns, within the limits that each has. */
    public ScheduleSettings group(String value) {
        return with("group", value);
    }

    /** A message expires if it has not been leased within this time. */
    public ScheduleSettings expiresIn(Duration value) {
        return with("expires_in", value);
    }

    public ScheduleSettings retry(RetryRule value) {
        return with("retry", value);
    }
}
