package duewheel;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;

/** An answer with the data of a message. */
public abstract class Content extends Answer {
    Content(Wire wire, JsonNode raw) {
        super(wire, raw);
    }

    /**
     * The data. A byte[] is made of any data, a String of text, an Object is what the data is (text, bytes, or a JsonNode), and any other type
     * is made of JSON.
     *
     * @throws DuewheelException.Invalid if the data does not fit, or the server has it no longer, as after the end of the message
     */
    public final <T> T data(Class<T> type) {
        return wire.data(raw(), wire.typeOf(type));
    }

    /** The data as a type with type arguments: {@code data(new TypeReference<List<Email>>() {})}. */
    public final <T> T data(TypeReference<T> type) {
        return wire.data(raw(), wire.typeOf(type.getType()));
    }
}
