package duewheel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const (
	pollTime        = 20 * time.Second
	leaseTime       = 30 * time.Second
	stopTime        = 25 * time.Second
	errorPause      = time.Second            // after a call that failed for another reason than that there is no message
	gatherTime      = 5 * time.Millisecond   // how long to wait for more free handlers before the next lease call
	saidPause       = 100 * time.Millisecond // between two extensions that only carry progress
	cancelledWithin = time.Second            // how long handlers have to notice their cancel at the end of a stop
	reporters       = 2
	unreportedMax   = 1000 // messages of a queue whose handler has returned, while no outcome is accepted
)

// WorkerOptions are the settings of a worker.
type WorkerOptions struct {
	Name        string        // shown with the messages that it has
	StopTimeout time.Duration // how long running handlers have to finish when it stops, by default 25 s
	Log         *slog.Logger  // by default slog.Default()
}

// Worker handles the messages of queues (Handle). Each call of a handler has its own goroutine. One more for each queue leases messages, one
// extends their leases at a third of their length, and two report outcomes, many with one request.
type Worker struct {
	client      *Client
	name        string
	stopTimeout time.Duration
	log         *slog.Logger
	routes      map[string]*route
	schedules   []func(context.Context) error
	around      []Middleware
	outbox      *outbox
	pollers     sync.WaitGroup
	polling     context.Context // ends when the worker begins to stop
	stopPolling context.CancelFunc
	hurry       chan struct{} // closed when the stop must not wait for handlers any longer
	hurryOnce   sync.Once
	ended       chan struct{} // closed when nothing is left to do
	endOnce     sync.Once
	released    chan struct{} // gets a value when a message was reported

	mu   sync.Mutex
	held map[*work]bool // leased and not yet reported
}

// route is a queue with its handlers.
type route struct {
	queue       string
	handlers    map[string]func(context.Context, *work) (any, error) // by kind; "": any other
	concurrency int
	lease       time.Duration
	said        chan struct{} // gets a value when a handler has said something
	freed       chan struct{} // gets a value when a handler has ended
	running     int           // handlers; guarded by Worker.mu, as the next one
	held        int           // messages that are leased and not yet reported
}

func (r *route) call(ctx context.Context, k *work) (any, error) {
	kind := k.lease.Headers["kind"]
	handler := r.handlers[kind]
	if handler == nil {
		handler = r.handlers[""]
	}
	if handler == nil {
		return nil, fmt.Errorf("this worker has no handler for the kind `%s` of queue %s", kind, r.queue)
	}
	return handler(ctx, k)
}

// untilNextBeat is the time of extensions.
func (r *route) untilNextBeat() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), max(r.lease/3, time.Second))
}

// HandleOption is a setting of a handler's queue.
type HandleOption func(*route)

// Concurrency is how many messages of the queue are handled at once, by default 1.
func Concurrency(count int) HandleOption { return func(r *route) { r.concurrency = max(1, count) } }

// LeaseFor is the length of the leases of the queue, by default 30 s. It is how long a message waits when its worker was killed. The lease
// is extended each third of it while the handler runs.
func LeaseFor(length time.Duration) HandleOption { return func(r *route) { r.lease = length } }

// NewWorker makes a worker, which does nothing until it runs.
func NewWorker(client *Client, options WorkerOptions) *Worker {
	w := &Worker{client: client, name: options.Name, stopTimeout: options.StopTimeout, log: options.Log, routes: map[string]*route{},
		outbox: newOutbox(), hurry: make(chan struct{}), ended: make(chan struct{}), released: make(chan struct{}, 1), held: map[*work]bool{}}
	w.polling, w.stopPolling = context.WithCancel(context.Background())
	if w.stopTimeout == 0 {
		w.stopTimeout = stopTime
	}
	if w.log == nil {
		w.log = slog.Default()
	}
	return w
}

func (w *Worker) route(queue string, options []HandleOption) *route {
	r := w.routes[queue]
	if r == nil {
		r = &route{queue: queue, handlers: map[string]func(context.Context, *work) (any, error){}, concurrency: 1, lease: leaseTime,
			said: make(chan struct{}, 1), freed: make(chan struct{}, 1)}
		w.routes[queue] = r
	}
	for _, option := range options {
		option(r)
	}
	return r
}

