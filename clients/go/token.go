package authbroker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// redacted is what a token prints as.
const redacted = "<redacted>"

// TokenOptions say which token is wanted; the zero value is the session's own of the current profile.
type TokenOptions struct {
	// Profile is the profile; empty: that of AUTHBROKER_PROFILE, of `authbroker profile use`, the only configured one, else
	// default.
	Profile string
	// URL, in the place of Profile, is the address of a server: the section targets of the configuration says whose token
	// it is; where there is none, the error's kind is unknownTarget.
	URL string
	// MinValidity is the least lifetime that the token must have left; 0: the broker's own rule.
	MinValidity time.Duration
	// Scopes are those that it must have.
	Scopes []string
	// Audience is its audience, by the provider's own name.
	Audience string
	// ForceRefresh refreshes although the present token is still valid.
	ForceRefresh bool
	// WaitForLogin waits, until the context ends, for a user who is not logged in.
	WaitForLogin bool
	// Timeout is how long the broker may take; 0: its own rule (25 s).
	Timeout time.Duration
	// Challenge is for ReportRejected alone: the header WWW-Authenticate of the rejection, several joined by commas. Where
	// it wants more scopes, the token has them; where that takes a login, the error's kind is reauthRequired.
	Challenge string
}

// AccessToken is a token and what is known about it. No way of printing it shows the token: Reveal does.
type AccessToken struct {
	// TokenType is Bearer, unless the profile's provider is static and names another scheme.
	TokenType string
	// Header is the header that carries a secret of the configuration; empty where a server has issued the token.
	Header string
	// ExpiresAt is when it expires; zero where the provider does not say.
	ExpiresAt time.Time
	// Scopes are those that it has.
	Scopes []string
	// Profile is the profile whose token it is.
	Profile string
	// TokenID names it in events and reports; equal only for equal tokens.
	TokenID string
	// Offline tells that the provider could not be reached for a refresh, and that this one still lives.
	Offline bool
	// Target is that of the address that the token was asked for; nil where none was named.
	Target *Target

	value func() string
}

// Reveal returns the token itself.
func (t *AccessToken) Reveal() string {
	if t.value == nil {
		return ""
	}
	return t.value()
}

// HeaderName returns the name of the header that carries the token: Authorization, unless the profile's provider is static
// and names another.
func (t *AccessToken) HeaderName() string {
	if t.Header == "" || t.Target != nil && t.Target.Scheme == "Basic" {
		return "Authorization"
	}
	return t.Header
}

// AuthorizationHeader returns the value of that header, as the target wants it.
func (t *AccessToken) AuthorizationHeader() string {
	if t.Target != nil && t.Target.Scheme == "Basic" {
		return t.Target.basicAuthorization(t.Reveal())
	}
	if !strings.EqualFold(t.HeaderName(), "Authorization") || t.Header != "" && t.TokenType == "" {
		return t.Reveal()
	}
	return t.TokenType + " " + t.Reveal()
}

