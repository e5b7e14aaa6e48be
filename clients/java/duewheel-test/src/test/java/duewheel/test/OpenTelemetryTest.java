package duewheel.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import duewheel.Dead;
import duewheel.DuewheelClient;
import duewheel.MessageQueue;
import duewheel.OpenTelemetryMiddleware;
import duewheel.Worker;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(DuewheelExtension.class)
class OpenTelemetryTest {
    @Test
    void aHandlerIsLinkedToThePutOfItsMessageAndMeasured(DuewheelServer server) throws Exception {
        var spans = InMemorySpanExporter.create();
        var metrics = InMemoryMetricReader.create();
        OpenTelemetry telemetry = OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build())
            .setMeterProvider(SdkMeterProvider.builder().registerMetricReader(metrics).build()).build();
        DuewheelClient client = DuewheelClient.builder(server.url()).middleware(new OpenTelemetryMiddleware(telemetry)).build();
        MessageQueue<String> mail = client.queue("mail", String.class);
        var traces = new LinkedBlockingQueue<String>();
        server.run(Worker.builder(client).handle(mail, job -> {
            traces.add(Span.current().getSpanContext().getTraceId());
            throw Dead.because("no such address");
        }).build());
        String id = mail.put("hello").id();
        String trace = traces.poll(30, TimeUnit.SECONDS);
        server.runUntilIdle();

        SpanData put = spans.getFinishedSpanItems().stream().filter(each -> each.getKind() == SpanKind.PRODUCER).findFirst().orElseThrow();
        SpanData work = spans.getFinishedSpanItems().stream().filter(each -> each.getKind() == SpanKind.CONSUMER).findFirst().orElseThrow();
        assertEquals("send mail", put.getName());
        assertEquals("process mail", work.getName());
        assertEquals(put.getTraceId(), work.getLinks().get(0).getSpanContext().getTraceId());
        assertEquals(trace, work.getTraceId());
        assertTrue(work.getAttributes().asMap().containsValue(id));
        assertEquals(StatusData.error().getStatusCode(), work.getStatus().getStatusCode());
        assertEquals(Set.of("duewheel.worker.busy", "duewheel.worker.lateness", "messaging.process.duration"),
            metrics.collectAllMetrics().stream().map(MetricData::getName).collect(Collectors.toSet()));
    }
}
