// The load of the comparison with other servers for River, a library for Go on PostgreSQL: the runs of ../load.mjs with the same orders, the
// same loads and the same results.
//
//	river ADDRESS
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"duewheel/bench/river/ledger"
)

const (
	outstanding        = 64
	batchSize          = 500
	batchesOutstanding = 4
	cancelDelay        = 6 * time.Second
	flowDelay          = time.Second
	connections        = 16
	// What River's own benchmark sets; its defaults are slower.
	fetchCooldown     = 2 * time.Millisecond
	fetchPollInterval = 20 * time.Millisecond
	workersMax        = 2000
	// River looks for scheduled jobs that are due within the next five seconds, every five seconds, which cannot be set. A run that waits for them
	// covers two of these intervals.
	schedulerInterval   = 5 * time.Second
	consumeSecondsLeast = 10
	// A run ends without the rest if nothing has come for this long.
	patience = 2 * schedulerInterval
	// River drops events that do not fit.
	eventsMax = 1 << 20
)

type order struct {
	Run     string  `json:"run"`
	Queue   string  `json:"queue"`
	Seconds float64 `json:"seconds"`
	Rate    int     `json:"rate"`
	Count   int     `json:"count"`
}

// result has a report of the ledger if the run consumes.
type result struct {
	*ledger.Report
	PerSecond float64            `json:"per_second,omitempty"`
	TookMs    map[string]float64 `json:"took_ms,omitempty"`
	Client    float64            `json:"client_cpu_seconds"`
}

type message struct {
	Body string `json:"body"`
}

func (message) Kind() string { return "message" }

type worker struct {
	river.WorkerDefaults[message]
	ledger *ledger.Ledger
}

func (w *worker) Work(_ context.Context, job *river.Job[message]) error {
	w.ledger.Delivered(ledger.NumberOf(job.Args.Body), time.Now().UnixMilli())
	return nil
}

// must ends the program without a result, which the benchmark reports.
func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func farDelay() time.Duration {
	return time.Hour + time.Duration(mathrand.IntN(23*3600))*time.Second
}

// repeat calls step(number) repeatedly for the seconds, with some calls in progress, and returns their number.
func repeat(seconds float64, calls int, step func(number int)) int {
	var next atomic.Int64
	var loops sync.WaitGroup
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for range calls {
		loops.Add(1)
		go func() {
			defer loops.Done()
			for time.Now().Before(end) {
				step(int(next.Add(1)) - 1)
			}
		}()
	}
	loops.Wait()
	return int(next.Load())
}

// load has a client for puts, which all runs share; a run that consumes has one of its own.
type load struct {
	pool    *pgxpool.Pool
	client  *river.Client[pgx.Tx]
	cancels map[string]*ledger.Ledger
	inBatch atomic.Int64
}

func newLoad(ctx context.Context, address string) *load {
	config, err := pgxpool.ParseConfig(address)
	must(err)
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	must(err)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	must(err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	must(err)
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: logger()})
	must(err)
	return &load{pool: pool, client: client, cancels: map[string]*ledger.Ledger{}}
}

// logger keeps River's messages out of the results.
func logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func (l *load) insert(ctx context.Context, queue string, number int, delay time.Duration) int64 {
	inserted, err := l.client.Insert(ctx, message{ledger.BodyOf(number)}, &river.InsertOpts{Queue: queue, ScheduledAt: time.Now().Add(delay)})
	must(err)
	return inserted.Job.ID
}

func (l *load) put(ctx context.Context, queue string, to *ledger.Ledger, number int, delay time.Duration) int64 {
	to.Sent(number, time.Now().UnixMilli(), delay.Milliseconds())
	id := l.insert(ctx, queue, number, delay)
	to.Accepted(number)
	return id
}

// putBatch copies the jobs into the table, the fastest way that River has.
func (l *load) putBatch(ctx context.Context, queue string, count int) {
	jobs := make([]river.InsertManyParams, count)
	for index := range jobs {
		jobs[index] = river.InsertManyParams{Args: message{ledger.BodyOf(int(l.inBatch.Add(1)))},
			InsertOpts: &river.InsertOpts{Queue: queue, ScheduledAt: time.Now().Add(farDelay())}}
	}
	_, err := l.client.InsertManyFast(ctx, jobs)
	must(err)
}