// String says what is known about the token, and not the token.
func (t AccessToken) String() string {
	expiry := "without expiry"
	if !t.ExpiresAt.IsZero() {
		expiry = "expires " + t.ExpiresAt.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s token %s of %s, %s (%s)", redacted, t.TokenID, t.Profile, expiry, t.TokenType)
}

// Format prints String, whatever the verb.
func (t AccessToken) Format(state fmt.State, _ rune) { _, _ = state.Write([]byte(t.String())) }

// MarshalText writes String, so that no encoder shows the token.
func (t AccessToken) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalJSON reads the broker's answer.
func (t *AccessToken) UnmarshalJSON(text []byte) error {
	var wire struct {
		AccessToken *string    `json:"accessToken"`
		TokenType   *string    `json:"tokenType"`
		Header      string     `json:"header"`
		ExpiresAt   *time.Time `json:"expiresAt"`
		Scopes      []string   `json:"scopes"`
		Profile     string     `json:"profile"`
		TokenID     *string    `json:"tokenId"`
		Offline     bool       `json:"offline"`
		Target      *Target    `json:"target"`
	}
	if json.Unmarshal(text, &wire) != nil || wire.AccessToken == nil || wire.TokenType == nil || wire.TokenID == nil {
		// Without the decoder's own reason: it may quote.
		return errors.New("no access token")
	}
	value := *wire.AccessToken
	*t = AccessToken{TokenType: *wire.TokenType, Header: wire.Header, Scopes: wire.Scopes, Profile: wire.Profile, TokenID: *wire.TokenID,
		Offline: wire.Offline, Target: wire.Target, value: func() string { return value }}
	if wire.ExpiresAt != nil {
		t.ExpiresAt = *wire.ExpiresAt
	}
	return nil
}

// AccessToken returns a valid access token, refreshed first where necessary. Ask each time that one is needed: the
// broker answers from memory.
func (c *Client) AccessToken(ctx context.Context, options TokenOptions) (*AccessToken, error) {
	params := object{}.seconds("minValiditySeconds", options.MinValidity).
		list("scopes", options.Scopes).text("audience", options.Audience).truth("forceRefresh", options.ForceRefresh).
		truth("waitForLogin", options.WaitForLogin).seconds("timeoutSeconds", options.Timeout)
	if options.URL != "" {
		return c.tokenOfAddress(ctx, options.URL, params, options)
	}
	token := new(AccessToken)
	if err := c.Call(ctx, "getAccessToken", params.text("profile", currentProfile(options.Profile)), token); err != nil {
		return nil, err
	}
	return token, nil
}

// ReportRejected reports that a server rejected a token with an HTTP status, 401 or 403, and returns the one to use
// instead. The options are those that the token was requested with, and the server's challenge.
func (c *Client) ReportRejected(
	ctx context.Context, token *AccessToken, status int, options TokenOptions,
) (*AccessToken, error) {
	params := object{"tokenId": token.TokenID, "status": status}.text("profile", token.Profile).
		list("scopes", options.Scopes).text("audience", options.Audience).text("challenge", options.Challenge)
	fresh := new(AccessToken)
	if err := c.Call(ctx, "reportRejected", params, fresh); err != nil {
		return nil, err
	}
	fresh.Target = token.Target
	return fresh, nil
}

// WithAccessToken calls a function with a token. Where it returns an error that is ErrUnauthorized, the token is
// reported as rejected and the function is called once more, with another one.
func (c *Client) WithAccessToken(
	ctx context.Context, options TokenOptions, use func(context.Context, *AccessToken) error,
) error {
	token, err := c.AccessToken(ctx, options)
	if err != nil {
		return err
	}
	if err = use(ctx, token); !errors.Is(err, ErrUnauthorized) {
		return err
	}
	status := http.StatusUnauthorized
	var refusal *Unauthorized
	if errors.As(err, &refusal) {
		options.Challenge = refusal.Challenge
		if refusal.Status != 0 {
			status = refusal.Status
		}
	}
	fresh, failure := c.ReportRejected(ctx, token, status, options)
	if failure != nil {
		return failure
	}
	if fresh.TokenID == token.TokenID {
		return err
	}
	return use(ctx, fresh)
}

// object is the params of a call; what is empty is left out.
type object map[string]any

// text adds a string.
func (o object) text(name, value string) object { return o.add(name, value, value != "") }

// truth adds true.
func (o object) truth(name string, value bool) object { return o.add(name, value, value) }

// list adds a list of strings.
func (o object) list(name string, value []string) object { return o.add(name, value, value != nil) }

// seconds adds a duration.
func (o object) seconds(name string, value time.Duration) object {
	return o.add(name, value.Seconds(), value != 0)
}

// add adds a member, if it is wanted.
func (o object) add(name string, value any, wanted bool) object {
	if wanted {
		o[name] = value
	}
	return o
}
