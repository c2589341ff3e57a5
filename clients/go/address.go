package authbroker

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Target is the entry of the configuration's targets that an address belongs to.
type Target struct {
	// Prefix is that of the addresses that the token is for, as configured.
	Prefix string `json:"prefix"`
	// Username goes with the token; empty: the program's own.
	Username string `json:"username"`
	// Scheme is how the token is sent over HTTP, Bearer or Basic; empty: as the program does it best.
	Scheme string `json:"scheme"`
}

// Covers tells whether an address lies at or below the prefix, as both are written: what is written otherwise does not.
func (t Target) Covers(address string) bool {
	known, asked := takeApart(t.Prefix), takeApart(address)
	isBelow := strings.HasPrefix(known.host, "*.") && strings.HasSuffix(asked.host, known.host[1:]) &&
		len(asked.host) >= len(known.host)
	return known.scheme != "" && known.scheme == asked.scheme && (known.user == "" || known.user == asked.user) &&
		(known.host == asked.host || isBelow) && strings.HasPrefix(asked.path+"/", known.path+"/")
}

// addressParts are what decides whose token an address gets: host has the port, path no slash at its end.
type addressParts struct{ scheme, user, host, path string }

// takeApart takes an address apart.
func takeApart(address string) addressParts {
	scheme, rest, isAddress := strings.Cut(address, "://")
	if !isAddress {
		return addressParts{}
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	authority, path, hasPath := strings.Cut(rest, "/")
	if hasPath {
		path = strings.TrimRight("/"+path, "/")
	}
	user := ""
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, _, _ = strings.Cut(authority[:at], ":")
		authority = authority[at+1:]
	}
	return addressParts{strings.ToLower(scheme), user, strings.ToLower(authority), path}
}

// basicAuthorization returns the value of the header Authorization with a token as the password (RFC 7617).
func (t Target) basicAuthorization(token string) string {
	// Servers that take a token as a password look at no user name, where the target has none.
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(first(t.Username, "oauth2")+":"+token))
}

// isAboutAddress tells whether an error is about the address itself, or about the broker as a whole.
func (e *Error) isAboutAddress() bool {
	switch e.Kind {
	case "unknownTarget", "invalidParams", "deadlineExceeded", "vaultLocked", "shuttingDown":
		return true
	}
	return e.Code == 0
}

// tokenOfAddress returns the token of the target that an address belongs to.
//
// A broker of version 0.2 ignores the address, and answers for the profile that is not named: an answer is used only
// where it has a target that covers the address. Otherwise the target is asked for, and then its token.
func (c *Client) tokenOfAddress(ctx context.Context, url string, params object, options TokenOptions) (*AccessToken, error) {
	if options.Profile != "" {
		return nil, invalidRequest("a token is asked for by a profile or by an address, not by both")
	}
	text, failure := c.call(ctx, "getAccessToken", params.text("url", url))
	if failure != nil && failure.isAboutAddress() {
		return nil, failure
	}
	if failure == nil {
		token, err := readToken(text)
		if err != nil || token.Target != nil && token.Target.Covers(url) {
			return token, err
		}
	}
	var list struct {
		Targets []struct {
			URL      string   `json:"url"`
			Profile  string   `json:"profile"`
			Username string   `json:"username"`
			Scopes   []string `json:"scopes"`
			Audience string   `json:"audience"`
			Scheme   string   `json:"scheme"`
		} `json:"targets"`
	}
	if err := c.Call(ctx, "listTargets", object{"url": url}, &list); err != nil {
		return nil, err
	}
	if len(list.Targets) == 0 {
		return nil, unknownTarget()
	}
	entry := list.Targets[0]
	delete(params, "url")
	if options.Scopes == nil {
		params.list("scopes", entry.Scopes)
	}
	params.text("audience", first(options.Audience, entry.Audience)).text("profile", entry.Profile)
	if text, failure = c.call(ctx, "getAccessToken", params); failure != nil {
		return nil, failure
	}
	token, err := readToken(text)
	if err == nil {
		token.Target = &Target{Prefix: entry.URL, Username: entry.Username, Scheme: entry.Scheme}
	}
	return token, err
}

// readToken reads the result of getAccessToken.
func readToken(text json.RawMessage) (*AccessToken, error) {
	token := new(AccessToken)
	if json.Unmarshal(text, token) != nil {
		return nil, unexpectedAnswer("the result of getAccessToken")
	}
	return token, nil
}
