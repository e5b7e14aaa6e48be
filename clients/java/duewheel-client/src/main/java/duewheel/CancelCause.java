package duewheel;

/** Why a handler should stop. */
public enum CancelCause {
    /** Another delivery may have begun, and what the handler returns changes nothing. */
    LEASE_LOST,
    /** A cancel of the running work was requested. */
    CANCEL_REQUESTED,
    /** The time of the worker's stop is over. A handler that fails now has its message released. */
    STOPPING
}
