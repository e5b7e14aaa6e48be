package duewheel;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A queue with its handlers in a worker. */
final class Route {
    /** Handles any message that it gets. */
    interface AnyHandler {
        Object handle(Held held) throws Exception;
    }

    private static final long GATHER_NS = TimeUnit.MILLISECONDS.toNanos(5); // how long to wait for more free handlers before the next lease call
    private static final int UNREPORTED_MAX = 1000; // messages whose handler has returned, while no outcome is accepted

    final String queue;
    final Handling handling;
    private final Map<String, AnyHandler> handlers = new HashMap<>(); // by kind; null: any other
    private int running; // handlers; these are guarded by this
    private int held; // messages that are leased and not yet reported
    private boolean hasSaid;

    Route(String queue, Handling handling) {
        this.queue = queue;
        this.handling = handling;
    }

    void add(String kind, AnyHandler handler) {
        if (handlers.putIfAbsent(kind, handler) != null) {
            throw new IllegalArgumentException("the queue " + queue + " has two handlers" + (kind == null ? "" : " for the kind " + kind));
        }
    }

    AnyHandler handlerOf(Lease lease) {
        String kind = lease.headers().get("kind");
        AnyHandler handler = handlers.containsKey(kind) ? handlers.get(kind) : handlers.get(null);
        if (handler == null) {
            throw new IllegalStateException("this worker has no handler for the kind `" + (kind == null ? "" : kind) + "` of queue " + queue);
        }
        return handler;
    }

    /** The number of free handlers, when there are some, or 0 when `ends` holds. */
    synchronized int awaitRoom(BooleanSupplier ends) throws InterruptedException {
        long gatherUntil = 0;
        while (!ends.getAsBoolean()) {
            int free = Math.min(handling.concurrency() - running, heldMax() - held);
            if (free > 0) {
                gatherUntil = gatherUntil == 0 ? System.nanoTime() + GATHER_NS : gatherUntil;
                long left = gatherUntil - System.nanoTime();
                if (2 * free >= handling.concurrency() || left <= 0) {
                    return free;
                }
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } else {
                wait();
            }
        }
        return 0;
    }

    private int heldMax() {
        return handling.concurrency() + UNREPORTED_MAX;
    }

    synchronized void began() {
        ++running;
        ++held;
    }

    synchronized void ended() {
        --running;
        notifyAll();
    }

    synchronized void reported() {
        if (held-- >= heldMax()) {
            notifyAll();
        }
    }

    synchronized int running() {
        return running;
    }

    /** A handler has said something. */
    synchronized void said() {
        hasSaid = true;
        notifyAll();
    }

    /** Makes those who wait look at what ends their wait. */
    synchronized void wake() {
        notifyAll();
    }

    /** Waits until this time, or until a handler has said something, which it takes; whether one has. Returns early when `ends` holds. */
    synchronized boolean awaitSaid(long untilNs, BooleanSupplier ends) throws InterruptedException {
        while (!hasSaid && !ends.getAsBoolean()) {
            long left = untilNs - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        boolean had = hasSaid;
        hasSaid = false;
        return had;
    }
}
