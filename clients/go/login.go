package authbroker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Session is where a profile stands; no token is in it.
type Session struct {
	Profile  string `json:"profile"`
	Provider string `json:"provider"`
	// Issuer and ClientID are those of the tokens, where the login has found them and the configuration does not name
	// them.
	Issuer   string `json:"issuer,omitempty"`
	ClientID string `json:"clientId,omitempty"`
	State    string `json:"state"`
	// UserID is the provider's name for the account.
	UserID string   `json:"userId,omitempty"`
	User   *User    `json:"user,omitempty"`
	Scopes []string `json:"scopes"`
	// AccessTokenExpiresAt is nil where there is no token, or the provider gives no lifetime.
	AccessTokenExpiresAt *time.Time `json:"accessTokenExpiresAt,omitempty"`
	// RefreshTokenPresent tells whether the session can be refreshed.
	RefreshTokenPresent   bool       `json:"refreshTokenPresent"`
	RefreshTokenExpiresAt *time.Time `json:"refreshTokenExpiresAt,omitempty"`
	// AuthTime is when the user last proved who they are.
	AuthTime      *time.Time `json:"authTime,omitempty"`
	LastRefreshAt *time.Time `json:"lastRefreshAt,omitempty"`
	// LastValidatedAt is when the provider last accepted something of the session.
	LastValidatedAt *time.Time `json:"lastValidatedAt,omitempty"`
	// IdleExpiresAt is when the session expires unless a client uses it; nil where it does not expire by that.
	IdleExpiresAt *time.Time `json:"idleExpiresAt,omitempty"`
	// LoginRequiredReason is why a login is needed, where it is; LoginRequiredMessage is what has happened, where the
	// reason leaves that open.
	LoginRequiredReason  string `json:"loginRequiredReason,omitempty"`
	LoginRequiredMessage string `json:"loginRequiredMessage,omitempty"`
	// StoreDegraded tells that the newest tokens are not yet safely stored.
	StoreDegraded bool `json:"storeDegraded,omitempty"`
	// ProviderClockSkewSeconds is how far the provider's clock is ahead of this machine's; only where it is more than 60
	// either way.
	ProviderClockSkewSeconds float64 `json:"providerClockSkewSeconds,omitempty"`
	// Login has the ways to log in, the first one preferred; only in the answer of Session.
	Login []LoginForm `json:"login,omitempty"`

	raw
}

// User is whose session it is.
type User struct {
	ID                string `json:"id"`
	Email             string `json:"email,omitempty"`
	EmailVerified     *bool  `json:"emailVerified,omitempty"`
	Name              string `json:"name,omitempty"`
	PhoneNumberMasked string `json:"phoneNumberMasked,omitempty"`
	// TwoFactor is what a login asks for beside the password, such as totp, or off; empty where the provider does not say.
	TwoFactor string `json:"twoFactor,omitempty"`
	// Claims is an object with roles and further attributes that the provider gives.
	Claims json.RawMessage `json:"claims,omitempty"`
}

// LoginForm is one way to log in to a profile, and the parameters of login that it needs.
type LoginForm struct {
	Method string   `json:"method"`
	Fields []string `json:"fields"`
}

// OTPChallenge is a one-time code that the user must enter.
type OTPChallenge struct {
	FlowID             string     `json:"otpFlowId"`
	Profile            string     `json:"profile"`
	Method             string     `json:"method"`
	MaskedDestination  string     `json:"maskedDestination"`
	Length             int        `json:"otpLength"`
	ExpiresAt          *time.Time `json:"expiresAt"`
	NextResendAt       *time.Time `json:"nextResendAt"`
	AttemptsRemaining  int        `json:"attemptsRemaining"`
	BackupCodesAllowed bool       `json:"backupCodesAllowed"`
	// By which resendOtp can send another code; empty where there is no choice.
	Channels []string `json:"channels,omitempty"`

	raw
}

// UserAction is what the user has to do elsewhere: on another device, or in a browser.
type UserAction struct {
	FlowID                  string     `json:"loginFlowId"`
	Profile                 string     `json:"profile"`
	Kind                    string     `json:"kind"`
	VerificationURI         string     `json:"verificationUri"`
	VerificationURIComplete string     `json:"verificationUriComplete,omitempty"`
	UserCode                string     `json:"userCode,omitempty"`
	ExpiresAt               *time.Time `json:"expiresAt"`
}

// LoginResult is what a step of a login came to: Status is authenticated, otpRequired, userActionRequired or
// emailVerificationRequired.
type LoginResult struct {
	Status               string        `json:"status"`
	Session              *Session      `json:"session,omitempty"`
	Challenge            *OTPChallenge `json:"challenge,omitempty"`
	Action               *UserAction   `json:"action,omitempty"`
	BackupCodesRemaining *int          `json:"backupCodesRemaining,omitempty"`

	raw
}

// raw keeps an object as it came, for members that this version of the package does not know.
type raw struct{ text json.RawMessage }

// Raw returns the object as it came.
func (r raw) Raw() json.RawMessage { return r.text }

// UnmarshalJSON reads the members and keeps the text.
func (s *Session) UnmarshalJSON(text []byte) error {
	type plain Session
	return keep(text, (*plain)(s), &s.raw)
}

// UnmarshalJSON reads the members and keeps the text.
func (o *OTPChallenge) UnmarshalJSON(text []byte) error {
	type plain OTPChallenge
	return keep(text, (*plain)(o), &o.raw)
}

