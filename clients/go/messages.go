package duewheel

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"time"
)

// Which names a message: an ID, or a Keyed.
type Which interface {
	place() (path string, query map[string]any)
}

// ID is the id of a message.
type ID string

// Keyed names the message that was put into a queue with a key.
type Keyed struct{ Queue, Key string }

func (id ID) place() (string, map[string]any) {
	return "/messages/" + segment(string(id)), map[string]any{}
}

func (k Keyed) place() (string, map[string]any) {
	return "/messages", map[string]any{"queue": k.Queue, "key": k.Key}
}

// PutOption sets members of a put. Any function of this type is one, so each member can be set:
// func(p *duewheel.PutOptions) { p.Held = true }.
type PutOption func(*PutOptions)

// In makes the message due after a time.
func In(delay time.Duration) PutOption { return func(p *PutOptions) { p.Delay = delay } }

// At makes the message due at an instant.
func At(due time.Time) PutOption { return func(p *PutOptions) { p.Due = due } }

// Key names the put: the same put with the same key is one message, and Cancel and Move find it.
func Key(key string) PutOption { return func(p *PutOptions) { p.Key = key } }

// OnKey says what happens if the queue has an unfinished message with the key: "once", "keep" or "replace".
func OnKey(what string) PutOption { return func(p *PutOptions) { p.OnKey = what } }

// Priority orders due messages: smaller values are delivered first.
func Priority(priority int) PutOption {
	return func(p *PutOptions) { p.Priority = Int(int64(priority)) }
}

// OrderKey makes messages with the same order key be delivered one after the other.
func OrderKey(key string) PutOption { return func(p *PutOptions) { p.OrderKey = key } }

// Group makes the message one of a group of its queue: the groups take turns.
func Group(name string) PutOption { return func(p *PutOptions) { p.Group = name } }

// Header adds a header.
func Header(name, value string) PutOption {
	return func(p *PutOptions) {
		p.Headers = maps.Clone(p.Headers)
		if p.Headers == nil {
			p.Headers = map[string]string{}
		}
		p.Headers[name] = value
	}
}

// ExpiresIn ends the message if it has not been leased within this time.
func ExpiresIn(after time.Duration) PutOption { return func(p *PutOptions) { p.ExpiresIn = after } }

// Retries is the rule by which failed attempts are repeated.
func Retries(rule RetryRule) PutOption { return func(p *PutOptions) { p.Retry = &rule } }

// Recurring makes the message a recurring one.
func Recurring(repeat Repeat) PutOption { return func(p *PutOptions) { p.Repeat = &repeat } }

// Int is for optional numbers, such as RetryRule{Attempts: Int(5)}.
func Int(value int64) *int64 { return &value }

// Put is one message of PutMany.
type Put struct {
	Data    any
	Options []PutOption
}

// body is the put as JSON. A put without a key gets another one each time, so it is made once for all attempts.
func (p Put) body(c *Client) ([]byte, error) {
	var options PutOptions
	for _, option := range p.Options {
		option(&options)
	}
	if options.Key == "" {
		options.Key = newKey()
	}
	members := membersOf(options)
	if err := setContent(members, p.Data); err != nil {
		return nil, err
	}
	if err := c.seal(members); err != nil {
		return nil, err
	}
	text, err := encode(members)
	if err != nil {
		return nil, badData("the put cannot be written as JSON: "+err.Error(), err)
	}
	return text, nil
}

func newKey() string {
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic("duewheel: the system has no random numbers: " + err.Error())
	}
	return hex.EncodeToString(random[:])
}

