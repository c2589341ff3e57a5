package authbroker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// The kinds of errors that this package itself reports; those of the broker are in Schemas/errors.json.
const (
	// KindNoBroker: there is no broker to talk to, or it could not be started.
	KindNoBroker = "noBroker"
	// KindConnectionLost: the connection ended before the answer; whether the call had an effect is not known.
	KindConnectionLost = "connectionLost"
	// KindDeadlineExceeded: the deadline of the context, the package's own limit or the request's timeoutSeconds passed
	// before the answer; whether the broker says so or this package, it wraps context.DeadlineExceeded.
	KindDeadlineExceeded = "deadlineExceeded"
	// KindCancelled: the context was cancelled, or the broker was told so by this package.
	KindCancelled = "cancelled"
	// KindUnexpectedAnswer: the other end does not speak the broker's protocol.
	KindUnexpectedAnswer = "unexpectedAnswer"
	// KindInvalidRequest: the call cannot be made as it was given.
	KindInvalidRequest = "invalidRequest"
)

// ErrUnauthorized is what the function of WithAccessToken returns, or wraps, where a server rejected the token
// (HTTP status 401). Unauthorized is the same with what the server wants.
var ErrUnauthorized = errors.New("the server rejected the access token")

// Unauthorized wraps ErrUnauthorized, and says how a server rejected the token.
type Unauthorized struct {
	// Status is the HTTP status: 401, which 0 stands for, or 403.
	Status int
	// Challenge is the response's header WWW-Authenticate, several joined by commas; it may want more scopes.
	Challenge string
}

// Error says the same as ErrUnauthorized.
func (u *Unauthorized) Error() string { return ErrUnauthorized.Error() }

// Unwrap returns ErrUnauthorized.
func (u *Unauthorized) Unwrap() error { return ErrUnauthorized }

// Error is why a call has no result. Branch on Kind; show Error() to people. No text of it holds a secret.
type Error struct {
	// Code is that of JSON-RPC, or the broker's own; 0 for errors of this package.
	Code int
	// Kind is the stable name, such as loginRequired.
	Kind string
	// Message is one plain sentence.
	Message string
	// NextAction is login, verifyOtp, retry, wait, unlock, reauthenticate, fixRequest, fixConfig, contactProvider, askOwner,
	// useRequests or none.
	NextAction string
	// Retryable tells whether the same call may succeed later without anything being done.
	Retryable bool
	// RetryAfter is how long to wait before that; 0 where the broker does not say.
	RetryAfter time.Duration
	// Profile is the profile that it is about; empty where there is none.
	Profile string
	// Pointer names the parameter that is wrong (RFC 6901).
	Pointer string
	// Fields names the parameters that the provider did not take (kind validationFailed).
	Fields []string
	// AttemptsRemaining counts the tries that a challenge has left; nil where that does not apply.
	AttemptsRemaining *int
	// Challenge is the one that must be answered first (kind challengePending).
	Challenge *OTPChallenge
	// Scopes, ACRValues (authentication context classes) and MaxAge (how many seconds ago it may have been) are what the
	// next login asks for, as a server's challenge wants it (kind reauthRequired). The broker adds them itself.
	Scopes, ACRValues []string
	// MaxAge is nil where the challenge does not bound it.
	MaxAge *int
	// CorrelationID finds the case in the broker's log.
	CorrelationID string
	// Data is the member data of the broker's error as it came; nil for errors of this package.
	Data json.RawMessage

	proof *proof
	cause error
	// unsent tells that the broker has certainly not read the request.
	unsent bool
}

// Error returns the sentence, and what to do where the sentence does not say it.
func (e *Error) Error() string {
	switch e.NextAction {
	case "login", "reauthenticate":
		return e.Message + " Log in again."
	case "verifyOtp":
		return e.Message + " Answer the login's challenge."
	case "unlock":
		return e.Message + " Unlock the vault."
	}
	return e.Message
}

// Unwrap returns the context's own error for cancelled and deadlineExceeded.
func (e *Error) Unwrap() error { return e.cause }

