package duewheel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Causes of the cancel of a handler's context, for context.Cause.
var (
	// ErrLeaseLost: another delivery may have begun, and what the handler returns changes nothing.
	ErrLeaseLost = errors.New("duewheel: the lease was lost")
	// ErrCancelRequested: a cancel of the running work was requested.
	ErrCancelRequested = errors.New("duewheel: a cancel was requested")
	// ErrStopping: the time of the worker's stop is over. A handler that fails now has its message released.
	ErrStopping = errors.New("duewheel: the worker stops")
)

type outcomeError struct {
	text    string
	outcome outcome
}

func (e *outcomeError) Error() string { return e.text }

// RetryAfter is returned by a handler: the attempt has failed, and the next one follows after this time instead of the backoff. Wrapped with
// fmt.Errorf("...: %w", ...) it has a reason; the same holds for Snooze. A negative duration is an ordinary error.
func RetryAfter(after time.Duration) error {
	if after < 0 {
		return fmt.Errorf("duewheel: RetryAfter(%v) is negative: give it a duration of 0 or more", after)
	}
	return &outcomeError{fmt.Sprintf("retry after %v", after), outcome{verb: "fail", members: map[string]any{"retry_in": after}}}
}

// Snooze is returned by a handler: not now. The message returns after this time, and the attempt does not count.
func Snooze(delay time.Duration) error {
	if delay < 0 {
		return fmt.Errorf("duewheel: Snooze(%v) is negative: give it a duration of 0 or more", delay)
	}
	return &outcomeError{fmt.Sprintf("snooze for %v", delay), outcome{verb: "release", members: releaseMembers(delay)}}
}

// Dead is returned by a handler: no attempt will succeed. The message is a dead letter at once.
func Dead(reason string) error {
	return &outcomeError{reason, outcome{verb: "fail", members: map[string]any{"dead": true}}}
}

// Job is a message that a handler works on. Its methods may be called by several goroutines.
type Job[T any] struct {
	*Lease
	Data T
	work *work
}

// Progress says how far the work is: 0 to 1, or any JSON of up to 1 KiB. The checkpoint, unless it is nil, is what the next attempt gets
// (DecodeCheckpoint) if this one does not end. Both are sent soon, by another goroutine, and only the newest ones; before a failure, at the
// latest. They may be changed after the call. What is no JSON is logged and dropped.
func (j *Job[T]) Progress(progress, checkpoint any) { j.work.say(progress, checkpoint) }

// Handle makes a function handle the messages of a queue. It returns nil: the message is done; RetryAfter, Snooze or Dead; or another
// error: the attempt has failed, and the message is delivered again by its retry rule. A panic is an error too. The context is cancelled
// when the lease is lost, a cancel of the running work is requested, or the time of a stop is over. Several handlers of one queue have
// different kinds (Queue.Kind); a message whose kind has none fails its attempt. To be called before the worker starts.
func Handle[T any](w *Worker, queue Queue[T], handler func(context.Context, *Job[T]) error, options ...HandleOption) {
	HandleResult(w, queue, func(ctx context.Context, job *Job[T]) (noResult, error) { return noResult{}, handler(ctx, job) }, options...)
}

// HandleResult is Handle for a function whose value is the result of the message: any JSON of up to 64 KiB, which the producer gets with Wait.
func HandleResult[T, R any](w *Worker, queue Queue[T], handler func(context.Context, *Job[T]) (R, error), options ...HandleOption) {
	w.route(queue.name, options).handlers[queue.kind] = func(ctx context.Context, work *work) (any, error) {
		job := &Job[T]{Lease: work.lease, work: work}
		if err := work.lease.Decode(&job.Data); err != nil {
			return nil, err
		}
		result, err := handler(ctx, job)
		if _, ok := any(result).(noResult); ok {
			return nil, err
		}
		return result, err
	}
}

type noResult struct{}

// Verdict says what became of a transaction.
type Verdict int

const (
	// Unknown: ask again later.
	Unknown Verdict = iota
	// Committed: the message is delivered when it is due.
	Committed
	// RolledBack: the message is not delivered.
	RolledBack
)

// HandleChecks makes a function answer the checks of a queue (Prepare): what became of the transaction whose producer did not say it.
// Its job has the data of the prepared message.
func HandleChecks[T any](w *Worker, queue Queue[T], handler func(context.Context, *Job[T]) (Verdict, error), options ...HandleOption) {
	Handle(w, queue, func(ctx context.Context, job *Job[T]) error {
		verdict, err := handler(ctx, job)
		switch {
		case err != nil:
			return err
		case job.Check == nil:
			return Dead("this message is no check of a transaction")
		case verdict == Committed:
			_, err = w.client.Commit(ctx, ID(job.Check.Message))
		case verdict == RolledBack:
			_, err = w.client.Rollback(ctx, ID(job.Check.Message))
		default:
			return errors.New("what became of the transaction is not known yet")
		}
		return err
	}, options...)
}

