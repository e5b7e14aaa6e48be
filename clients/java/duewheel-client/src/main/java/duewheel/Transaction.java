// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

/** Makes a message prepared: it is delivered after a commit. */
public final class Transaction extends Options<Transaction> {
    public Transaction() {
        super(java.util.Map.of());
    }

    private Transaction(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    Transaction copy(java.util.Map<String, Object> members) {
        return new Transaction(members);
    }

    public Transaction checkBack(CheckBack value) {
        return with("check_back", value);
    }

    /** Outcome without a response: rollback (default) or commit. */
    public Transaction otherwise(String value) {
        return with("otherwise", value);
    }
}
