package duewheelotel_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"duewheel.test/duewheel"
	"duewheel.test/duewheel/duewheelotel"
	"duewheel.test/duewheel/duewheeltest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

const handlers = 7

func TestSpansOfPutsAndHandlersAreLinkedAndWorkersAreMeasured(t *testing.T) {
	server, ctx := duewheeltest.Start(t), context.Background()
	spans, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	telemetry, err := duewheelotel.New(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)), metric.NewMeterProvider(metric.WithReader(reader)))
	check(t, err)
	client, err := duewheel.New(server.URL, duewheel.WithPutMiddleware(telemetry.AroundPut))
	check(t, err)
	defer client.Close()

	mail := duewheel.NewQueue[string](client, "mail")
	later := duewheel.Retries(duewheel.RetryRule{First: time.Hour})
	put := map[string]duewheel.ID{}
	for _, data := range []string{"good", "bad", "panic", "later"} {
		receipt, err := mail.Put(ctx, data, later)
		check(t, err)
		put[data] = receipt.ID
	}
	batch, err := mail.PutAll(ctx, []string{"one", "two"})
	check(t, err)
	plain, err := duewheel.NewQueue[string](server.Client, "mail").Put(ctx, "plain")
	check(t, err)

	worker := duewheel.NewWorker(server.Client, duewheel.WorkerOptions{Log: slog.New(slog.NewTextHandler(new(bytes.Buffer), nil))})
	worker.Around(telemetry.Around)
	duewheel.Handle(worker, mail, func(ctx context.Context, job *duewheel.Job[string]) error {
		if !trace.SpanContextFromContext(ctx).IsValid() {
			t.Error("a handler has no span")
		}
		switch job.Data {
		case "bad":
			return errors.New("it is bad")
		case "panic":
			panic("on fire")
		case "later":
			return duewheel.Snooze(24 * time.Hour)
		}
		return nil
	})
	server.Run(worker)
	server.RunUntilIdle()
	worker.Stop(5 * time.Second)

	sent, handled := map[string]sdk.ReadOnlySpan{}, map[string]sdk.ReadOnlySpan{}
	for _, span := range spans.Ended() {
		if span.SpanKind() == trace.SpanKindProducer {
			sent[text(span, "messaging.message.id")] = span
		} else {
			handled[text(span, "messaging.message.id")] = span
		}
	}
	for _, result := range batch {
		sent[string(result.ID)] = sent[""]
	}
	if len(handled) != handlers {
		t.Fatalf("%d handlers have spans, and not %d", len(handled), handlers)
	}
	for id, span := range handled {
		links := span.Links()
		if duewheel.ID(id) == plain.ID {
			if len(links) != 0 {
				t.Error("a message without a trace has a link")
			}
			continue
		}
		if len(links) != 1 || links[0].SpanContext.SpanID() != sent[id].SpanContext().SpanID() || span.Parent().IsValid() {
			t.Errorf("the span of message %s is not linked to its put", id)
		}
		isBad := duewheel.ID(id) == put["bad"] || duewheel.ID(id) == put["panic"]
		if (span.Status().Code == codes.Error) != isBad {
			t.Errorf("message %s: %v", id, span.Status())
		}
	}

	var measured metricdata.ResourceMetrics
	check(t, reader.Collect(ctx, &measured))
	counts, busy, late := map[string]uint64{}, int64(-1), uint64(0)
	for _, each := range measured.ScopeMetrics[0].Metrics {
		switch data := each.Data.(type) {
		case metricdata.Sum[int64]:
			busy = data.DataPoints[0].Value
		case metricdata.Histogram[float64]:
			for _, point := range data.DataPoints {
				if outcome, ok := point.Attributes.Value("duewheel.outcome"); ok {
					counts[outcome.AsString()] = point.Count
				} else {
					late = point.Count
				}
			}
		}
	}
	if busy != 0 || late != handlers || counts["done"] != 4 || counts["failed"] != 2 || counts["snooze"] != 1 {
		t.Error(busy, late, counts)
	}
}

func text(span sdk.ReadOnlySpan, key attribute.Key) string {
	for _, each := range span.Attributes() {
		if each.Key == key {
			return each.Value.AsString()
		}
	}
	return ""
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
