// The adapter of the Go client: README.md of the scenarios, "The protocol".
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	"duewheel.test/duewheel"
)

type members map[string]json.RawMessage

var families = map[error]string{duewheel.ErrInvalid: "invalid", duewheel.ErrUnauthorized: "unauthorized", duewheel.ErrNotFound: "not_found",
	duewheel.ErrConflict: "conflict", duewheel.ErrThrottled: "throttled", duewheel.ErrUnavailable: "unavailable"}

func (m members) has(name string) bool { return m[name] != nil }

// text takes a member that is text.
func (m members) text(name string) string {
	var value string
	if m.has(name) {
		must(json.Unmarshal(m[name], &value))
		delete(m, name)
	}
	return value
}

func (m members) texts(name string) []string {
	var values []string
	must(json.Unmarshal(m[name], &values))
	delete(m, name)
	return values
}

func (m members) duration(name string) time.Duration { return duration(m.text(name)) }

// value takes a member that is any JSON.
func (m members) value(name string) any {
	value, ok := m[name]
	delete(m, name)
	if !ok {
		return nil
	}
	return value
}

func (m members) which() duewheel.Which {
	if m.has("id") {
		return m.id()
	}
	return duewheel.Keyed{Queue: m.text("queue"), Key: m.text("key")}
}

func (m members) id() duewheel.ID { return duewheel.ID(m.text("id")) }

// data takes the content of a put.
func (m members) data() any {
	if m.has("json") {
		return m.value("json")
	}
	if m.has("body_base64") {
		var bytes []byte
		must(json.Unmarshal(m["body_base64"], &bytes))
		delete(m, "body_base64")
		return bytes
	}
	return m.text("body")
}

// fill sets the fields of options by the members that they are, as a user writes them.
func (m members) fill(options any) {
	value := reflect.ValueOf(options).Elem()
	for i := range value.NumField() {
		given, ok := m[value.Type().Field(i).Tag.Get("json")]
		if !ok {
			continue
		}
		switch field := value.Field(i).Addr().Interface().(type) {
		case *time.Duration:
			*field = duration(unquoted(given))
		case *time.Time:
			instant, err := time.Parse(time.RFC3339, unquoted(given))
			must(err)
			*field = instant
		default:
			if value.Field(i).Kind() == reflect.Pointer && value.Field(i).Type().Elem().Kind() == reflect.Struct {
				var parts members
				must(json.Unmarshal(given, &parts))
				value.Field(i).Set(reflect.New(value.Field(i).Type().Elem()))
				parts.fill(value.Field(i).Interface())
				continue
			}
			must(json.Unmarshal(given, field))
		}
	}
}

// changes are the members of a call that changes something.
func (m members) changes() duewheel.Changes {
	if len(m) == 0 {
		return nil
	}
	changes := duewheel.Changes{}
	for name, value := range m {
		if changes[name] = value; name == "delay" {
			changes[name] = duration(unquoted(value))
		}
	}
	return changes
}

func (m members) put() []duewheel.PutOption {
	return []duewheel.PutOption{func(p *duewheel.PutOptions) { m.fill(p) }}
}

func unquoted(value json.RawMessage) string {
	var text string
	must(json.Unmarshal(value, &text))
	return text
}