// Schedule makes a function run at the times of the settings, in one of all workers that declare it. The schedule is put by this name when
// the worker starts, and so is its queue.
func (w *Worker) Schedule(name string, settings ScheduleSettings, handler func(context.Context) error, options ...HandleOption) {
	settings.Queue = name
	w.schedules = append(w.schedules, func(ctx context.Context) error {
		_, err := w.client.SetSchedule(ctx, name, nil, settings)
		return err
	})
	Handle(w, NewQueue[any](w.client, name), func(ctx context.Context, _ *Job[any]) error { return handler(ctx) }, options...)
}

// Middleware is called in place of a handler, calls it with next, and returns what is to be its error.
type Middleware func(ctx context.Context, lease *Lease, next func(context.Context) error) error

// Around puts a middleware around all handlers, for logs, traces or database sessions. It sees the errors that handlers return, and what it
// returns takes their place. The first one is the outermost. To be called before the worker starts.
func (w *Worker) Around(middleware Middleware) { w.around = append(w.around, middleware) }

// Run works until SIGTERM, SIGINT or the end of ctx, and then stops in order: it leases no more, waits for running handlers, cancels those
// that are late, and releases what is left without counting the attempt. A second signal stops at once. The error is that of a schedule
// that the server refused.
func (w *Worker) Run(ctx context.Context) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)
	if err := w.Start(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-signals:
	}
	go func() {
		select {
		case <-signals:
			w.hurryOnce.Do(func() { close(w.hurry) })
		case <-w.ended:
		}
	}()
	w.Stop(w.stopTimeout)
	return nil
}

// Start puts the schedules, begins to work, and returns. Handlers get the values of ctx; its end stops nothing: call Stop. A
// worker that was stopped does not start again.
func (w *Worker) Start(ctx context.Context) error {
	for _, put := range w.schedules {
		if err := put(ctx); err != nil {
			return err
		}
	}
	values := context.WithoutCancel(ctx)
	for _, r := range w.routes {
		w.pollers.Add(1)
		go w.poll(r, values)
		go w.beat(r)
	}
	for range reporters {
		go w.reportAll()
	}
	return nil
}

// Stop stops in order, as Run does at a signal, and returns when this worker holds no message any more.
func (w *Worker) Stop(timeout time.Duration) {
	w.stopPolling()
	w.pollers.Wait() // for a message that came at the last moment
	w.waitUntilReported(timeout, w.hurry)
	for _, k := range w.works(nil) {
		k.cancel(ErrStopping)
	}
	if timeout > 0 {
		w.waitUntilReported(cancelledWithin, w.hurry)
	}
	for _, k := range w.works(nil) {
		if k.disown() {
			w.outbox.add(k, outcome{verb: "release"})
		}
	}
	w.waitUntilReported(w.client.timeout, nil)
	w.endOnce.Do(func() { close(w.ended) })
	w.outbox.close()
}

// waitUntilReported waits until no message is held, for up to this time.
func (w *Worker) waitUntilReported(timeout time.Duration, hurry <-chan struct{}) {
	over := time.NewTimer(timeout)
	defer over.Stop()
	for len(w.works(nil)) > 0 {
		select {
		case <-w.released:
		case <-over.C:
			return
		case <-hurry:
			return
		}
	}
}

// works is what the worker holds, of one queue or of all.
func (w *Worker) works(r *route) []*work {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]*work, 0, len(w.held))
	for k := range w.held {
		if r == nil || k.route == r {
			all = append(all, k)
		}
	}
	return all
}

// poll leases as many messages as handlers are free, until the worker stops.
func (w *Worker) poll(r *route, values context.Context) {
	defer w.pollers.Done()
	for {
		free := w.waitForRoom(r)
		if free == 0 {
			return
		}
		leases, err := w.client.Lease(w.polling, r.queue, LeaseOptions{Max: min(free, ManyMax), Lease: r.lease, Wait: pollTime, Worker: w.name})
		if err != nil {
			if w.polling.Err() != nil {
				return
			}
			w.log.Log(w.polling, levelOf(err), "duewheel: no messages were leased", "queue", r.queue, "error", err)
			sleep(w.polling, errorPause)
			continue
		}
		for _, lease := range leases {
			k := &work{lease: lease, route: r, log: w.log}
			k.ctx, k.cancel = context.WithCancelCause(values)
			w.mu.Lock()
			w.held[k] = true
			r.running++
			r.held++
			w.mu.Unlock()
			if w.polling.Err() != nil { // it came at the last moment
				w.finished(k, outcome{verb: "release"})
				continue
			}
			go w.handle(k)
		}
	}
}

