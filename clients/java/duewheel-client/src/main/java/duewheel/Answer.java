package duewheel;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** An answer of the server. */
public abstract class Answer {
    final Wire wire;
    private final JsonNode raw;

    Answer(Wire wire, JsonNode raw) {
        this.wire = wire;
        this.raw = raw;
    }

    /** What the server sent, with members that are newer than this client. */
    public final JsonNode raw() {
        return raw;
    }

    final String text(String member) {
        JsonNode found = part(member);
        return found == null ? null : found.asText();
    }

    final long number(String member) {
        return raw.path(member).asLong();
    }

    final double fraction(String member) {
        return raw.path(member).asDouble();
    }

    final boolean isTrue(String member) {
        return raw.path(member).asBoolean();
    }

    final JsonNode part(String member) {
        JsonNode found = raw.get(member);
        return found == null || found.isNull() ? null : found;
    }

    final Instant instant(String member) {
        JsonNode found = part(member + "_ms");
        return found == null ? null : Instant.ofEpochMilli(found.asLong());
    }

    final Duration duration(String member) {
        JsonNode found = part(member + "_ms");
        return found == null ? null : Duration.ofMillis(found.asLong());
    }

    final Map<String, String> texts(String member) {
        var all = new LinkedHashMap<String, String>();
        raw.path(member).properties().forEach(each -> all.put(each.getKey(), each.getValue().asText()));
        return all;
    }

    final <E> List<E> list(String member, Function<JsonNode, E> made) {
        var all = new ArrayList<E>();
        raw.path(member).forEach(each -> all.add(made.apply(each)));
        return all;
    }

    final <E> E object(String member, Function<JsonNode, E> made) {
        JsonNode found = part(member);
        return found == null ? null : made.apply(found);
    }

    @Override
    public final boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && ((Answer) other).raw.equals(raw);
    }

    @Override
    public final int hashCode() {
        return raw.hashCode();
    }

    @Override
    public final String toString() {
        return getClass().getSimpleName() + raw;
    }
}
