package duewheel;

import java.util.List;

/**
 * What runs around each put and each handler of a client: logs, traces, database sessions, defaults of options. The first one of a client is
 * the outermost. The methods are called by several threads.
 */
public interface Middleware {
    /** The next one, or the put itself. */
    @FunctionalInterface
    interface PutNext {
        List<Result<Receipt>> put(String queue, List<Outgoing> messages);
    }

    /** The next one, or the handler itself. */
    @FunctionalInterface
    interface HandleNext {
        Object handle() throws Exception;
    }

    /** Returns what {@code next} returns, one result for each message. It may give {@code next} other messages, or throw instead. */
    default List<Result<Receipt>> put(String queue, List<Outgoing> messages, PutNext next) {
        return next.put(queue, messages);
    }

    /** Returns what {@code next} returns: the result of the handler. What the handler throws passes through: it throws the same, or another one. */
    default Object handle(Job<?> job, HandleNext next) throws Exception {
        return next.handle();
    }

    /** An attempt has failed, or its outcome could not be reported. */
    default void failed(Lease lease, Throwable failure) {}

    /** The server says that a failed message is a dead letter now. */
    default void dead(Lease lease, String reason) {}
}
