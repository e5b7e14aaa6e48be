package duewheel

import (
	"context"
	"errors"
)

// Outgoing is a put, or a batch of them, on its way to the server.
type Outgoing struct {
	Queue       string
	Count       int    // messages
	Traceparent string // of W3C Trace Context: the server stores it with each of the messages, and delivers it
}

// PutMiddleware is called in place of a put, calls it with next, and returns what it returns: for each message its receipt, or the error that
// refused it.
type PutMiddleware func(ctx context.Context, put *Outgoing, next func(context.Context) ([]PutResult, error)) ([]PutResult, error)

// WithPutMiddleware puts a middleware around each put and each batch of them, for logs or traces. The first one is the outermost.
func WithPutMiddleware(middleware PutMiddleware) Option {
	return func(c *Client) error { c.aroundPut = append(c.aroundPut, middleware); return nil }
}

// surround does what sends a put with all middleware around it.
func (c *Client) surround(ctx context.Context, put *Outgoing, send func(context.Context) ([]PutResult, error)) ([]PutResult, error) {
	next := send
	for i := len(c.aroundPut) - 1; i >= 0; i-- {
		middleware, inner := c.aroundPut[i], next
		next = func(ctx context.Context) ([]PutResult, error) { return middleware(ctx, put, inner) }
	}
	return next(ctx)
}

// OutcomeOf says in one word what the error of a handler makes of its message, for metrics: "done", "retry", "snooze", "dead", or "failed" for
// any other error.
func OutcomeOf(err error) string {
	var said *outcomeError
	switch {
	case err == nil:
		return "done"
	case !errors.As(err, &said):
		return "failed"
	case said.outcome.verb == "release":
		return "snooze"
	case said.outcome.members["dead"] == true:
		return "dead"
	}
	return "retry"
}