func (w *Worker) handle(k *work) {
	ended := failed("the handler ended its goroutine with runtime.Goexit, as a failed assertion of a test does")
	defer func() { w.finished(k, ended) }()
	ended = k.run(w.around)
}

// waitForRoom is the number of free handlers, when there are some; 0 when the worker stops.
func (w *Worker) waitForRoom(r *route) int {
	gathered := false
	for {
		w.mu.Lock()
		free := min(r.concurrency-r.running, r.concurrency+unreportedMax-r.held)
		w.mu.Unlock()
		if w.polling.Err() != nil {
			return 0
		}
		if free > 0 && (gathered || 2*free >= r.concurrency) {
			return free
		}
		var enough <-chan time.Time
		if free > 0 {
			enough = time.After(gatherTime)
		}
		select {
		case <-r.freed:
		case <-enough:
			gathered = true
		case <-w.polling.Done():
		}
	}
}

// finished makes room for another message, and the outcome is reported by another goroutine.
func (w *Worker) finished(k *work, ended outcome) {
	if k.disown() {
		w.outbox.add(k, ended)
	}
	k.cancel(nil)
	w.mu.Lock()
	k.route.running--
	w.mu.Unlock()
	poke(k.route.freed)
}

// forget ends what this worker has to do with the messages.
func (w *Worker) forget(works ...*work) {
	w.mu.Lock()
	for _, k := range works {
		delete(w.held, k)
		if r := k.route; r.held >= r.concurrency+unreportedMax {
			poke(r.freed)
		}
		k.route.held--
	}
	w.mu.Unlock()
	poke(w.released)
}

func (w *Worker) reportAll() {
	for {
		taken := w.outbox.take()
		if taken == nil {
			return
		}
		w.report(taken)
		for _, each := range taken {
			w.forget(each.work)
		}
	}
}

// report tells the server outcomes of one verb. Those that it cannot tell now are repeated until the worker ends: their leases are extended
// as soon as the server is back and the token is valid. A request that is refused as a whole is sent again in two halves, until the outcome
// that is at fault stands alone.
func (w *Worker) report(ended []ending) {
	verb := ended[0].outcome.verb
	for len(ended) > 0 {
		if verb != "ack" {
			w.sayLast(ended)
		}
		leases := make([]any, len(ended))
		for i, each := range ended {
			leases[i] = leaseWith(each.work.lease.Token, each.outcome.members)
		}
		results, err := w.client.many(context.Background(), leases, verb, nil)
		if half := len(ended) / 2; half > 0 && err != nil && !passes(err) {
			w.report(ended[:half])
			w.report(ended[half:])
			return
		}
		var later []ending
		var reason error
		for i, each := range ended {
			refusal := err
			if refusal == nil && i < len(results) {
				refusal = results[i].Err
			}
			if passes(refusal) {
				later, reason = append(later, each), refusal
			} else if refusal != nil {
				w.refused(each, refusal)
			}
		}
		if ended = later; len(ended) > 0 {
			w.log.Log(context.Background(), levelOf(reason), "duewheel: outcomes are not reported yet", "outcome", verb, "messages", len(ended), "error", reason)
			select {
			case <-w.ended:
				return
			case <-time.After(errorPause):
			}
		}
	}
}

func (w *Worker) refused(each ending, refusal error) {
	verb, id := each.outcome.verb, each.work.lease.ID
	if CodeOf(refusal) == "lease_ended" {
		w.log.Warn("duewheel: an outcome came too late, the lease had ended", "outcome", verb, "message", id, "error", refusal)
		return
	}
	w.log.Error("duewheel: an outcome was refused", "outcome", verb, "message", id, "error", refusal)
	if verb != "fail" || len(each.outcome.members) > 1 { // a result that is too large, for example: fail visibly, instead of being repeated for ever
		w.report([]ending{{work: each.work, outcome: failed("the " + verb + " was refused: " + refusal.Error())}})
	}
}

