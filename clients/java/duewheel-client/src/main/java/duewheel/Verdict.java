package duewheel;

/** What became of the transaction of a prepared message. */
public enum Verdict {
    /** The message is delivered when it is due. */
    COMMITTED,
    /** The message is not delivered. */
    ROLLED_BACK,
    /** It is not known yet: ask again later. */
    UNKNOWN
}