// Put puts a message: a string as text, []byte as bytes, anything else as JSON (a json.RawMessage as it is). Without a key it gets a random
// one, so that it is put once even if its response is lost.
func (c *Client) Put(ctx context.Context, queue string, data any, options ...PutOption) (*Receipt, error) {
	text, err := Put{data, options}.body(c)
	if err != nil {
		return nil, err
	}
	put := &Outgoing{Queue: queue, Count: 1}
	results, err := c.surround(ctx, put, func(ctx context.Context) ([]PutResult, error) {
		receipt := new(Receipt)
		call := request{method: http.MethodPost, path: c.base + "/queues/" + segment(queue) + "/messages", traceparent: put.Traceparent,
			body: func(time.Duration) []byte { return text }}
		if err := c.fetch(ctx, call, receipt); err != nil {
			return nil, err
		}
		return []PutResult{{Receipt: receipt}}, nil
	})
	if err != nil {
		return nil, err
	}
	return results[0].Receipt, results[0].Err
}

// PutResult is what became of a put of a batch: its receipt, or the error that refused it.
type PutResult struct {
	*Receipt
	Err error
}

// PutMany puts up to 1,000 messages with one request. The results are in the order of the puts.
func (c *Client) PutMany(ctx context.Context, queue string, puts []Put) ([]PutResult, error) {
	var lines bytes.Buffer
	for _, put := range puts {
		text, err := put.body(c)
		if err != nil {
			return nil, err
		}
		lines.Write(text)
		lines.WriteByte('\n')
	}
	put := &Outgoing{Queue: queue, Count: len(puts)}
	return c.surround(ctx, put, func(ctx context.Context) ([]PutResult, error) {
		return c.putLines(ctx, request{method: http.MethodPost, path: c.base + "/queues/" + segment(queue) + "/messages:batch", kind: "application/x-ndjson",
			traceparent: put.Traceparent, body: func(time.Duration) []byte { return lines.Bytes() }}, len(puts))
	})
}

func (c *Client) putLines(ctx context.Context, call request, count int) ([]PutResult, error) {
	body, err := c.send(ctx, call)
	if err != nil {
		return nil, err
	}
	results := make([]PutResult, 0, count)
	for _, line := range bytes.Split(bytes.TrimSpace(body), []byte("\n")) {
		if refusal := problemOf(line); refusal != nil {
			results = append(results, PutResult{Err: refusal})
			continue
		}
		receipt := new(Receipt)
		if err := decode(line, receipt); err != nil {
			return nil, err
		}
		results = append(results, PutResult{Receipt: receipt})
	}
	return results, nil
}

// Get shows a message.
func (c *Client) Get(ctx context.Context, which Which) (*Message, error) { return c.get(ctx, which, 0) }

const waitMax = time.Minute // of one request

// Wait waits for the end of the message, and returns it with its Result; after the timeout, as it is then. A timeout of 0 is that of ctx.
func (c *Client) Wait(ctx context.Context, which Which, timeout time.Duration) (*Message, error) {
	end := time.Now().Add(timeout)
	for {
		step := waitMax
		if timeout > 0 {
			step = max(0, min(step, time.Until(end)))
		}
		message, err := c.get(ctx, which, step)
		if err != nil || message.HasEnded() || (timeout > 0 && time.Now().After(end)) {
			return message, err
		}
	}
}

func (c *Client) get(ctx context.Context, which Which, wait time.Duration) (*Message, error) {
	path, members := which.place()
	if wait > 0 {
		members["wait"] = durationText(wait)
	}
	message := new(Message)
	if err := c.fetch(ctx, request{method: http.MethodGet, path: c.base + path + query(members), wait: wait}, message); err != nil {
		return nil, err
	}
	c.open(&message.content, message.ID, message.Headers)
	return message, nil
}

// HasEnded says whether the message is done, cancelled, expired or dead.
func (f *Message) HasEnded() bool {
	switch f.State {
	case "done", "cancelled", "expired", "dead":
		return true
	}
	return false
}

// Outcome is what a call made of a message.
type Outcome struct {
	raw
	Outcome         string `json:"outcome"`
	State           string `json:"state"`
	CancelRequested bool   `json:"cancel_requested"` // the worker should stop
}

// Cancel cancels a message that no worker has.
func (c *Client) Cancel(ctx context.Context, which Which) (*Outcome, error) {
	path, members := which.place()
	return fetched[Outcome](ctx, c, http.MethodDelete, path+query(members), nil)
}

