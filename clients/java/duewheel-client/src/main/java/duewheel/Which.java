package duewheel;

/** Names a message. */
public sealed interface Which {
    /** The message with an id. */
    record Id(String id) implements Which {}

    /** The message that was put into a queue with a key. */
    record Keyed(String queue, String key) implements Which {}

    /** The message with an id. */
    static Which id(String id) {
        return new Id(id);
    }

    /** The message that was put into a queue with a key. */
    static Which keyed(String queue, String key) {
        return new Keyed(queue, key);
    }
}
