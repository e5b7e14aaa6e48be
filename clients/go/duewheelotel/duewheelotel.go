// Package duewheelotel is OpenTelemetry for clients and workers: a span for each put, a span for each handler that is linked to it, also in
// another process and days later, and metrics of workers. It is a module of its own, so that package duewheel depends on nothing.
//
//	telemetry, err := duewheelotel.New(otel.GetTracerProvider(), otel.GetMeterProvider())
//	client, err := duewheel.New(url, duewheel.WithPutMiddleware(telemetry.AroundPut))
//	worker.Around(telemetry.Around)
package duewheelotel

import (
	"context"
	"time"

	"duewheel.test/duewheel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const name = "duewheel"

var propagator propagation.TraceContext

// Telemetry has the middleware of clients and workers.
type Telemetry struct {
	tracer             trace.Tracer
	busy               metric.Int64UpDownCounter
	lateness, duration metric.Float64Histogram
}

// New makes the instruments. Its error is one of the provider of meters.
func New(tracers trace.TracerProvider, meters metric.MeterProvider) (*Telemetry, error) {
	t, meter := &Telemetry{tracer: tracers.Tracer(name)}, meters.Meter(name)
	var err error
	if t.busy, err = meter.Int64UpDownCounter("duewheel.worker.busy", metric.WithUnit("{message}"), metric.WithDescription("Messages that handlers work on")); err != nil {
		return nil, err
	}
	if t.lateness, err = meter.Float64Histogram("duewheel.worker.lateness", metric.WithUnit("s"), metric.WithDescription("How late the server delivered messages")); err != nil {
		return nil, err
	}
	t.duration, err = meter.Float64Histogram("messaging.process.duration", metric.WithUnit("s"), metric.WithDescription("How long handlers worked"))
	return t, err
}

// AroundPut is a middleware for duewheel.WithPutMiddleware: a producer span. Messages of a batch have one, whose context the server stores with
// each of them.
func (t *Telemetry) AroundPut(ctx context.Context, put *duewheel.Outgoing, next func(context.Context) ([]duewheel.PutResult, error)) ([]duewheel.PutResult, error) {
	ctx, span := t.tracer.Start(ctx, "send "+put.Queue, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(attributesOf("send", put.Queue)...))
	defer span.End()
	carrier := propagation.MapCarrier{}
	propagator.Inject(ctx, carrier)
	put.Traceparent = carrier["traceparent"]
	results, err := next(ctx)
	if err != nil {
		fail(span, err)
	} else if put.Count != 1 {
		span.SetAttributes(attribute.Int("messaging.batch.message_count", put.Count))
	} else if results[0].Err == nil {
		span.SetAttributes(attribute.String("messaging.message.id", string(results[0].ID)))
	}
	return results, err
}

// Around is a middleware for Worker.Around: a consumer span, and the metrics.
func (t *Telemetry) Around(ctx context.Context, lease *duewheel.Lease, next func(context.Context) error) error {
	queue := attribute.String("messaging.destination.name", lease.Queue)
	measured := metric.WithAttributes(queue)
	options := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attributesOf("process", lease.Queue)...),
		trace.WithAttributes(attribute.String("messaging.message.id", string(lease.ID)), attribute.Int64("duewheel.attempt", lease.Attempt))}
	put := trace.SpanContextFromContext(propagator.Extract(context.Background(), propagation.MapCarrier{"traceparent": lease.Traceparent}))
	if put.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: put}))
	}
	began := time.Now()
	ctx, span := t.tracer.Start(ctx, "process "+lease.Queue, options...)
	t.busy.Add(ctx, 1, measured)
	t.lateness.Record(ctx, lease.Lateness().Seconds(), measured)
	outcome := "failed" // of a panic, which goes on
	defer func() {
		t.busy.Add(ctx, -1, measured)
		t.duration.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(queue, attribute.String("duewheel.outcome", outcome)))
		if outcome == "failed" {
			span.SetStatus(codes.Error, "the handler failed")
		}
		span.End()
	}()
	err := next(ctx)
	if outcome = duewheel.OutcomeOf(err); outcome == "failed" || outcome == "dead" {
		fail(span, err)
	}
	return err
}

func fail(span trace.Span, err error) {
	span.RecordError(err)
	span.SetStatus(codes.Error, err.Error())
}

func attributesOf(operation, queue string) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("messaging.system", name), attribute.String("messaging.operation.type", operation),
		attribute.String("messaging.destination.name", queue)}
}
