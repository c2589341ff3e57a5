package authbroker

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// longestChallenge is how many bytes of a server's challenge the broker takes; a longer one is not reported.
const longestChallenge = 8192

// longestRefusal bounds what is read of the answer to a rejected request, so that its connection can be used again.
const longestRefusal = 64 << 10

// Transport is an http.RoundTripper that sends an access token with each request to an API, and heals a 401, or a 403 that
// wants more scopes, once: the token is reported as rejected, and the request is sent again with another one, if its body
// can be had again (http.Request.GetBody).
type Transport struct {
	// Client gets the tokens.
	Client *Client
	// Origins are where the token may go, such as https://api.example.com. A request to any other origin, as after a
	// redirect, goes out without a token. http:// is for loopback hosts alone.
	Origins []string
	// Options say which token.
	Options TokenOptions
	// Base sends the requests; nil: http.DefaultTransport.
	Base http.RoundTripper
}

// RoundTrip sends a request.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if len(t.Origins) == 0 {
		discard(request.Body)
		return nil, invalidRequest("Transport.Origins is empty; name the origins that may get the token")
	}
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	if !t.covers(request.URL) {
		return base.RoundTrip(request)
	}
	token, err := t.Client.AccessToken(request.Context(), t.Options)
	if err != nil {
		discard(request.Body)
		return nil, err
	}
	response, err := base.RoundTrip(withToken(request, request.Body, token))
	if err != nil || !isRefusal(response) {
		return response, err
	}
	options := t.Options
	if options.Challenge = challenge(response); len(options.Challenge) > longestChallenge {
		options.Challenge = ""
	}
	fresh, failure := t.Client.ReportRejected(request.Context(), token, response.StatusCode, options)
	if failure != nil || fresh.TokenID == token.TokenID {
		// The API's own refusal says more.
		return response, nil
	}
	body := request.Body
	if body != nil && body != http.NoBody {
		if request.GetBody == nil {
			return response, nil
		}
		if body, err = request.GetBody(); err != nil {
			return response, nil
		}
	}
	_, _ = io.CopyN(io.Discard, response.Body, longestRefusal)
	_ = response.Body.Close()
	return base.RoundTrip(withToken(request, body, fresh))
}

// challenge returns what a response wants: its headers WWW-Authenticate, joined by commas.
func challenge(response *http.Response) string {
	return strings.Join(response.Header.Values("WWW-Authenticate"), ", ")
}

// isRefusal tells whether a response rejects the token, so that another one may help.
func isRefusal(response *http.Response) bool {
	return response.StatusCode == http.StatusUnauthorized ||
		response.StatusCode == http.StatusForbidden && strings.Contains(challenge(response), "insufficient_scope")
}

// covers tells whether the token may go to an address.
func (t *Transport) covers(address *url.URL) bool {
	for _, text := range t.Origins {
		origin, err := url.Parse(text)
		if err == nil && origin.Host != "" && originOf(origin) == originOf(address) &&
			(origin.Scheme == "https" || isLoopback(origin.Hostname())) {
			return true
		}
	}
	return false
}

// originOf returns scheme, host and port (RFC 6454).
func originOf(address *url.URL) string {
	port := address.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(address.Scheme)]
	}
	return strings.ToLower(address.Scheme) + "://" + net.JoinHostPort(strings.ToLower(address.Hostname()), port)
}

// isLoopback tells whether a host is this machine.
func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}

// withToken copies a request, as RoundTripper demands, and sets the header.
func withToken(request *http.Request, body io.ReadCloser, token *AccessToken) *http.Request {
	result := request.Clone(request.Context())
	result.Body = body
	result.Header.Set(token.HeaderName(), token.AuthorizationHeader())
	return result
}

// discard closes the body of a request that is not sent.
func discard(body io.ReadCloser) {
	if body != nil {
		_ = body.Close()
	}
}
