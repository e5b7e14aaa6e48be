package duewheel;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** A queue whose messages have one type: String for text, byte[] for bytes, anything else for JSON. */
public final class MessageQueue<T> {
    private final DuewheelClient client;
    private final String name;
    private final java.lang.reflect.Type type;
    private final String kind;

    MessageQueue(DuewheelClient client, String name, java.lang.reflect.Type type, String kind) {
        this.client = client;
        this.name = name;
        this.type = type;
        this.kind = kind;
    }

    /** The same queue for messages of one of several types: a put has the header "kind", and a handler gets only messages that have it. */
    public MessageQueue<T> kind(String kind) {
        return new MessageQueue<>(client, name, type, kind);
    }

    public Receipt put(T data) {
        return put(data, new Put());
    }

    /** See {@link DuewheelClient#put}. */
    public Receipt put(T data, Put put) {
        return client.put(name, data, withKind(put));
    }

    /** The same by a thread of the client. */
    public CompletableFuture<Receipt> putAsync(T data, Put put) {
        return client.async(() -> put(data, put));
    }

    public List<Result<Receipt>> putAll(List<? extends T> all) {
        return putAll(all, new Put());
    }

    /** Puts up to 1,000 messages with one request. */
    public List<Result<Receipt>> putAll(List<? extends T> all, Put put) {
        Put each = withKind(put);
        return client.putMany(name, all.stream().map(data -> new Outgoing(data, each)).toList());
    }

    /** See {@link DuewheelClient#prepare}. */
    public Receipt prepare(T data, CheckBack check, Put put) {
        return client.prepare(name, data, check, withKind(put));
    }

    public Receipt prepare(T data, CheckBack check) {
        return prepare(data, check, new Put());
    }

    /**
     * Puts a message that is delivered only if the work has success: prepare, work, then commit, or rollback if the work throws. If this program
     * dies in between, or the commit cannot be said, a handler of checks decides.
     */
    public <R> R transaction(T data, CheckBack check, Callable<R> work) throws Exception {
        Receipt prepared = prepare(data, check);
        R result;
        try {
            result = work.call();
        } catch (Throwable failure) {
            try {
                client.rollback(prepared.id());
            } catch (DuewheelException error) {
                failure.addSuppressed(error); // the checks find it
            }
            throw failure;
        }
        client.commit(prepared.id());
        return result;
    }

    /** Names the message that was put with a key. */
    public Which keyed(String key) {
        return Which.keyed(name, key);
    }

    public String name() {
        return name;
    }

    DuewheelClient client() {
        return client;
    }

    java.lang.reflect.Type type() {
        return type;
    }

    /** null: any. */
    String kind() {
        return kind;
    }

    private Put withKind(Put put) {
        return kind == null ? put : put.header("kind", kind);
    }
}
