package duewheel

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// ManyMax is how many leases one request may end or extend.
const ManyMax = 1000

// LeaseOptions are those of a lease call. Fields that are zero are absent.
type LeaseOptions struct {
	Max    int           `json:"max"`    // messages, by default 1
	Min    int           `json:"min"`    // how many to wait for, by default 1
	Lease  time.Duration `json:"lease"`  // by default that of the queue
	Wait   time.Duration `json:"-"`      // how long to wait for messages
	Worker string        `json:"worker"` // a name, which the message shows
}

// Lease leases due messages. An attempt that follows a lost one waits for the rest of the time.
func (c *Client) Lease(ctx context.Context, queue string, options LeaseOptions) ([]*Lease, error) {
	body := func(passed time.Duration) []byte {
		members := membersOf(options)
		if left := options.Wait - passed; left > 0 {
			members["wait"] = durationText(left)
		} else {
			delete(members, "min")
		}
		text, _ := encode(members) // numbers and strings
		return text
	}
	var answer struct {
		Messages []json.RawMessage `json:"messages"`
	}
	call := request{method: http.MethodPost, path: c.base + "/queues/" + segment(queue) + ":lease", body: body, wait: options.Wait}
	if err := c.fetch(ctx, call, &answer); err != nil {
		return nil, err
	}
	leases := make([]*Lease, len(answer.Messages))
	for i, each := range answer.Messages {
		leases[i] = new(Lease)
		if err := decode(each, leases[i]); err != nil {
			return nil, err
		}
		c.open(&leases[i].content, leases[i].ID, leases[i].Headers)
	}
	return leases, nil
}

// DecodeCheckpoint stores what an earlier attempt said last; it is false if none said anything.
func (f *Lease) DecodeCheckpoint(target any) (bool, error) {
	if f.Checkpoint == nil {
		return false, nil
	}
	return true, json.Unmarshal(f.Checkpoint, target)
}

// FailOptions are those of a failed attempt. Fields that are zero are absent.
type FailOptions struct {
	RetryIn time.Duration `json:"retry_in"` // instead of the backoff of the retry rule
	Dead    bool          `json:"dead"`     // no further attempt
}

// ExtendOptions are those of an extension. Fields that are zero are absent.
type ExtendOptions struct {
	Lease      time.Duration `json:"lease"`      // from now on, by default that of the queue
	Progress   any           `json:"progress"`   // 0 to 1, or any JSON of up to 1 KiB
	Checkpoint any           `json:"checkpoint"` // any JSON, for the next attempt
}

// Ack ends the message as done. The result, unless it is nil, is any JSON of up to 64 KiB, which the producer gets with Wait.
func (c *Client) Ack(ctx context.Context, token string, result any) (*Outcome, error) {
	return c.end(ctx, token, "ack", ackMembers(result))
}

// Fail ends the attempt as failed: the outcome is "retrying", or "dead" after the last attempt.
func (c *Client) Fail(ctx context.Context, token, reason string, options FailOptions) (*Outcome, error) {
	return c.end(ctx, token, "fail", failMembers(reason, options))
}

// Extend makes the lease last from now on. The outcome has CancelRequested if the worker should stop.
func (c *Client) Extend(ctx context.Context, token string, options ExtendOptions) (*Outcome, error) {
	return c.end(ctx, token, "extend", extendMembers(options))
}

// Release returns the message to its queue after a delay, which may be 0. The attempt does not count.
func (c *Client) Release(ctx context.Context, token string, delay time.Duration) (*Outcome, error) {
	return c.end(ctx, token, "release", releaseMembers(delay))
}

// HoldLeased holds the message until it is kicked.
func (c *Client) HoldLeased(ctx context.Context, token string) (*Outcome, error) {
	return c.end(ctx, token, "hold", nil)
}