// passes tells whether the call may succeed later as it is.
func passes(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrThrottled) || errors.Is(err, ErrUnauthorized)
}

func levelOf(err error) slog.Level {
	if errors.Is(err, ErrUnauthorized) {
		return slog.LevelError
	}
	return slog.LevelWarn
}

// beat extends the leases of a queue at a third of their length, and at once those of handlers that have said something.
func (w *Worker) beat(r *route) {
	due := time.NewTicker(max(r.lease/3, time.Millisecond))
	defer due.Stop()
	for {
		select {
		case <-w.ended:
			return
		case <-due.C:
			w.extend(r, true)
		case <-r.said:
			select {
			case <-due.C: // even if handlers have something to say all the time
				w.extend(r, true)
			default:
				w.extend(r, false)
			}
			select {
			case <-w.ended:
				return
			case <-time.After(saidPause):
			}
		}
	}
}

// extend extends all leases whose handlers have said nothing, if they are due, with one request, and sends one by one what the others have
// said.
func (w *Worker) extend(r *route, all bool) {
	ctx, cancel := r.untilNextBeat()
	defer cancel()
	var silent, saying []*work
	for _, k := range w.works(r) {
		if k.hasSaid() {
			saying = append(saying, k)
		} else if all {
			silent = append(silent, k)
		}
	}
	w.extendMany(ctx, r, silent)
	for _, k := range saying {
		w.say(ctx, k)
	}
}

// say extends the lease with what its handler has said, if it has. What is refused is dropped, and the lease is extended without it. It is
// false if the same may succeed later.
func (w *Worker) say(ctx context.Context, k *work) bool {
	k.saying.Lock()
	defer k.saying.Unlock()
	progress, checkpoint := k.takeSaid()
	if progress == nil && checkpoint == nil {
		return true
	}
	result, err := w.client.Extend(ctx, k.lease.Token, ExtendOptions{Lease: k.route.lease, Progress: progress, Checkpoint: checkpoint})
	if passes(err) {
		k.sayAgain(progress, checkpoint)
	} else if err != nil && CodeOf(err) != "lease_ended" {
		w.log.Warn("duewheel: progress or a checkpoint was refused, it is dropped", "queue", k.route.queue, "message", k.lease.ID, "error", err)
		w.extendMany(ctx, k.route, []*work{k})
		return true
	}
	w.extended(k, LeaseResult{result, err})
	return !passes(err)
}

// sayLast sends what handlers have said before their leases end, so that the next attempts get it. The ends of the leases do not wait for a
// server that cannot be reached.
func (w *Worker) sayLast(ended []ending) {
	ctx, cancel := ended[0].work.route.untilNextBeat()
	defer cancel()
	for _, each := range ended {
		if !w.say(ctx, each.work) {
			return
		}
	}
}

func (w *Worker) extendMany(ctx context.Context, r *route, works []*work) {
	for len(works) > 0 {
		part := works[:min(len(works), ManyMax)]
		works = works[len(part):]
		tokens := make([]string, len(part))
		for i, k := range part {
			tokens[i] = k.lease.Token
		}
		results, err := w.client.ExtendMany(ctx, tokens, ExtendOptions{Lease: r.lease})
		if err != nil {
			w.log.Warn("duewheel: leases were not extended", "queue", r.queue, "messages", len(part), "error", err)
			continue
		}
		for i, result := range results[:min(len(results), len(part))] {
			w.extended(part[i], result)
		}
	}
}

func (w *Worker) extended(k *work, result LeaseResult) {
	switch {
	case CodeOf(result.Err) == "lease_ended":
		if k.disown() {
			w.log.Warn("duewheel: a lease was lost, its handler is cancelled", "queue", k.route.queue, "message", k.lease.ID, "error", result.Err)
			k.cancel(ErrLeaseLost)
			w.forget(k)
		}
	case result.Err != nil:
		w.log.Warn("duewheel: a lease was not extended", "queue", k.route.queue, "message", k.lease.ID, "error", result.Err)
	case result.CancelRequested:
		k.cancel(ErrCancelRequested)
	}
}

func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
