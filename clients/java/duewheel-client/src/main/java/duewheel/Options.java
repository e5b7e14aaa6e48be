package duewheel;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Members of a call. An object is never changed: each method returns a copy that has one member more, or another value of it. */
public abstract class Options<T extends Options<T>> {
    /** Stands for the member that the data of a message becomes. */
    static final String DATA = "data";

    private final Map<String, Object> members;

    Options(Map<String, Object> members) {
        this.members = members;
    }

    abstract T copy(Map<String, Object> members);

    /**
     * Any member by its name in the HTTP API, such as one that is newer than this client. Durations, instants and other options become JSON
     * as the server expects it; any other value becomes JSON by its own rules. A null is a null of JSON.
     */
    public final T with(String name, Object value) {
        var changed = new LinkedHashMap<>(members);
        changed.put(name, value);
        return copy(Collections.unmodifiableMap(changed));
    }

    final T without(String name) {
        var changed = new LinkedHashMap<>(members);
        changed.remove(name);
        return copy(Collections.unmodifiableMap(changed));
    }

    /** With an entry more in a member that is an object of text. */
    final T withEntry(String member, String name, String value) {
        var entries = new LinkedHashMap<String, Object>();
        if (members.get(member) instanceof Map<?, ?> before) {
            before.forEach((key, each) -> entries.put(String.valueOf(key), each));
        }
        entries.put(name, value);
        return with(member, Collections.unmodifiableMap(entries));
    }

    final Map<String, Object> members() {
        return members;
    }

    @Override
    public final boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && ((Options<?>) other).members.equals(members);
    }

    @Override
    public final int hashCode() {
        return members.hashCode();
    }

    @Override
    public final String toString() {
        return getClass().getSimpleName() + members;
    }
}
