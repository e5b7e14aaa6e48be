package duewheel;

import com.fasterxml.jackson.core.type.TypeReference;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** A message that a handler works on. It may be used by several threads. */
public final class Job<T> {
    private final Held held;
    private final T data;

    Job(Held held, T data) {
        this.held = held;
        this.data = data;
    }

    public T data() {
        return data;
    }

    public Lease lease() {
        return held.lease;
    }

    public String id() {
        return held.lease.id();
    }

    /** The number of this attempt, 1 for the first one. */
    public long attempt() {
        return held.lease.attempt();
    }

    /** Null if there is none. */
    public String group() {
        return held.lease.group();
    }

    public Instant due() {
        return held.lease.due();
    }

    /** How late the server delivered it. */
    public Duration lateness() {
        return held.lease.lateness();
    }

    public Map<String, String> headers() {
        return held.lease.headers();
    }

    /** What an earlier attempt gave to {@link #progress}; null if none did. */
    public <C> C checkpoint(Class<C> type) {
        return checkpoint((java.lang.reflect.Type) type);
    }

    public <C> C checkpoint(TypeReference<C> type) {
        return checkpoint(type.getType());
    }

    private <C> C checkpoint(java.lang.reflect.Type type) {
        var found = held.lease.checkpoint();
        return found == null ? null : held.lease.wire.data(Wire.object().set("json", found), held.lease.wire.typeOf(type));
    }

    /**
     * Says how far the work is: 0 to 1, or any JSON of up to 1 KiB. It is sent soon, by another thread, and only the newest one; before a
     * failure, at the latest.
     */
    public void progress(Object progress) {
        progress(progress, null);
    }

    /** The same with what the next attempt gets if this one does not end: any JSON. A null says nothing new. */
    public void progress(Object progress, Object checkpoint) {
        held.say(progress == null ? null : held.lease.wire.json(progress), checkpoint == null ? null : held.lease.wire.json(checkpoint));
    }

    /** Whether the handler should stop. Its thread was interrupted, too. */
    public boolean isCancelled() {
        return cancelCause() != null;
    }

    /** null if it should not stop. */
    public CancelCause cancelCause() {
        return held.cause();
    }
}
