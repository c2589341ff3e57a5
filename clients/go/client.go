// Package authbroker gets access tokens from AuthBroker, the daemon that keeps login sessions for the programs of a
// user.
//
// It speaks the broker's JSON-RPC interface over its Unix socket and needs nothing but the standard library. A Client
// connects at its first call, starts the broker where there is none, and connects again where the broker was
// restarted. It is safe for concurrent use.
package authbroker

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Client talks to one broker. The zero value is no client; New makes one.
type Client struct {
	location Location
	// proving is held while a proof is given, so that calls of one connection do not disturb each other's.
	proving sync.Mutex
	// connecting is held by who connects; a channel, so that waiting for it ends with a context.
	connecting chan struct{}

	mutex   sync.Mutex
	current *connection
	closed  bool
}

// repeatable are the methods that are called once more where the broker has ended before the answer: they change
// nothing that a second call would change again.
var repeatable = map[string]bool{"initialize": true, "ping": true, "rpc.discover": true, "getAccessToken": true,
	"reportRejected": true, "getIdToken": true, "createProof": true, "awaitLogin": true, "listPendingLogins": true,
	"getCurrentUser": true, "getSession": true, "listSessions": true, "listTargets": true, "getStatus": true,
	"checkVault": true, "lock": true, "subscribe": true}

// New returns a client of the broker that the location describes; Location{} is the usual one of this user. Nothing is
// connected yet.
func New(location Location) *Client {
	return &Client{location: location, connecting: make(chan struct{}, 1)}
}

// Close ends the connection; calls that wait fail, and later ones too. Subscriptions have connections of their own.
func (c *Client) Close() {
	c.mutex.Lock()
	c.closed = true
	connection := c.current
	c.mutex.Unlock()
	if connection != nil {
		connection.close()
	}
}

// Call calls any method of the broker. params is anything that becomes a JSON object, or nil; result is what the
// result is read into as by encoding/json, or nil. A json.RawMessage keeps it as it came; it may hold a token then.
//
// An error is always an *Error, never with a secret in it. When the context ends first, the broker is told
// ($/cancelRequest); one without a deadline ends after a minute, later for methods that may take longer. Methods for
// which the broker wants proof of access to its state directory get it.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	text, failure := c.call(ctx, method, params)
	if failure != nil {
		return failure
	}
	if result != nil && json.Unmarshal(text, result) != nil {
		return unexpectedAnswer("the result of " + method)
	}
	return nil
}

// call calls a method, once more at another broker where that does no harm.
func (c *Client) call(ctx context.Context, method string, params any) (json.RawMessage, *Error) {
	ctx, stop := limited(ctx, method, params)
	defer stop()
	again := repetition{method: method}
	for {
		text, failure := c.once(ctx, method, params)
		if failure == nil || !again.follows(ctx, failure) {
			return text, failure
		}
	}
}

// How long an answer is waited for where the context has no deadline: a minute, which is more than any method takes by
// itself, and more for those that may ask a person for a key, look through a whole vault or wait for a login elsewhere.
const usualLimit = time.Minute

var longerLimits = map[string]time.Duration{"unlock": 11 * time.Minute, "rekey": 11 * time.Minute,
	"checkVault": 11 * time.Minute, "awaitLogin": time.Hour}

// answerTime is how much longer than the broker's own time limit its answer is waited for: it is on this machine.
const answerTime = 5 * time.Second

// limited returns a context with a deadline: its own, or the usual one of a method, or that of the request's
// timeoutSeconds.
func limited(ctx context.Context, method string, params any) (context.Context, context.CancelFunc) {
	if _, isLimited := ctx.Deadline(); isLimited {
		return ctx, func() {}
	}
	limit := usualLimit
	if longer, known := longerLimits[method]; known {
		limit = longer
	}
	var own struct {
		Seconds float64 `json:"timeoutSeconds"`
	}
	if text, err := json.Marshal(params); err == nil && json.Unmarshal(text, &own) == nil && own.Seconds > 0 {
		limit = max(limit, time.Duration(own.Seconds*float64(time.Second))+answerTime)
	}
	return context.WithTimeout(ctx, limit)
}

// max returns the longer of two lengths of time.
func max(one, other time.Duration) time.Duration {
	if one > other {
		return one
	}
	return other
}

// once calls a method on the present connection, which takes no more calls where the broker is about to end.
func (c *Client) once(ctx context.Context, method string, params any) (json.RawMessage, *Error) {
	connection, failure := c.connection(ctx)
	if failure != nil {
		return nil, failure
	}
	text, failure := c.proven(ctx, connection, method, params)
	if failure != nil && failure.hasEnded() {
		connection.retire()
	}
	return text, failure
}

// proven calls a method, with a proof where the broker wants one.
func (c *Client) proven(
	ctx context.Context, connection *connection, method string, params any,
) (json.RawMessage, *Error) {
	text, failure := connection.call(ctx, method, params)
	if failure == nil || !failure.wantsProof(method, params) {
		return text, failure
	}
	c.proving.Lock()
	refusal := failure.proof.give(ctx, connection, c.location.state())
	c.proving.Unlock()
	switch {
	case refusal == nil:
	case refusal.Kind == "accessDenied" && failure.Kind != "accessDenied":
		// What another login would let pass keeps its own error.
		return nil, failure
	default:
		return nil, refusal
	}
	return connection.call(ctx, method, params)
}

// connection returns the connection, a new one where there is none or the last one has ended.
func (c *Client) connection(ctx context.Context) (*connection, *Error) {
	if connection, failure := c.present(); connection != nil || failure != nil {
		return connection, failure
	}
	select {
	case c.connecting <- struct{}{}:
		defer func() { <-c.connecting }()
	case <-ctx.Done():
		return nil, ended(ctx)
	}
	if connection, failure := c.present(); connection != nil || failure != nil {
		return connection, failure
	}
	socket, err := c.location.dial(ctx, true)
	if err != nil {
		return nil, err.(*Error)
	}
	connection := newConnection(socket, nil)
	c.mutex.Lock()
	c.current = connection
	closed := c.closed
	c.mutex.Unlock()
	if closed {
		connection.close()
	}
	return connection, nil
}

// present returns the connection that is there; nil if there is none.
func (c *Client) present() (*connection, *Error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return nil, invalidRequest("the client is closed")
	}
	if c.current == nil || c.current.isRefusing() {
		return nil, nil
	}
	return c.current, nil
}