func (c *Client) end(ctx context.Context, token, verb string, members map[string]any) (*Outcome, error) {
	var value any
	if len(members) > 0 {
		value = members
	}
	return fetched[Outcome](ctx, c, http.MethodPost, "/leases/"+segment(token)+":"+verb, value)
}

// LeaseResult is what became of one of several leases.
type LeaseResult struct {
	*Outcome
	Err error
}

// AckMany, FailMany, ExtendMany and ReleaseMany end or extend up to ManyMax leases. The results are in the order of the tokens.
func (c *Client) AckMany(ctx context.Context, tokens []string, result any) ([]LeaseResult, error) {
	return c.many(ctx, anyOf(tokens), "ack", ackMembers(result))
}

// FailMany is Fail for several leases.
func (c *Client) FailMany(ctx context.Context, tokens []string, reason string, options FailOptions) ([]LeaseResult, error) {
	return c.many(ctx, anyOf(tokens), "fail", failMembers(reason, options))
}

// ExtendMany is Extend for several leases.
func (c *Client) ExtendMany(ctx context.Context, tokens []string, options ExtendOptions) ([]LeaseResult, error) {
	return c.many(ctx, anyOf(tokens), "extend", extendMembers(options))
}

// ReleaseMany is Release for several leases.
func (c *Client) ReleaseMany(ctx context.Context, tokens []string, delay time.Duration) ([]LeaseResult, error) {
	return c.many(ctx, anyOf(tokens), "release", releaseMembers(delay))
}

func anyOf(tokens []string) []any {
	leases := make([]any, len(tokens))
	for i, token := range tokens {
		leases[i] = token
	}
	return leases
}

// leaseWith is a lease in a request for many, with members for it alone.
func leaseWith(token string, members map[string]any) any {
	if len(members) == 0 {
		return token
	}
	lease := membersOf(members)
	lease["token"] = token
	return lease
}

// many ends or extends leases; the members are those of all that have none of their own.
func (c *Client) many(ctx context.Context, leases []any, verb string, members map[string]any) ([]LeaseResult, error) {
	value := map[string]any{"leases": leases}
	for name, each := range members {
		value[name] = each
	}
	var answer struct {
		Results []json.RawMessage `json:"results"`
	}
	if err := c.Call(ctx, http.MethodPost, "/leases:"+verb, value, &answer); err != nil {
		return nil, err
	}
	results := make([]LeaseResult, len(answer.Results))
	for i, each := range answer.Results {
		if refusal := problemOf(each); refusal != nil {
			results[i].Err = refusal
			continue
		}
		results[i].Outcome = new(Outcome)
		if err := decode(each, results[i].Outcome); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func ackMembers(result any) map[string]any {
	if result == nil {
		return nil
	}
	return map[string]any{"result": userJSON{result}}
}

func failMembers(reason string, options FailOptions) map[string]any {
	members := membersOf(options)
	if reason != "" {
		members["reason"] = shortened(reason)
	}
	return members
}

// shortened is what the server keeps of a reason, so that a long one is not too large for a request.
func shortened(reason string) string {
	const size, gap = 4096, " … "
	if reason = strings.ToValidUTF8(reason, "\ufffd"); len(reason) <= size {
		return reason
	}
	whole := func(part string) string { return strings.ToValidUTF8(part, "") } // without the rest of a character that was cut
	return whole(reason[:size/4]) + gap + whole(reason[len(reason)-(size-size/4-len(gap)):])
}

func extendMembers(options ExtendOptions) map[string]any {
	for _, said := range []*any{&options.Progress, &options.Checkpoint} {
		if *said != nil {
			*said = userJSON{*said}
		}
	}
	return membersOf(options)
}

func releaseMembers(delay time.Duration) map[string]any {
	if delay == 0 {
		return nil
	}
	return map[string]any{"delay": delay}
}

// userJSON is a value of the caller, which becomes JSON by its own rules and not by those of options.
type userJSON struct{ value any }

func (u userJSON) MarshalJSON() ([]byte, error) { return encode(u.value) }