// duration reads durations of the scenarios, which may have days.
func duration(text string) time.Duration {
	if text == "" {
		return 0
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var count float64
		_, err := fmt.Sscan(days, &count)
		must(err)
		return time.Duration(count * 24 * float64(time.Hour))
	}
	value, err := time.ParseDuration(text)
	must(err)
	return value
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

type adapter struct {
	mu      sync.Mutex
	clients map[string]*duewheel.Client
	works   map[string]*work
	output  sync.Mutex
}

func (a *adapter) carryOut(do, name string, m members) (any, error) {
	ctx := context.Background()
	switch do {
	case "hello":
		return map[string]any{"name": "go", "capabilities": []string{"codec", "take", "versions", "workers"}}, nil
	case "connect":
		return struct{}{}, a.connect(name, m)
	}
	a.mu.Lock()
	c := a.clients[name]
	w := a.works[unquotedOr(m["worker"])]
	a.mu.Unlock()
	switch do {
	case "put":
		queue, data := m.text("queue"), m.data()
		return raw(c.Put(ctx, queue, data, m.put()...))
	case "put_many":
		var each []members
		must(json.Unmarshal(m["messages"], &each))
		puts := make([]duewheel.Put, len(each))
		for i, put := range each {
			puts[i] = duewheel.Put{Data: put.data(), Options: put.put()}
		}
		results, err := c.PutMany(ctx, m.text("queue"), puts)
		return shownAll(results, err, func(r duewheel.PutResult) (any, error) { return raw(r.Receipt, r.Err) })
	case "lease":
		options := duewheel.LeaseOptions{Wait: m.duration("wait")}
		m.fill(&options)
		leases, err := c.Lease(ctx, m.text("queue"), options)
		all := make([]any, len(leases))
		for i, lease := range leases {
			all[i] = lease.Raw
		}
		return map[string]any{"messages": all}, err
	case "ack":
		return raw(c.Ack(ctx, m.text("lease_token"), m.value("result")))
	case "ack_many":
		results, err := c.AckMany(ctx, m.texts("lease_tokens"), m.value("result"))
		return shownAll(results, err, ended)
	case "fail", "fail_many":
		var options duewheel.FailOptions
		m.fill(&options)
		if do == "fail" {
			return raw(c.Fail(ctx, m.text("lease_token"), m.text("reason"), options))
		}
		results, err := c.FailMany(ctx, m.texts("lease_tokens"), m.text("reason"), options)
		return shownAll(results, err, ended)
	case "extend", "extend_many":
		options := duewheel.ExtendOptions{Lease: m.duration("lease"), Progress: m.value("progress"), Checkpoint: m.value("checkpoint")}
		if do == "extend" {
			return raw(c.Extend(ctx, m.text("lease_token"), options))
		}
		results, err := c.ExtendMany(ctx, m.texts("lease_tokens"), options)
		return shownAll(results, err, ended)
	case "release":
		return raw(c.Release(ctx, m.text("lease_token"), m.duration("delay")))
	case "release_many":
		results, err := c.ReleaseMany(ctx, m.texts("lease_tokens"), m.duration("delay"))
		return shownAll(results, err, ended)
	case "hold_leased":
		return raw(c.HoldLeased(ctx, m.text("lease_token")))
	case "get":
		if m.has("wait") {
			return raw(c.Wait(ctx, m.which(), m.duration("wait")))
		}
		return raw(c.Get(ctx, m.which()))
	case "cancel":
		if string(m["running"]) == "true" {
			return raw(c.CancelRunning(ctx, m.which()))
		}
		return raw(c.Cancel(ctx, m.which()))
	case "move":
		which := m.which()
		return raw(c.Move(ctx, which, m.changes()))
	case "fire":
		return raw(c.Fire(ctx, m.id()))
	case "hold":
		return raw(c.Hold(ctx, m.id()))
	case "kick":
		return raw(c.Kick(ctx, m.id()))
	case "discard":
		return raw(c.Discard(ctx, m.id()))
	case "commit":
		return raw(c.Commit(ctx, m.id()))
	case "rollback":
		return raw(c.Rollback(ctx, m.id()))
	case "list":
		queue := m.text("queue")
		options := duewheel.ListOptions{State: m.text("state")}
		if m.has("page") {
			must(json.Unmarshal(m["page"], &options.Page))
		}
		all, failure := []any{}, error(nil)
		c.List(ctx, queue, options)(func(message *duewheel.Message, err error) bool {
			if failure = err; err == nil {
				all = append(all, message.Raw)
			}
			return true
		})
		return map[string]any{"messages": all}, failure
	case "set_queue":
		var settings duewheel.QueueSettings
		m.fill(&settings)
		return raw(c.SetQueue(ctx, m.text("queue"), settings))
	case "get_queue":
		return raw(c.GetQueue(ctx, m.text("queue")))
	case "change_queue":
		queue := m.text("queue")
		return raw(c.ChangeQueue(ctx, queue, m.changes()))
	case "back_off_group":
		return c.BackOffGroup(ctx, m.text("queue"), m.text("group"), m.duration("for"))
	case "set_schedule":
		var settings duewheel.ScheduleSettings
		m.fill(&settings)
		return c.SetSchedule(ctx, m.text("schedule"), m.data(), settings)
	case "set_watchdog":
		var settings duewheel.WatchdogSettings
		m.fill(&settings)
		return c.SetWatchdog(ctx, m.text("watchdog"), m.data(), settings)
	case "feed_watchdog":
		return c.FeedWatchdog(ctx, m.text("watchdog"))
	case "advance":
		_, err := c.Advance(ctx, m.duration("by"))
		return map[string]any{"state": "test"}, err
	case "work":
		return struct{}{}, a.work(c, m)
	case "handled":
		return w.handled(), nil
	case "finish_work":
		w.finish()
		return struct{}{}, nil
	case "stop_work":
		timeout := 25 * time.Second
		if m.has("timeout") {
			timeout = m.duration("timeout")
		}
		w.worker.Stop(timeout)
		return struct{}{}, nil
	}
	return named(ctx, c, do, m)
}

// named makes the calls on queues, schedules and watchdogs that have no method of their own.
func named(ctx context.Context, c *duewheel.Client, do string, m members) (any, error) {
	verb, kind, found := strings.Cut(do, "_")
	if !found {
		kind = "queue"
	}
	path := "/" + kind + "s/" + url.PathEscape(m.text(kind))
	method, ok := map[string]string{"change": http.MethodPatch, "get": http.MethodGet, "delete": http.MethodDelete}[verb]
	if !ok {
		method, path = http.MethodPost, path+":"+verb
	}
	var value any
	if verb == "preview" {
		method = http.MethodGet
		if m.has("count") {
			path += "?count=" + string(m["count"])
		}
	} else if changes := m.changes(); changes != nil {
		value = changes
	}
	var answer any
	err := c.Call(ctx, method, path, value, &answer)
	return answer, err
}

func (a *adapter) connect(name string, m members) error {
	var options []duewheel.Option
	if m.has("token") {
		options = append(options, duewheel.WithToken(m.text("token")))
	}
	if m.has("namespace") {
		options = append(options, duewheel.WithNamespace(m.text("namespace")))
	}
	if m.has("timeout") {
		options = append(options, duewheel.WithTimeout(m.duration("timeout")))
	}
	if m.has("ca") {
		pem, err := os.ReadFile(m.text("ca"))
		must(err)
		options = append(options, duewheel.WithCA(pem))
	}
	if m.has("codec") {
		options = append(options, duewheel.WithCodec(flip(m.text("codec"))))
	}
	client, err := duewheel.New(m.text("url"), options...)
	a.mu.Lock()
	defer a.mu.Unlock()
	if name == "client" { // a new scenario: end the workers of the one before, whose handlers may wait for ever
		for _, w := range a.works {
			w.finish()
			go w.worker.Stop(0)
		}
		a.works = map[string]*work{}
	}
	if err == nil {
		a.clients[name] = client
	}
	return err
}

// flip is the codec of the scenarios with this name.
type flip string

func (f flip) Name() string { return string(f) }

func (f flip) Encode(data []byte) ([]byte, error) {
	flipped := make([]byte, len(data))
	for i, each := range data {
		flipped[i] = each ^ 0x5a
	}
	return flipped, nil
}

func (f flip) Decode(data []byte) ([]byte, error) {
	flipped, _ := f.Encode(data)
	if bytes.IndexByte(flipped, 0xff) >= 0 {
		return nil, errors.New("0xff")
	}
	return flipped, nil
}

// work is a worker whose handler follows a script, and what it has seen.
type work struct {
	worker   *duewheel.Worker
	outcomes []members
	released chan struct{}
	once     sync.Once

	mu      sync.Mutex
	entries []*entry
	running int
}

type entry struct {
	ID         duewheel.ID     `json:"id"`
	Data       any             `json:"data"`
	Attempt    int64           `json:"attempt"`
	Group      string          `json:"group"`
	Checkpoint json.RawMessage `json:"checkpoint"`
	Cancelled  bool            `json:"cancelled"`
}

func (a *adapter) work(c *duewheel.Client, m members) error {
	w := &work{released: make(chan struct{})}
	must(json.Unmarshal(m["outcomes"], &w.outcomes))
	options := []duewheel.HandleOption{}
	if m.has("lease") {
		options = append(options, duewheel.LeaseFor(m.duration("lease")))
	}
	if m.has("concurrency") {
		var count int
		must(json.Unmarshal(m["concurrency"], &count))
		options = append(options, duewheel.Concurrency(count))
	}
	name := m.text("worker")
	w.worker = duewheel.NewWorker(c, duewheel.WorkerOptions{Name: name})
	duewheel.HandleResult(w.worker, duewheel.NewQueue[any](c, m.text("queue")), w.handle, options...)
	a.mu.Lock()
	a.works[name] = w
	a.mu.Unlock()
	return w.worker.Start(context.Background())
}

func (w *work) finish() { w.once.Do(func() { close(w.released) }) }

func (w *work) handled() any {
	w.mu.Lock()
	defer w.mu.Unlock()
	messages := make([]entry, len(w.entries))
	for i, each := range w.entries {
		messages[i] = *each
	}
	return map[string]any{"messages": messages, "running": w.running}
}

func (w *work) handle(ctx context.Context, job *duewheel.Job[any]) (any, error) {
	w.mu.Lock()
	nth := 0
	for _, each := range w.entries {
		if each.ID == job.ID {
			nth++
		}
	}
	seen := &entry{ID: job.ID, Data: job.Data, Attempt: job.Attempt, Group: job.Group, Checkpoint: job.Checkpoint}
	w.entries = append(w.entries, seen)
	w.running++
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.running--
		w.mu.Unlock()
	}()
	for verb, value := range w.outcomes[min(nth, len(w.outcomes)-1)] {
		return w.follow(ctx, job, seen, verb, value)
	}
	return nil, errors.New("the outcome is empty")
}

