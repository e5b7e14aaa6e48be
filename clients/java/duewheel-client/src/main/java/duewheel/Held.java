package duewheel;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.locks.ReentrantLock;

/** A leased message in this worker, until its outcome is reported. */
final class Held {
    final Lease lease;
    final Route route;
    final ReentrantLock saying = new ReentrantLock(); // held while an extension takes along what it has said
    private JsonNode progress; // what the next extension takes along; these are guarded by this
    private JsonNode checkpoint;
    private CancelCause cause;
    private Thread thread; // while the handler runs
    private boolean isDisowned; // whether its lease is no longer the handler's to end

    Held(Lease lease, Route route) {
        this.lease = lease;
        this.route = route;
    }

    void say(JsonNode newProgress, JsonNode newCheckpoint) {
        synchronized (this) {
            progress = newProgress == null ? progress : newProgress;
            checkpoint = newCheckpoint == null ? checkpoint : newCheckpoint;
        }
        route.said();
    }

    /** What it has said since the last time, as members of an extension. */
    synchronized ObjectNode takeSaid() {
        ObjectNode said = Wire.object();
        if (progress != null) {
            said.set("progress", progress);
        }
        if (checkpoint != null) {
            said.set("checkpoint", checkpoint);
        }
        progress = checkpoint = null;
        return said;
    }

    /** For what an extension that failed had taken along, unless there is newer. */
    synchronized void sayAgain(ObjectNode said) {
        progress = progress == null ? said.get("progress") : progress;
        checkpoint = checkpoint == null ? said.get("checkpoint") : checkpoint;
    }

    /** Takes the right to end the lease. It is false if another thread has taken it. */
    synchronized boolean disown() {
        boolean was = isDisowned;
        isDisowned = true;
        return !was;
    }

    synchronized void cancel(CancelCause why) {
        if (cause == null) {
            cause = why;
            if (thread != null) {
                thread.interrupt();
            }
        }
    }

    synchronized CancelCause cause() {
        return cause;
    }

    /** The current thread runs the handler from now on; a cancel interrupts it. */
    synchronized void enter() {
        thread = Thread.currentThread();
        if (cause != null) {
            thread.interrupt();
        }
    }

    /** It does so no longer, and is not interrupted. */
    synchronized void leave() {
        thread = null;
        Thread.interrupted();
    }
}