// consume works the queue's jobs until the returned function is called. A job is acknowledged when River reports it as completed, which is after
// the commit.
func (l *load) consume(ctx context.Context, queue string, to *ledger.Ledger) (stop func()) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{ledger: to})
	client, err := river.NewClient(riverpgxv5.New(l.pool), &river.Config{Logger: logger(), Workers: workers, FetchCooldown: fetchCooldown,
		FetchPollInterval: fetchPollInterval, Queues: map[string]river.QueueConfig{queue: {MaxWorkers: workersMax}}})
	must(err)
	events, unsubscribe := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: eventsMax, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	must(client.Start(ctx))
	go func() {
		for event := range events {
			var of message
			must(json.Unmarshal(event.Job.EncodedArgs, &of))
			to.Acknowledged(ledger.NumberOf(of.Body), time.Now().UnixMilli())
		}
	}()
	return func() {
		must(client.Stop(ctx))
		unsubscribe()
	}
}

// finish waits until every accepted message is acknowledged.
func finish(of *ledger.Ledger) {
	for of.Undone() > 0 && time.Now().UnixMilli() < of.LastMs()+patience.Milliseconds() {
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *load) puts(ctx context.Context, order order) result {
	var mu sync.Mutex
	var took []float64
	began := time.Now()
	calls := repeat(order.Seconds, outstanding, func(number int) {
		call := time.Now()
		l.insert(ctx, order.Queue, number, farDelay())
		ms := float64(time.Since(call)) / float64(time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		took = append(took, ms)
	})
	return result{Report: &ledger.Report{Accepted: calls}, PerSecond: float64(calls) / time.Since(began).Seconds(), TookMs: ledger.Levels(took)}
}

func (l *load) cancelling(ctx context.Context, order order) result {
	messages := ledger.New()
	l.cancels[order.Queue] = messages
	began := time.Now()
	pairs := repeat(order.Seconds, outstanding, func(number int) {
		_, err := l.client.JobCancel(ctx, l.put(ctx, order.Queue, messages, number, cancelDelay))
		must(err)
		messages.Cancelled(number)
	})
	return result{PerSecond: 2 * float64(pairs) / time.Since(began).Seconds()}
}

func (l *load) afterCancel(ctx context.Context, order order) result {
	messages := l.cancels[order.Queue]
	defer l.consume(ctx, order.Queue, messages)()
	time.Sleep(time.Until(time.UnixMilli(messages.LastMs()).Add(schedulerInterval + time.Second)))
	return result{Report: messages.Report()}
}

func (l *load) flow(ctx context.Context, order order) result {
	messages := ledger.New()
	defer l.consume(ctx, order.Queue, messages)()
	began := time.Now()
	seconds := max(order.Seconds, consumeSecondsLeast)
	repeat(seconds, outstanding, func(number int) { l.put(ctx, order.Queue, messages, number, flowDelay) })
	finish(messages)
	report := messages.Report()
	elapsed := max(seconds, time.UnixMilli(messages.LastAcknowledgedMs()).Sub(began.Add(flowDelay)).Seconds())
	return result{Report: report, PerSecond: float64(report.Acknowledged) / elapsed}
}

func (l *load) lateness(ctx context.Context, order order) result {
	messages := ledger.New()
	defer l.consume(ctx, order.Queue, messages)()
	var puts sync.WaitGroup
	began := time.Now()
	for number := range int(float64(order.Rate) * max(order.Seconds, consumeSecondsLeast)) {
		time.Sleep(time.Until(began.Add(time.Duration(number) * time.Second / time.Duration(order.Rate))))
		puts.Add(1)
		go func() {
			defer puts.Done()
			l.put(ctx, order.Queue, messages, number, flowDelay)
		}()
	}
	puts.Wait()
	finish(messages)
	return result{Report: messages.Report()}
}

func (l *load) batches(ctx context.Context, order order) result {
	began := time.Now()
	calls := repeat(order.Seconds, batchesOutstanding, func(int) { l.putBatch(ctx, order.Queue, batchSize) })
	return result{PerSecond: float64(calls*batchSize) / time.Since(began).Seconds()}
}

func (l *load) fill(ctx context.Context, order order) result {
	for left := order.Count; left > 0; left -= batchSize {
		l.putBatch(ctx, order.Queue, min(batchSize, left))
	}
	return result{Report: &ledger.Report{Accepted: order.Count}}
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

func main() {
	ctx := context.Background()
	l := newLoad(ctx, os.Args[1])
	runs := map[string]func(context.Context, order) result{"puts": l.puts, "cancels": l.cancelling, "after_cancel": l.afterCancel, "flow": l.flow,
		"lateness": l.lateness, "batches": l.batches, "fill": l.fill}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var order order
		must(json.Unmarshal(lines.Bytes(), &order))
		before := cpuSeconds()
		done := runs[order.Run](ctx, order)
		done.Client = cpuSeconds() - before
		text, err := json.Marshal(done)
		must(err)
		fmt.Println(string(text))
	}
}