func (w *work) follow(ctx context.Context, job *duewheel.Job[any], seen *entry, verb string, value json.RawMessage) (any, error) {
	switch verb {
	case "checkpoint":
		var parts [2]json.RawMessage
		must(json.Unmarshal(value, &parts))
		job.Progress(0.5, parts[0])
		var next map[string]json.RawMessage
		must(json.Unmarshal(parts[1], &next))
		for verb, value := range next {
			return w.follow(ctx, job, seen, verb, value)
		}
	case "return":
		if string(value) == "null" {
			return nil, nil
		}
		return value, nil
	case "return_what_is_no_json":
		return func() {}, nil
	case "raise":
		return nil, errors.New(unquoted(value))
	case "retry":
		return nil, duewheel.RetryAfter(duration(unquoted(value)))
	case "snooze":
		return nil, duewheel.Snooze(duration(unquoted(value)))
	case "dead":
		return nil, duewheel.Dead(unquoted(value))
	case "take":
		time.Sleep(duration(unquoted(value)))
		return nil, nil
	case "progress":
		job.Progress(0.5, value)
	case "compute": // never gives up its thread by itself
		for sum := 0; ; sum++ {
			select {
			case <-w.released:
				return nil, nil
			default:
			}
		}
	}
	select {
	case <-w.released:
	case <-ctx.Done():
		w.mu.Lock()
		seen.Cancelled = true
		w.mu.Unlock()
		if verb != "ignore_cancel" {
			return nil, errors.New("cancelled")
		}
		<-w.released
	}
	return value, nil
}

