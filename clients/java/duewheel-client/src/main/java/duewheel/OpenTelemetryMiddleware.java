package duewheel;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.LongUpDownCounter;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Middleware for OpenTelemetry: a span for each put, a span for each call of a handler that is linked to it, also in another program and days later,
 * and metrics of workers. It needs io.opentelemetry:opentelemetry-api, which nothing else here does. A program that puts several messages with one
 * request has one trace for them, that of the first.
 */
public final class OpenTelemetryMiddleware implements Middleware {
    private static final String NAME = "duewheel";
    private static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("messaging.system");
    private static final AttributeKey<String> OPERATION = AttributeKey.stringKey("messaging.operation.type");
    private static final AttributeKey<String> QUEUE = AttributeKey.stringKey("messaging.destination.name");
    private static final AttributeKey<String> MESSAGE = AttributeKey.stringKey("messaging.message.id");
    private static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("duewheel.attempt");
    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("duewheel.outcome");
    private static final TextMapGetter<Map<String, String>> GETTER = new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Map<String, String> carrier) {
            return carrier.keySet();
        }

        @Override
        public String get(Map<String, String> carrier, String key) {
            return carrier.get(key);
        }
    };

    private final Tracer tracer;
    private final LongUpDownCounter busy;
    private final DoubleHistogram lateness;
    private final DoubleHistogram duration;

    public OpenTelemetryMiddleware(OpenTelemetry telemetry) {
        tracer = telemetry.getTracer(NAME);
        var meter = telemetry.getMeter(NAME);
        busy = meter.upDownCounterBuilder("duewheel.worker.busy").setUnit("{message}").setDescription("Messages that handlers work on").build();
        lateness = meter.histogramBuilder("duewheel.worker.lateness").setUnit("s").setDescription("How late the server delivered messages").build();
        duration = meter.histogramBuilder("messaging.process.duration").setUnit("s").setDescription("How long handlers worked").build();
    }

    private static Attributes attributes(String operation, String queue) {
        return Attributes.of(SYSTEM, NAME, OPERATION, operation, QUEUE, queue);
    }

    @Override
    @SuppressWarnings("try") // the scope ends with the block
    public List<Result<Receipt>> put(String queue, List<Outgoing> messages, PutNext next) {
        Span span = tracer.spanBuilder("send " + queue).setSpanKind(SpanKind.PRODUCER).setAllAttributes(attributes("send", queue)).startSpan();
        Context within = Context.current().with(span);
        var carrier = new HashMap<String, String>();
        W3CTraceContextPropagator.getInstance().inject(within, carrier, Map::put);
        var traced = new ArrayList<Outgoing>();
        for (Outgoing each : messages) {
            traced.add(each.traceparent() == null ? new Outgoing(each.data(), each.put(), carrier.get("traceparent")) : each);
        }
        try (var scope = within.makeCurrent()) {
            List<Result<Receipt>> results = next.put(queue, traced);
            if (results.size() == 1 && results.get(0).isOk()) {
                span.setAttribute(MESSAGE, results.get(0).value().id());
            }
            return results;
        } catch (RuntimeException error) {
            span.recordException(error).setStatus(StatusCode.ERROR, String.valueOf(error.getMessage()));
            throw error;
        } finally {
            span.end();
        }
    }

    @Override
    @SuppressWarnings("try")
    public Object handle(Job<?> job, HandleNext next) throws Exception {
        String queue = job.lease().queue();
        var span = tracer.spanBuilder("process " + queue).setSpanKind(SpanKind.CONSUMER).setNoParent().setAllAttributes(attributes("process", queue))
            .setAttribute(MESSAGE, job.id()).setAttribute(ATTEMPT, job.attempt());
        if (job.lease().traceparent() != null) {
            Context put = W3CTraceContextPropagator.getInstance().extract(Context.root(), Map.of("traceparent", job.lease().traceparent()), GETTER);
            SpanContext link = Span.fromContext(put).getSpanContext();
            span.addLink(link);
        }
        Span process = span.startSpan();
        Attributes measured = Attributes.of(QUEUE, queue);
        busy.add(1, measured);
        lateness.record(job.lateness() == null ? 0 : job.lateness().toNanos() / 1e9, measured);
        long beganNs = System.nanoTime();
        String outcome = "done";
        try (var scope = Context.root().with(process).makeCurrent()) {
            return next.handle();
        } catch (Throwable thrown) {
            outcome = HandlerOutcome.nameOf(thrown);
            if (outcome.equals("failed") || outcome.equals("dead")) {
                process.recordException(thrown).setStatus(StatusCode.ERROR, String.valueOf(thrown.getMessage()));
            }
            throw thrown;
        } finally {
            process.end();
            busy.add(-1, measured);
            duration.record((System.nanoTime() - beganNs) / 1e9, measured.toBuilder().put(OUTCOME, outcome).build());
        }
    }
}