// outcome is the call that ends a lease.
type outcome struct {
	verb    string
	members map[string]any
}

// work is a leased message in this worker, until its outcome is reported.
type work struct {
	lease  *Lease
	route  *route
	log    *slog.Logger
	cancel context.CancelCauseFunc
	ctx    context.Context

	saying sync.Mutex // held while an extension with progress or checkpoint is sent

	mu                   sync.Mutex
	progress, checkpoint any  // what the next extension takes along
	disowned             bool // whether its lease is no longer the handler's to end
}

func (k *work) say(progress, checkpoint any) {
	if progress, checkpoint = k.copied(progress), k.copied(checkpoint); progress == nil && checkpoint == nil {
		return
	}
	k.mu.Lock()
	if progress != nil {
		k.progress = progress
	}
	if checkpoint != nil {
		k.checkpoint = checkpoint
	}
	k.mu.Unlock()
	poke(k.route.said)
}

// copied is the value as JSON, which the handler no longer changes; nil if it has none.
func (k *work) copied(value any) any {
	if value == nil {
		return nil
	}
	text, err := encode(value)
	if err != nil {
		k.log.Warn("duewheel: progress or a checkpoint is no JSON, it is dropped", "queue", k.route.queue, "message", k.lease.ID, "error", err)
		return nil
	}
	return json.RawMessage(text)
}

func (k *work) hasSaid() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.progress != nil || k.checkpoint != nil
}

// takeSaid is what it has said since the last time.
func (k *work) takeSaid() (progress, checkpoint any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	progress, checkpoint, k.progress, k.checkpoint = k.progress, k.checkpoint, nil, nil
	return progress, checkpoint
}

// sayAgain is for what an extension that failed had taken along, unless there is newer.
func (k *work) sayAgain(progress, checkpoint any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.progress == nil {
		k.progress = progress
	}
	if k.checkpoint == nil {
		k.checkpoint = checkpoint
	}
}

// disown takes the right to end the lease. It is false if another goroutine has taken it.
func (k *work) disown() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.disowned
	k.disowned = true
	return !was
}

// run calls the handler, and gives what is to be reported.
func (k *work) run(around []Middleware) (ended outcome) {
	defer func() {
		if panicked := recover(); panicked != nil {
			k.log.Error("duewheel: a handler panicked", "message", k.lease.ID, "panic", panicked, "stack", string(debug.Stack()))
			ended = failed(fmt.Sprintf("panic: %v\n%s", panicked, debug.Stack()))
		}
	}()
	result, err := k.call(around)
	var said *outcomeError
	switch {
	case errors.As(err, &said):
		ended = outcome{said.outcome.verb, map[string]any{}}
		for name, value := range said.outcome.members {
			ended.members[name] = value
		}
		if ended.verb == "fail" {
			ended.members["reason"] = shortened(err.Error())
		}
		return ended
	case err != nil && errors.Is(context.Cause(k.ctx), ErrStopping):
		return outcome{verb: "release"}
	case err != nil:
		k.log.Warn("duewheel: a handler failed", "queue", k.route.queue, "message", k.lease.ID, "attempt", k.lease.Attempt, "error", err)
		return failed(err.Error())
	case result == nil:
		return outcome{verb: "ack"}
	}
	text, err := encode(result)
	if err != nil {
		k.log.Error("duewheel: the result of a handler is no JSON", "message", k.lease.ID, "error", err)
		return failed("the result is no JSON: " + err.Error())
	}
	return outcome{"ack", map[string]any{"result": json.RawMessage(text)}}
}

// call calls the handler, with the middleware around it.
func (k *work) call(around []Middleware) (result any, err error) {
	next := func(ctx context.Context) error {
		answer, err := k.route.call(ctx, k)
		if err == nil {
			result = answer
		}
		return err
	}
	for i := len(around) - 1; i >= 0; i-- {
		middleware, inner := around[i], next
		next = func(ctx context.Context) error { return middleware(ctx, k.lease, inner) }
	}
	err = next(k.ctx)
	return result, err
}

func failed(reason string) outcome {
	return outcome{"fail", map[string]any{"reason": shortened(reason)}}
}

// poke wakes the goroutine that waits for the channel, which has a place for one value.
func poke(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}