// raw is the answer to a call as the server sent it.
func raw[T any, P interface{ *T }](answer P, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return reflect.ValueOf(answer).Elem().FieldByName("Raw").Interface(), nil
}

func ended(r duewheel.LeaseResult) (any, error) { return raw(r.Outcome, r.Err) }

func shownAll[T any](results []T, err error, show func(T) (any, error)) (any, error) {
	all := make([]any, len(results))
	for i, result := range results {
		answer, refusal := show(result)
		if all[i] = answer; refusal != nil {
			all[i] = map[string]any{"error": shown(refusal)}
		}
	}
	return map[string]any{"results": all}, err
}

// shown is an error in the protocol; nil if it is none of a call.
func shown(err error) map[string]any {
	var failure *duewheel.Error
	if !errors.As(err, &failure) {
		return nil
	}
	all := map[string]any{"family": families[failure.Family], "code": failure.Code, "detail": failure.Detail}
	if failure.Field != "" {
		all["field"] = failure.Field
	}
	if failure.Outcome != "" {
		all["outcome"] = failure.Outcome
	}
	return all
}

func unquotedOr(value json.RawMessage) string {
	if value == nil {
		return ""
	}
	return unquoted(value)
}

type request struct {
	ID     int64   `json:"id"`
	Do     string  `json:"do"`
	Client string  `json:"client"`
	With   members `json:"with"`
}

func (a *adapter) answer(asked request) {
	answer := map[string]any{"id": asked.ID}
	defer func() {
		if panicked := recover(); panicked != nil {
			answer["failed"] = fmt.Sprint(panicked)
		}
		line, err := json.Marshal(answer)
		must(err)
		a.output.Lock()
		defer a.output.Unlock()
		os.Stdout.Write(append(line, '\n'))
	}()
	result, err := a.carryOut(asked.Do, asked.Client, asked.With)
	switch {
	case err == nil:
		answer["ok"] = result
	case shown(err) != nil:
		answer["error"] = shown(err)
	default:
		answer["failed"] = err.Error()
	}
}

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	a := &adapter{clients: map[string]*duewheel.Client{}, works: map[string]*work{}}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var asked request
		must(json.Unmarshal(lines.Bytes(), &asked))
		go a.answer(asked)
	}
}
