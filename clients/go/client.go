// Package duewheel is a client of Duewheel, a durable server for delayed and recurring messages, and workers that handle them.
//
// Every call is safe to repeat, and is repeated when its response is lost: a put without a key gets a random one. README.md has examples.
package duewheel

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// Client calls one server, or the nodes that it redirects to. It is safe for use by several goroutines, and keeps its connections.
// Connections do not go through the proxy of the environment.
type Client struct {
	origin, base, token string
	timeout             time.Duration
	codec               Codec // nil: none
	aroundPut           []PutMiddleware
	http                *http.Transport
	checked             atomic.Bool // whether the server is one that this client understands
}

// Option is a setting of a client.
type Option func(*Client) error

// WithToken sets an access token, "dw_...".
func WithToken(token string) Option {
	return func(c *Client) error { c.token = token; return nil }
}

// WithNamespace makes all calls in a namespace other than "default".
func WithNamespace(name string) Option {
	return func(c *Client) error { c.base = "/v1/namespaces/" + segment(name); return nil }
}

// WithTimeout sets the deadline of each call with all its attempts, 30 s by default. The deadline of the context counts too. A call that
// waits at the server has that time in addition.
func WithTimeout(timeout time.Duration) Option {
	return func(c *Client) error { c.timeout = timeout; return nil }
}

// WithCA sets the certificate, as PEM, of the authority that signs the server's certificate. By default those of the system are trusted.
func WithCA(pem []byte) Option {
	return func(c *Client) error {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return &Error{Family: ErrInvalid, Code: "bad_certificate", Detail: "there is no certificate in this PEM", Field: "ca"}
		}
		c.http.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		return nil
	}
}

// New makes a client of the server at a URL such as http://127.0.0.1:7420. It does not connect yet.
func New(address string, options ...Option) (*Client, error) {
	parsed, err := url.Parse(address)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Hostname() == "" {
		return nil, &Error{Family: ErrInvalid, Code: "bad_url", Detail: fmt.Sprintf("`%s` is no URL of a server: write it as http://127.0.0.1:7420", address), Field: "url", cause: err}
	}
	c := &Client{origin: parsed.Scheme + "://" + parsed.Host, base: "/v1", timeout: 30 * time.Second}
	c.http = &http.Transport{DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, MaxIdleConnsPerHost: 100,
		IdleConnTimeout: 50 * time.Second, DisableCompression: true}
	for _, option := range options {
		if err := option(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Close closes the kept connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call makes any call of the HTTP API, by method and path below /v1 or the namespace: a way to what has no method here. value, unless it is
// nil, is sent as JSON, in which durations and instants become text. The answer is stored in the value that answer points to, unless it is nil.
func (c *Client) Call(ctx context.Context, method, path string, value, answer any) error {
	call := request{method: method, path: c.base + path}
	if value != nil {
		members := membersOf(value)
		if err := c.seal(members); err != nil {
			return err
		}
		text, err := encode(members)
		if err != nil {
			return badData("the request cannot be written as JSON: "+err.Error(), err)
		}
		call.body = func(time.Duration) []byte { return text }
	}
	return c.fetch(ctx, call, answer)
}

func (c *Client) fetch(ctx context.Context, call request, answer any) error {
	body, err := c.send(ctx, call)
	if err != nil || answer == nil {
		return err
	}
	return decode(body, answer)
}

// decode reads an answer of the server, or a part of one.
func decode(data []byte, answer any) error {
	if err := json.Unmarshal(data, answer); err != nil {
		return unavailable("not_duewheel", "the answer is not what this client expects: "+err.Error(), err)
	}
	if keeping, ok := answer.(interface{ keep(json.RawMessage) }); ok {
		keeping.keep(data)
	}
	return nil
}

// raw is the object that the server sent.
type raw struct {
	Raw json.RawMessage `json:"-"` // with members that are newer than this client
}

func (r *raw) keep(data json.RawMessage) { r.Raw = data }

// Clock is the time of the server.
type Clock struct {
	ServerTimeMS int64  `json:"server_time_ms"`
	State        string `json:"state"`
}

// Now is the time of the server.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	var clock Clock
	err := c.fetch(ctx, request{method: http.MethodGet, path: "/v1/clock"}, &clock)
	return instantOf(clock.ServerTimeMS), err
}

// Advance moves the time of a server that was started with --test-clock.
func (c *Client) Advance(ctx context.Context, by time.Duration) (Clock, error) {
	var clock Clock
	body := []byte(fmt.Sprintf(`{"by":%q}`, durationText(by)))
	err := c.fetch(ctx, request{method: http.MethodPost, path: "/v1/clock:advance", body: func(time.Duration) []byte { return body }}, &clock)
	return clock, err
}
