package duewheel

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	backoffFirst = 50 * time.Millisecond
	backoffMax   = time.Second
	redirectsMax = 5
)

// request is one call with all its attempts.
type request struct {
	method, path string
	body         func(passed time.Duration) []byte // of an attempt that begins so long after the first one; nil: no body
	kind         string                            // the media type of the body; "": JSON
	traceparent  string                            // of W3C Trace Context; "": none
	wait         time.Duration                     // how long the server may wait by itself, in addition to the deadline of the call
}

// attempts is what one call does until it has an answer that another attempt does not improve, or until its deadline. The rules are those of
// all clients: clients/conformance/README.md.
type attempts struct {
	client    *Client
	request   request
	origin    string
	path      string
	began     time.Time
	deadline  time.Time
	backoff   time.Duration
	redirects int
}

// send returns the body of the successful answer.
func (c *Client) send(parent context.Context, request request) ([]byte, error) {
	now := time.Now()
	ctx, cancel := context.WithDeadline(parent, now.Add(c.timeout+request.wait))
	defer cancel()
	a := attempts{client: c, request: request, origin: c.origin, path: request.path, began: now, backoff: backoffFirst}
	a.deadline, _ = ctx.Deadline()
	for {
		answer, again, err := a.once(ctx)
		if err == nil || again == never {
			return answer, err
		}
		if parent.Err() == context.Canceled {
			return nil, fmt.Errorf("duewheel: %s %s: %w", request.method, request.path, context.Cause(parent))
		}
		pause := max(again, time.Duration(float64(a.backoff)*(0.5+rand.Float64()/2)))
		if time.Now().Add(pause).After(a.deadline) {
			return nil, err
		}
		a.backoff = min(2*a.backoff, backoffMax)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

const never = time.Duration(-1)

// once sends one attempt, which follows redirects. After an error, the next attempt follows after the backoff, at the earliest after `again`;
// or never.
func (a *attempts) once(ctx context.Context) (answer []byte, again time.Duration, err error) {
	for {
		status, header, body, err := a.checkedExchange(ctx)
		if CodeOf(err) == "unsupported_server" {
			return nil, never, err
		}
		if err != nil {
			var refused *tls.CertificateVerificationError
			if errors.As(err, &refused) {
				return nil, never, unavailable("bad_certificate", a.origin+": "+refused.Err.Error(), err)
			}
			lost := fmt.Sprintf("no response within %v; the last attempt: %s: %v", a.deadline.Sub(a.began).Round(time.Millisecond), a.origin, err)
			a.origin = a.client.origin
			return nil, 0, unavailable("deadline", lost, err)
		}
		if location := header.Get("Location"); status == http.StatusTemporaryRedirect && location != "" {
			if err := a.redirect(location); err != nil {
				return nil, never, err
			}
			continue
		}
		kind := header.Get("Content-Type")
		if status < 300 {
			if !strings.HasPrefix(kind, "application/json") && !strings.HasPrefix(kind, "application/x-ndjson") {
				return nil, never, a.notDuewheel(status, kind)
			}
			return body, 0, nil
		}
		refusal := problemOf(body)
		switch {
		case refusal == nil:
			return nil, never, a.notDuewheel(status, kind)
		case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == http.StatusInsufficientStorage:
			seconds, _ := strconv.Atoi(header.Get("Retry-After"))
			return nil, time.Duration(seconds) * time.Second, refusal
		}
		return nil, never, refusal
	}
}

// checkedExchange is exchange, before which the first call of a client asks for the version of the server.
func (a *attempts) checkedExchange(ctx context.Context) (int, http.Header, []byte, error) {
	if !a.client.checked.Load() {
		page := attempts{client: a.client, request: request{method: http.MethodGet}, origin: a.client.origin, path: "/readyz"}
		_, _, body, err := page.exchange(ctx)
		if err == nil {
			err = checkVersion(body, page.origin)
		}
		if err != nil {
			return 0, nil, nil, err
		}
		a.client.checked.Store(true)
	}
	return a.exchange(ctx)
}

// exchange is a request and its response, which came whole if there is no error.
func (a *attempts) exchange(ctx context.Context) (int, http.Header, []byte, error) {
	var content io.Reader
	if a.request.body != nil {
		content = bytes.NewReader(a.request.body(time.Since(a.began)))
	}
	sent, err := http.NewRequestWithContext(ctx, a.request.method, a.origin+a.path, content)
	if err != nil {
		return 0, nil, nil, err
	}
	if a.request.body != nil {
		kind := a.request.kind
		if kind == "" {
			kind = "application/json"
		}
		sent.Header.Set("Content-Type", kind)
	}
	if a.request.traceparent != "" {
		sent.Header.Set("Traceparent", a.request.traceparent)
	}
	if a.client.token != "" {
		sent.Header.Set("Authorization", "Bearer "+a.client.token)
	}
	received, err := a.client.http.RoundTrip(sent)
	if err != nil {
		return 0, nil, nil, err
	}
	defer received.Body.Close()
	body, err := io.ReadAll(received.Body)
	return received.StatusCode, received.Header, body, err
}

// redirect makes the next attempt go to another node.
func (a *attempts) redirect(location string) error {
	a.redirects++
	target, err := url.Parse(location)
	if err != nil || a.redirects > redirectsMax || (target.Scheme != "http" && target.Scheme != "https") {
		return unavailable("too_many_redirects", fmt.Sprintf("%s redirects to %s, and there were %d redirects", a.origin, location, a.redirects), err)
	}
	a.origin, a.path = target.Scheme+"://"+target.Host, target.RequestURI()
	return nil
}

func (a *attempts) notDuewheel(status int, kind string) *Error {
	return unavailable("not_duewheel", fmt.Sprintf("%s answered with status %d and `%s`: check the URL, it is no Duewheel server", a.origin, status, kind), nil)
}
