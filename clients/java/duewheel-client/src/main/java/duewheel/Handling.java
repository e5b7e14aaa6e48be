package duewheel;

import java.time.Duration;

/**
 * How a worker handles the messages of a queue.
 *
 * @param concurrency how many at once
 * @param lease the length of the leases: how long a message waits when its worker was killed. It is extended each third of it.
 */
public record Handling(int concurrency, Duration lease) {
    private static final Duration LEASE = Duration.ofSeconds(30);

    public Handling {
        if (concurrency < 1 || lease.toMillis() < 1) {
            throw new IllegalArgumentException("a handler needs a concurrency of at least 1, and leases of at least 1 ms");
        }
    }

    /** One message at once, and leases of 30 s. */
    public static Handling usual() {
        return new Handling(1, LEASE);
    }

    public static Handling concurrency(int count) {
        return new Handling(count, LEASE);
    }

    public Handling lease(Duration length) {
        return new Handling(concurrency, length);
    }
}
