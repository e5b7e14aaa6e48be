package duewheel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"duewheel.test/duewheel"
	"duewheel.test/duewheel/duewheeltest"
)

type email struct{ To string }
type bill struct{ Amount int }

var (
	ctx    = context.Background()
	within = 20 * time.Second
	once   = duewheel.Retries(duewheel.RetryRule{First: time.Hour})
)

// silent is a worker whose warnings are expected.
func silent(client *duewheel.Client) *duewheel.Worker {
	return duewheel.NewWorker(client, duewheel.WorkerOptions{Name: "w", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

func put[T any](t *testing.T, queue duewheel.Queue[T], data T, options ...duewheel.PutOption) duewheel.ID {
	t.Helper()
	receipt, err := queue.Put(ctx, data, options...)
	if err != nil {
		t.Fatal(err)
	}
	return receipt.ID
}

// awaited polls until the message has the state.
func awaited(t *testing.T, client *duewheel.Client, id duewheel.ID, state string) *duewheel.Message {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		message, err := client.Get(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if message.State == state {
			return message
		}
		if time.Now().After(deadline) {
			t.Fatalf("message %s is not %s: %s", id, state, message.Raw)
		}
	}
}

func TestSeveralTypesInOneQueueAreToldApartByTheirKindAndMiddlewareSeesThem(t *testing.T) {
	server := duewheeltest.Start(t)
	client := server.Client
	mails, bills := duewheel.NewQueue[email](client, "kinds").Kind("mail"), duewheel.NewQueue[bill](client, "kinds").Kind("bill")
	worker := silent(server.Client)
	duewheel.HandleResult(worker, mails, func(_ context.Context, job *duewheel.Job[email]) (string, error) { return job.Data.To, nil })
	duewheel.HandleResult(worker, bills, func(_ context.Context, job *duewheel.Job[bill]) (int, error) { return job.Data.Amount, nil })
	seen := make(chan string, 100)
	for _, name := range []string{"outer", "inner"} {
		worker.Around(func(ctx context.Context, lease *duewheel.Lease, next func(context.Context) error) error {
			seen <- name + " begins " + lease.Headers["kind"]
			err := next(ctx)
			seen <- name + " ends"
			return err
		})
	}
	server.Run(worker)
	mail, paid := put(t, mails, email{"ann"}), put(t, bills, bill{7})
	if got := awaited(t, client, mail, "done").Result; string(got) != `"ann"` {
		t.Error(string(got))
	}
	if got := awaited(t, client, paid, "done").Result; string(got) != "7" {
		t.Error(string(got))
	}
	for _, want := range []string{"outer begins mail", "inner begins mail", "inner ends", "outer ends"} {
		if got := <-seen; got != want {
			t.Errorf("%s, and not %s", got, want)
		}
	}
	unknown := put(t, bills.Kind("letter"), bill{1}, once)
	if got := awaited(t, client, unknown, "retrying").Raw; !strings.Contains(string(got), "no handler for the kind `letter`") {
		t.Error(string(got))
	}
}

func TestAPanicALostGoroutineAndDataThatDoesNotFitFailTheAttempt(t *testing.T) {
	server := duewheeltest.Start(t)
	client := server.Client
	odd := duewheel.NewQueue[email](client, "odd")
	worker := silent(server.Client)
	duewheel.Handle(worker, odd, func(_ context.Context, job *duewheel.Job[email]) error {
		if job.Data.To == "goexit" {
			runtime.Goexit()
		}
		panic("the printer is on fire")
	})
	server.Run(worker)
	for data, reason := range map[string]string{`{"To":"ann"}`: "panic: the printer is on fire", `{"To":"goexit"}`: "ended its goroutine", `7`: "does not fit its type"} {
		id := put(t, duewheel.NewQueue[json.RawMessage](client, "odd"), json.RawMessage(data), once)
		if got := awaited(t, client, id, "retrying").Reason; !strings.Contains(got, reason) {
			t.Errorf("%s: the reason is %q, without %q", data, got, reason)
		}
	}
}

func TestOutcomesMayBeWrappedAndSchedulesAndChecksHaveHandlers(t *testing.T) {
	server := duewheeltest.Start(t)
	client := server.Client
	wrapped, parcels := duewheel.NewQueue[string](client, "wrapped"), duewheel.NewQueue[string](client, "parcels")
	checks := duewheel.NewQueue[string](client, "checks")
	worker, ran := silent(server.Client), make(chan struct{}, 100)
	duewheel.Handle(worker, wrapped, func(context.Context, *duewheel.Job[string]) error {
		return errors.Join(errors.New("no such customer"), duewheel.Dead("gone"))
	})
	duewheel.HandleChecks(worker, checks, func(_ context.Context, job *duewheel.Job[string]) (duewheel.Verdict, error) {
		if job.Data == "paid" {
			return duewheel.Committed, nil
		}
		return duewheel.RolledBack, nil
	})
	worker.Schedule("nightly", duewheel.ScheduleSettings{Every: 24 * time.Hour}, func(context.Context) error { ran <- struct{}{}; return nil })
	server.Run(worker)
	if got := awaited(t, client, put(t, wrapped, "x"), "dead").Reason; !strings.Contains(got, "no such customer") {
		t.Error(got)
	}
	check := duewheel.CheckBack{Queue: "checks", After: time.Minute}
	paid, err := parcels.Prepare(ctx, "paid", check)
	if err != nil {
		t.Fatal(err)
	}
	unpaid, _ := parcels.Prepare(ctx, "unpaid", check)
	server.Advance(25 * time.Hour)
	awaited(t, client, paid.ID, "ready")
	awaited(t, client, unpaid.ID, "cancelled")
	select {
	case <-ran:
	case <-time.After(within):
		t.Error("the schedule did not run")
	}
}

func TestASignalDrainsAndASecondOneGivesBackAtOnce(t *testing.T) {
	server := duewheeltest.Start(t)
	client := server.Client
	slow := duewheel.NewQueue[string](client, "slow")
	worker, begun, release := silent(server.Client), make(chan struct{}, 2), make(chan struct{})
	var cause error
	duewheel.Handle(worker, slow, func(ctx context.Context, job *duewheel.Job[string]) error {
		begun <- struct{}{}
		if job.Data == "soon" {
			<-release
			return nil
		}
		<-ctx.Done()
		cause = context.Cause(ctx)
		return ctx.Err()
	}, duewheel.Concurrency(2))
	soon, late := put(t, slow, "soon"), put(t, slow, "late")
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	<-begun
	<-begun
	syscall.Kill(syscall.Getpid(), syscall.SIGTERM)
	close(release)
	awaited(t, client, soon, "done")
	syscall.Kill(syscall.Getpid(), syscall.SIGTERM)
	select {
	case err := <-ended:
		if err != nil || !errors.Is(cause, duewheel.ErrStopping) {
			t.Error(err, cause)
		}
	case <-time.After(within):
		t.Fatal("the second signal did not stop it")
	}
	if message := awaited(t, client, late, "ready"); message.Timeline[0].Outcome != "released" {
		t.Errorf("the attempt counts: %s", message.Raw)
	}
}

func TestMiddlewareAroundPutsGivesThemATraceAndSeesTheirResults(t *testing.T) {
	server, trace, seen := duewheeltest.Start(t), "00-"+strings.Repeat("a", 32)+"-"+strings.Repeat("b", 16)+"-01", []int{}
	client, err := duewheel.New(server.URL, duewheel.WithPutMiddleware(
		func(ctx context.Context, put *duewheel.Outgoing, next func(context.Context) ([]duewheel.PutResult, error)) ([]duewheel.PutResult, error) {
			put.Traceparent = trace
			results, err := next(ctx)
			seen = append(seen, put.Count, len(results))
			return results, err
		}))
	if err != nil {
		t.Fatal(err)
	}
	queue := duewheel.NewQueue[string](client, "traced")
	one := put(t, queue, "x")
	all, err := queue.PutAll(ctx, []string{"y", "z"})
	if err != nil || !slices.Equal(seen, []int{1, 1, 2, 2}) {
		t.Error(err, seen)
	}
	for _, id := range []duewheel.ID{one, all[0].ID, all[1].ID} {
		if got := awaited(t, client, id, "ready").Traceparent; got != trace {
			t.Errorf("message %s has the trace %q", id, got)
		}
	}
}

func TestErrorsHaveFamiliesAndACancelledContextEndsACall(t *testing.T) {
	server := duewheeltest.Start(t)
	client := server.Client
	_, err := client.Get(ctx, duewheel.ID("7"))
	var failure *duewheel.Error
	if !errors.Is(err, duewheel.ErrNotFound) || !errors.As(err, &failure) || failure.Code != "unknown_id" {
		t.Error(err)
	}
	ending, cancel := context.WithCancel(ctx)
	go cancel()
	if _, err := client.Lease(ending, "none", duewheel.LeaseOptions{Wait: time.Minute}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	brief, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := client.Lease(brief, "none", duewheel.LeaseOptions{Wait: time.Minute}); !errors.Is(err, context.DeadlineExceeded) || duewheel.CodeOf(err) != "deadline" {
		t.Error(err)
	}
}

func TestAWorkerThatIsStoppedBeforeItStartsHandlesNothing(t *testing.T) {
	server := duewheeltest.Start(t)
	queue, worker := duewheel.NewQueue[string](server.Client, "early"), silent(server.Client)
	duewheel.Handle(worker, queue, func(context.Context, *duewheel.Job[string]) error { return nil })
	worker.Stop(0)
	if err := worker.Start(ctx); err != nil {
		t.Fatal(err)
	}
	worker.Stop(0)
	if message := awaited(t, server.Client, put(t, queue, "x"), "ready"); message.Attempts != 0 {
		t.Errorf("it was handled: %s", message.Raw)
	}
}

// through is a client whose requests pass a proxy, which answers those that the function accepts with this status and code.
func through(t *testing.T, server *duewheeltest.Server, refuses func(*http.Request) bool, status int, code string) *duewheel.Client {
	t.Helper()
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ErrorLog = log.New(io.Discard, "", 0) // a stop ends a call that waits for messages
	proxy := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		if !refuses(request) {
			forward.ServeHTTP(answer, request)
			return
		}
		answer.Header().Set("Content-Type", "application/problem+json")
		answer.WriteHeader(status)
		fmt.Fprintf(answer, `{"status":%d,"code":%q,"detail":"of the proxy"}`, status, code)
	}))
	t.Cleanup(proxy.Close)
	client, err := duewheel.New(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// A result that the server refuses made the whole request fail that had reported it with others: their successes became failures.
func TestAResultThatIsRefusedFailsItsMessageAlone(t *testing.T) {
	server := duewheeltest.Start(t)
	refused := []string{strings.Repeat("[", 99) + strings.Repeat("]", 99), "1e99999999999", `"\ud800"`}
	const all = 40
	queue := duewheel.NewQueue[int](server.Client, "results")
	worker, handled := silent(server.Client), make(chan int, 2*all)
	var begun sync.WaitGroup
	begun.Add(all)
	duewheel.HandleResult(worker, queue, func(_ context.Context, job *duewheel.Job[int]) (any, error) {
		handled <- job.Data
		begun.Done()
		begun.Wait() // so that their outcomes are reported together
		if job.Data < len(refused) {
			return json.RawMessage(refused[job.Data]), nil
		}
		return job.Data, nil
	}, duewheel.Concurrency(all))
	ids := []duewheel.ID{}
	for i := range all {
		ids = append(ids, put(t, queue, i, once))
	}
	server.Run(worker)
	for i, id := range ids {
		if i >= len(refused) {
			awaited(t, server.Client, id, "done")
		} else if got := awaited(t, server.Client, id, "retrying").Reason; !strings.Contains(got, "the ack was refused") {
			t.Errorf("%s: %s", refused[i], got)
		}
	}
	if len(handled) != all {
		t.Errorf("%d messages were handled %d times", all, len(handled))
	}
}

// Each refused progress took the place of an extension, so a handler that said one often lost its lease.
func TestProgressThatIsRefusedDoesNotCostTheLease(t *testing.T) {
	const lease = 2 * time.Second // of the server's time, which the test moves on by a third of it before each heartbeat
	for name, progress := range map[string]any{"by the client": math.NaN(), "by the server": 2} {
		t.Run(name, func(t *testing.T) {
			server := duewheeltest.Start(t)
			queue := duewheel.NewQueue[string](server.Client, "progress")
			worker, over := silent(server.Client), make(chan struct{})
			duewheel.Handle(worker, queue, func(_ context.Context, job *duewheel.Job[string]) error {
				for {
					select {
					case <-over:
						return nil
					case <-time.After(time.Millisecond):
						job.Progress(progress, nil)
					}
				}
			}, duewheel.LeaseFor(lease))
			id := put(t, queue, "x")
			server.Run(worker)
			awaited(t, server.Client, id, "leased")
			for range 4 {
				clock, err := server.Client.Advance(ctx, lease/3)
				if err != nil {
					t.Fatal(err)
				}
				for deadline := time.Now().Add(within / 4); ; time.Sleep(10 * time.Millisecond) {
					if awaited(t, server.Client, id, "leased").LeaseUntilMS >= clock.ServerTimeMS+lease.Milliseconds() {
						break
					}
					if time.Now().After(deadline) {
						close(over)
						t.Fatal("the lease was not extended")
					}
				}
			}
			close(over)
			if message := awaited(t, server.Client, id, "done"); message.Attempts != 1 {
				t.Error(string(message.Raw))
			}
		})
	}
}

// Progress and a checkpoint were encoded later, by another goroutine: a map that the handler went on to change was a data race.
func TestWhatAHandlerHasSaidMayBeChangedAfterwards(t *testing.T) {
	server := duewheeltest.Start(t)
	queue := duewheel.NewQueue[string](server.Client, "pages")
	worker, over := silent(server.Client), make(chan struct{})
	duewheel.Handle(worker, queue, func(_ context.Context, job *duewheel.Job[string]) error {
		pages := map[string]int{"read": 1}
		job.Progress(pages, pages)
		pages["read"] = 2
		<-over
		return nil
	})
	id := put(t, queue, "x")
	server.Run(worker)
	message := awaited(t, server.Client, id, "leased")
	for deadline := time.Now().Add(within); message.Checkpoint == nil && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		message = awaited(t, server.Client, id, "leased")
	}
	close(over)
	if read := `{"read":1}`; string(message.Checkpoint) != read || string(message.Progress) != read {
		t.Error(string(message.Raw))
	}
}

// A token that was not valid for a moment made the outcome of a handler be given up, and its message was handled again.
func TestAnOutcomeIsKeptWhileTheTokenIsNotValid(t *testing.T) {
	server := duewheeltest.Start(t)
	var refusals atomic.Int32
	client := through(t, server, func(request *http.Request) bool {
		return strings.HasSuffix(request.URL.Path, "/leases:ack") && refusals.Add(1) == 1
	}, http.StatusUnauthorized, "unauthorized")
	queue := duewheel.NewQueue[string](client, "tokens")
	worker := silent(client)
	duewheel.Handle(worker, queue, func(context.Context, *duewheel.Job[string]) error { return nil })
	server.Run(worker)
	if message := awaited(t, server.Client, put(t, queue, "x"), "done"); message.Attempts != 1 || refusals.Load() != 2 {
		t.Error(refusals.Load(), string(message.Raw))
	}
}

// The server refuses such failures, and so the attempt ended in silence with its lease.
func TestAFailureThatTheServerWouldRefuseIsVisible(t *testing.T) {
	server := duewheeltest.Start(t)
	queue := duewheel.NewQueue[string](server.Client, "failures")
	failures := map[string]error{
		"RetryAfter(-1s) is negative": duewheel.RetryAfter(-time.Second),
		"Snooze(-1s) is negative":     fmt.Errorf("busy: %w", duewheel.Snooze(-time.Second)),
		"the fail was refused":        duewheel.RetryAfter(math.MaxInt64),
		"the release was refused":     duewheel.Snooze(math.MaxInt64),
		"it ends here":                errors.New("\xff" + strings.Repeat("x", 20<<20) + "it ends here"),
	}
	worker := silent(server.Client)
	duewheel.Handle(worker, queue, func(_ context.Context, job *duewheel.Job[string]) error { return failures[job.Data] })
	server.Run(worker)
	for reason := range failures {
		message := awaited(t, server.Client, put(t, queue, reason, once), "retrying")
		if !strings.Contains(message.Reason, reason) || len(message.Reason) > 4096 {
			t.Errorf("%s: %.300s", reason, message.Reason)
		}
	}
}
