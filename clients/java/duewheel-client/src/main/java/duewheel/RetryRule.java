// Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel;

import java.time.Duration;

/** How failed attempts of a message are repeated. */
public final class RetryRule extends Options<RetryRule> {
    public RetryRule() {
        super(java.util.Map.of());
    }

    private RetryRule(java.util.Map<String, Object> members) {
        super(members);
    }

    @Override
    RetryRule copy(java.util.Map<String, Object> members) {
        return new RetryRule(members);
    }

    /** Deliveries before it becomes a dead letter; 1: no retries. */
    public RetryRule attempts(long value) {
        return with("attempts", value);
    }

    /** Backoff after the first failure. */
    public RetryRule first(Duration value) {
        return with("first", value);
    }

    /** Factor by which the backoff grows with each failure: 2 doubles it. */
    public RetryRule factor(double value) {
        return with("factor", value);
    }

    /** Maximum backoff. */
    public RetryRule max(Duration value) {
        return with("max", value);
    }

    /** Random variation of the backoff: 0.2 makes it up to 20 % shorter or longer. */
    public RetryRule jitter(double value) {
        return with("jitter", value);
    }
}
