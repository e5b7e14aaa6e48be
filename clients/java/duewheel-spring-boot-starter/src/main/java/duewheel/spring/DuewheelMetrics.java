package duewheel.spring;

import duewheel.HandlerOutcome;
import duewheel.Job;
import duewheel.Middleware;
import duewheel.Outgoing;
import duewheel.Receipt;
import duewheel.Result;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Middleware that measures puts and listeners with Micrometer. */
public final class DuewheelMetrics implements Middleware {
    private final MeterRegistry registry;
    private final Map<String, AtomicInteger> busy = new ConcurrentHashMap<>(); // by queue

    DuewheelMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public List<Result<Receipt>> put(String queue, List<Outgoing> messages, PutNext next) {
        var results = next.put(queue, messages);
        results.forEach(each -> registry.counter("duewheel.puts", "queue", queue, "outcome", each.isOk() ? "put" : each.failure().code()).increment());
        return results;
    }

    @Override
    public Object handle(Job<?> job, HandleNext next) throws Exception {
        Tags queue = Tags.of("queue", job.lease().queue());
        AtomicInteger running = busy.computeIfAbsent(job.lease().queue(), name -> registry.gauge("duewheel.worker.busy", queue, new AtomicInteger()));
        Duration late = job.lateness();
        registry.timer("duewheel.worker.lateness", queue).record(late == null ? Duration.ZERO : late);
        Timer.Sample sample = Timer.start(registry);
        String outcome = "done";
        running.incrementAndGet();
        try {
            return next.handle();
        } catch (Throwable thrown) {
            outcome = HandlerOutcome.nameOf(thrown);
            throw thrown;
        } finally {
            running.decrementAndGet();
            sample.stop(registry.timer("duewheel.worker.duration", queue.and("outcome", outcome)));
        }
    }
}
