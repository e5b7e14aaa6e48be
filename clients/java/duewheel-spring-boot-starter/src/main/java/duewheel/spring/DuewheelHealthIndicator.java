package duewheel.spring;

import duewheel.DuewheelClient;
import java.time.Duration;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Whether the server answers, and what the worker of this program does. */
public final class DuewheelHealthIndicator extends AbstractHealthIndicator {
    private static final Duration WITHIN = Duration.ofSeconds(2);

    private final DuewheelClient client;
    private final DuewheelWorkers workers;

    DuewheelHealthIndicator(DuewheelClient client, DuewheelWorkers workers) {
        super("the server of Duewheel does not answer");
        this.client = client.within(WITHIN);
        this.workers = workers;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        builder.up().withDetail("serverTime", client.now().toString()).withDetail("works", workers.isRunning()).withDetail("busy", workers.busy());
    }
}