// CancelRunning cancels a message. If a worker has it, the worker is asked to stop, and the outcome is "cancelling".
func (c *Client) CancelRunning(ctx context.Context, which Which) (*Outcome, error) {
	path, members := which.place()
	members["running"] = true
	return fetched[Outcome](ctx, c, http.MethodDelete, path+query(members), nil)
}

// Move changes the due time of a message ("delay" or "due"), or other members of its put.
func (c *Client) Move(ctx context.Context, which Which, changes Changes) (*Outcome, error) {
	path, members := which.place()
	return fetched[Outcome](ctx, c, http.MethodPatch, path+query(members), changes)
}

// Fire makes a scheduled message due now.
func (c *Client) Fire(ctx context.Context, id ID) (*Outcome, error) { return c.act(ctx, id, "fire") }

// Hold holds a message until it is kicked.
func (c *Client) Hold(ctx context.Context, id ID) (*Outcome, error) { return c.act(ctx, id, "hold") }

// Kick returns a held message or a dead letter to its queue.
func (c *Client) Kick(ctx context.Context, id ID) (*Outcome, error) { return c.act(ctx, id, "kick") }

// Discard ends a held message or a dead letter for good.
func (c *Client) Discard(ctx context.Context, id ID) (*Outcome, error) {
	return c.act(ctx, id, "discard")
}

// Commit commits a prepared message: it is delivered when it is due.
func (c *Client) Commit(ctx context.Context, id ID) (*Outcome, error) {
	return c.act(ctx, id, "commit")
}

// Rollback ends a prepared message; it is not delivered.
func (c *Client) Rollback(ctx context.Context, id ID) (*Outcome, error) {
	return c.act(ctx, id, "rollback")
}

func (c *Client) act(ctx context.Context, id ID, verb string) (*Outcome, error) {
	return fetched[Outcome](ctx, c, http.MethodPost, "/messages/"+segment(string(id))+":"+verb, nil)
}

// Prepare puts a message that is delivered only after Commit. If this process dies before it commits or rolls back, the server asks with a
// message in check.Queue what became of it, which HandleChecks answers; without an answer the message is rolled back.
func (c *Client) Prepare(ctx context.Context, queue string, data any, check CheckBack, options ...PutOption) (*Receipt, error) {
	prepared := func(p *PutOptions) { p.Transaction = &Transaction{CheckBack: &check, Otherwise: "rollback"} }
	return c.Put(ctx, queue, data, append([]PutOption{prepared}, options...)...)
}

// ListOptions choose messages of a list. Fields that are zero are absent.
type ListOptions struct {
	State string `json:"state"` // "dead": the dead letters
	Page  int    `json:"limit"` // how many messages one request returns, by default 100
}

// List calls yield with the unfinished messages of a queue by due time, page by page, until it returns false. An error ends the list. From
// Go 1.23 on: for message, err := range client.List(ctx, "mail", duewheel.ListOptions{}).
func (c *Client) List(ctx context.Context, queue string, options ListOptions) func(yield func(*Message, error) bool) {
	return func(yield func(*Message, error) bool) {
		parameters := membersOf(options)
		for {
			var page struct {
				Messages []json.RawMessage `json:"messages"`
				Cursor   string            `json:"cursor"`
			}
			if err := c.Call(ctx, http.MethodGet, "/queues/"+segment(queue)+"/messages"+query(parameters), nil, &page); err != nil {
				yield(nil, err)
				return
			}
			for _, each := range page.Messages {
				message := new(Message)
				err := decode(each, message)
				c.open(&message.content, message.ID, message.Headers)
				if !yield(message, err) || err != nil {
					return
				}
			}
			if page.Cursor == "" {
				return
			}
			parameters["cursor"] = page.Cursor
		}
	}
}

// fetched is the answer to a call as a T.
func fetched[T any](ctx context.Context, c *Client, method, path string, value any) (*T, error) {
	answer := new(T)
	if err := c.Call(ctx, method, path, value, answer); err != nil {
		return nil, err
	}
	return answer, nil
}