// UnmarshalJSON reads the members and keeps the text.
func (l *LoginResult) UnmarshalJSON(text []byte) error {
	type plain LoginResult
	return keep(text, (*plain)(l), &l.raw)
}

// keep reads an object and keeps its text.
func keep(text []byte, into any, kept *raw) error {
	if err := json.Unmarshal(text, into); err != nil {
		return err
	}
	kept.text = append(json.RawMessage(nil), text...)
	return nil
}

// Credentials are what a login takes; what the method needs no value for stays empty. They print without secrets.
type Credentials struct {
	// Profile is the profile; empty: that of AUTHBROKER_PROFILE, of `authbroker profile use`, the only configured one, else
	// default.
	Profile string
	// Method is password, deviceCode, browser, clientCredentials or refreshToken; empty: the first that fits.
	Method string
	// Email names the account.
	Email string
	// PhoneNumber names it where the provider wants a number.
	PhoneNumber string
	// Password is the account's.
	Password string
	// RefreshToken is one to begin the session with.
	RefreshToken string
	// Scopes are those to request for the session.
	Scopes []string
	// ClientContext comes back in the result and in events; no secret belongs there.
	ClientContext string
}

// String names the account, and no secret.
func (c Credentials) String() string {
	return "credentials of " + first(c.Email, c.PhoneNumber, redacted)
}

// Format prints String for every verb, also for those that print the fields of a struct.
func (c Credentials) Format(state fmt.State, _ rune) { _, _ = state.Write([]byte(c.String())) }

// MarshalText writes String, so that no encoder shows a secret.
func (c Credentials) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// BeginLogin begins a login; the result may be a challenge or an action. Login does all of it.
func (c *Client) BeginLogin(ctx context.Context, credentials Credentials) (*LoginResult, error) {
	return c.step(ctx, "login", object{}.text("profile", currentProfile(credentials.Profile)).text("method", credentials.Method).
		text("email", credentials.Email).text("phoneNumber", credentials.PhoneNumber).
		text("password", credentials.Password).text("refreshToken", credentials.RefreshToken).
		list("scopes", credentials.Scopes).text("clientContext", credentials.ClientContext))
}

// VerifyOTP answers a challenge with its one-time code.
func (c *Client) VerifyOTP(ctx context.Context, flowID, code string) (*LoginResult, error) {
	return c.step(ctx, "verifyOtp", object{"otpFlowId": flowID, "code": code})
}

// VerifyBackupCode answers a challenge with a backup code.
func (c *Client) VerifyBackupCode(ctx context.Context, flowID, code string) (*LoginResult, error) {
	return c.step(ctx, "verifyBackupCode", object{"otpFlowId": flowID, "backupCode": code})
}

// ResendOTP has another code sent, not before the challenge's NextResendAt.
func (c *Client) ResendOTP(ctx context.Context, flowID string) (*OTPChallenge, error) {
	challenge := new(OTPChallenge)
	if err := c.Call(ctx, "resendOtp", object{"otpFlowId": flowID}, challenge); err != nil {
		return nil, err
	}
	return challenge, nil
}

// AwaitLogin waits until the user has done what an action asks of them.
func (c *Client) AwaitLogin(ctx context.Context, flowID string) (*LoginResult, error) {
	return c.step(ctx, "awaitLogin", object{"loginFlowId": flowID})
}

// CancelLogin cancels a login that waits for a code or an action.
func (c *Client) CancelLogin(ctx context.Context, result *LoginResult) error {
	switch {
	case result.Challenge != nil:
		return c.Call(ctx, "cancelLogin", object{"otpFlowId": result.Challenge.FlowID}, nil)
	case result.Action != nil:
		return c.Call(ctx, "cancelLogin", object{"loginFlowId": result.Action.FlowID}, nil)
	}
	return nil
}

// LogoutOptions say what a logout ends.
type LogoutOptions struct {
	// Profile is the profile; empty: that of AUTHBROKER_PROFILE, of `authbroker profile use`, the only configured one, else
	// default.
	Profile string
	// Everywhere ends the account's other sessions at the provider too.
	Everywhere bool
	// All ends the sessions of every profile.
	All bool
}

// LogoutOutcome tells whether the provider has revoked a session: yes, no, pending or unsupported. It is gone here in
// every case.
type LogoutOutcome struct {
	Profile       string `json:"profile"`
	ServerRevoked string `json:"serverRevoked"`
}

// Logout ends the session of a profile, or of all.
func (c *Client) Logout(ctx context.Context, options LogoutOptions) ([]LogoutOutcome, error) {
	profile := options.Profile
	if !options.All {
		profile = currentProfile(profile)
	}
	params := object{}.text("profile", profile).truth("everywhere", options.Everywhere).truth("all", options.All)
	var result struct {
		Results []LogoutOutcome `json:"results"`
	}
	err := c.Call(ctx, "logout", params, &result)
	return result.Results, err
}

// Session returns where a profile stands; an empty profile is the current one, the only configured one, else default.
func (c *Client) Session(ctx context.Context, profile string) (*Session, error) {
	session := new(Session)
	if err := c.Call(ctx, "getSession", object{}.text("profile", currentProfile(profile)), session); err != nil {
		return nil, err
	}
	return session, nil
}

// step calls a method whose result is that of a login.
func (c *Client) step(ctx context.Context, method string, params object) (*LoginResult, error) {
	result := new(LoginResult)
	if err := c.Call(ctx, method, params, result); err != nil {
		return nil, err
	}
	return result, nil
}