// Kind returns the kind of an error of this package or of the broker; empty for any other error and for nil.
func Kind(err error) string {
	var known *Error
	if errors.As(err, &known) {
		return known.Kind
	}
	return ""
}

// NeedsLogin tells whether the user must log in, or answer a challenge, before the call can succeed.
func NeedsLogin(err error) bool {
	switch Kind(err) {
	case "loginRequired", "sessionExpired", "challengePending", "reauthRequired":
		return true
	}
	return false
}

// plain is text of another program, made fit for a terminal: control and format characters become question marks.
func plain(text string) string {
	return strings.Map(func(character rune) rune {
		if unicode.In(character, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp) {
			return '?'
		}
		return character
	}, text)
}

// wireError is the member error of a response (JSON-RPC 2.0, section 5.1).
type wireError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// read takes the data apart. Members that are missing, or of another type than expected, stay empty: the error itself
// must not get lost.
func (w *wireError) read() *Error {
	result := &Error{Code: w.Code, Message: plain(w.Message), Data: w.Data}
	var members map[string]json.RawMessage
	if json.Unmarshal(w.Data, &members) != nil {
		members = nil
	}
	take := func(name string, into any) {
		if text, found := members[name]; found {
			_ = json.Unmarshal(text, into)
		}
	}
	var seconds float64
	take("kind", &result.Kind)
	take("nextAction", &result.NextAction)
	take("retryable", &result.Retryable)
	take("retryAfterSeconds", &seconds)
	take("profile", &result.Profile)
	take("pointer", &result.Pointer)
	take("fields", &result.Fields)
	take("attemptsRemaining", &result.AttemptsRemaining)
	take("challenge", &result.Challenge)
	take("scopes", &result.Scopes)
	take("acrValues", &result.ACRValues)
	take("maxAge", &result.MaxAge)
	take("correlationId", &result.CorrelationID)
	take("proof", &result.proof)
	result.RetryAfter = time.Duration(seconds * float64(time.Second))
	switch result.Kind {
	case "":
		result.Kind = KindUnexpectedAnswer
	case KindDeadlineExceeded:
		result.cause = context.DeadlineExceeded
	}
	return result
}

// noBroker is the error of a connection that could not be made.
func noBroker(format string, arguments ...any) *Error {
	return &Error{Kind: KindNoBroker, NextAction: "none", Retryable: true, Message: fmt.Sprintf(format, arguments...)}
}

// connectionLost is the error of a call whose connection ended.
func connectionLost() *Error {
	return &Error{Kind: KindConnectionLost, NextAction: "retry", Retryable: true,
		Message: "the broker closed the connection before it answered"}
}

// unsent is connectionLost for a request that the broker has certainly not read.
func unsent() *Error {
	failure := connectionLost()
	failure.unsent = true
	return failure
}

// hasEnded tells whether this broker answers no more requests, so that the next one is to be asked.
func (e *Error) hasEnded() bool { return e.Kind == KindConnectionLost || e.Kind == "shuttingDown" }

// unexpectedAnswer is the error of an answer that cannot be read; what never quotes it.
func unexpectedAnswer(what string) *Error {
	return &Error{Kind: KindUnexpectedAnswer, NextAction: "none",
		Message: "the broker's answer is not what was expected: " + what}
}

// unknownTarget is the error of an address without a target, as the broker itself says it.
func unknownTarget() *Error {
	return &Error{Code: 1088, Kind: "unknownTarget", NextAction: "fixConfig",
		Message: "The configuration has no target for this address."}
}

// invalidRequest is the error of a call that cannot be made as it was given.
func invalidRequest(what string) *Error {
	return &Error{Kind: KindInvalidRequest, NextAction: "fixRequest", Message: what}
}

// ended is the error of a call whose context is done.
func ended(ctx context.Context) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Code: 1087, Kind: KindDeadlineExceeded, NextAction: "retry", Retryable: true, cause: ctx.Err(),
			Message: "the broker did not answer in time"}
	}
	return &Error{Kind: KindCancelled, NextAction: "none", cause: ctx.Err(), Message: "the request was cancelled"}
}
