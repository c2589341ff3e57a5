package main

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	authbroker "authbroker/clients/go"
)

// params are those that the typed functions take; what else a request has makes it a generic call.
type params struct {
	Profile            string   `json:"profile"`
	MinValiditySeconds float64  `json:"minValiditySeconds"`
	Scopes             []string `json:"scopes"`
	Audience           string   `json:"audience"`
	TimeoutSeconds     float64  `json:"timeoutSeconds"`
	WaitForLogin       bool     `json:"waitForLogin"`
	ForceRefresh       bool     `json:"forceRefresh"`
	TokenID            string   `json:"tokenId"`
	Status             int      `json:"status"`
	Method             string   `json:"method"`
	Email              string   `json:"email"`
	Password           string   `json:"password"`
	PhoneNumber        string   `json:"phoneNumber"`
	ClientContext      string   `json:"clientContext"`
	FlowID             string   `json:"otpFlowId"`
	Code               string   `json:"code"`
	BackupCode         string   `json:"backupCode"`
	Challenge          string   `json:"challenge"`
	Everywhere         bool     `json:"everywhere"`
	All                bool     `json:"all"`
}

// result performs a request by the package's function for it, or by the generic call.
func (s *shim) result(ctx context.Context, asked request) (any, error) {
	if asked.Method == "unsubscribe" {
		var which struct {
			ID string `json:"subscriptionId"`
		}
		if err := json.Unmarshal(asked.Params, &which); err != nil {
			return nil, err
		}
		if subscription := s.subscriptions[which.ID]; subscription != nil {
			subscription.Close()
			delete(s.subscriptions, which.ID)
			return struct{}{}, nil
		}
	}
	var given params
	text := asked.Params
	if text == nil {
		text = json.RawMessage("{}")
	}
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.DisallowUnknownFields()
	if reader.Decode(&given) == nil {
		if result, known, err := s.typed(ctx, asked.Method, given); known {
			return result, err
		}
	}
	var result json.RawMessage
	err := s.client.Call(ctx, asked.Method, text, &result)
	return result, err
}

// typed performs a request by a function of the package.
func (s *shim) typed(ctx context.Context, method string, given params) (result any, known bool, err error) {
	switch method {
	case "getAccessToken", "reportRejected":
		return s.token(ctx, method, given)
	case "login", "verifyOtp", "verifyBackupCode":
		return s.login(ctx, method, given)
	case "resendOtp":
		challenge, err := s.client.ResendOTP(ctx, given.FlowID)
		if err != nil {
			return nil, true, err
		}
		return merged(challenge.Raw(), challenge), true, nil
	case "logout":
		results, err := s.client.Logout(ctx,
			authbroker.LogoutOptions{Profile: given.Profile, Everywhere: given.Everywhere, All: given.All})
		return map[string]any{"results": results}, true, err
	case "getSession":
		session, err := s.client.Session(ctx, given.Profile)
		if err != nil {
			return nil, true, err
		}
		return merged(session.Raw(), session), true, nil
	}
	return nil, false, nil
}

// token performs a request whose result is a token.
func (s *shim) token(ctx context.Context, method string, given params) (result any, known bool, err error) {
	options := authbroker.TokenOptions{Profile: given.Profile, MinValidity: seconds(given.MinValiditySeconds),
		Scopes: given.Scopes, Audience: given.Audience, ForceRefresh: given.ForceRefresh,
		WaitForLogin: given.WaitForLogin, Timeout: seconds(given.TimeoutSeconds), Challenge: given.Challenge}
	if method == "getAccessToken" {
		token, err := s.client.AccessToken(ctx, options)
		return tokenObject(token), true, err
	}
	if given.TokenID == "" {
		return nil, false, nil
	}
	if given.Status == 0 {
		given.Status = 401
	}
	rejected := &authbroker.AccessToken{Profile: given.Profile, TokenID: given.TokenID}
	token, err := s.client.ReportRejected(ctx, rejected, given.Status, options)
	return tokenObject(token), true, err
}

// login performs a step of a login.
func (s *shim) login(ctx context.Context, method string, given params) (result any, known bool, err error) {
	var login *authbroker.LoginResult
	switch method {
	case "login":
		login, err = s.client.BeginLogin(ctx, authbroker.Credentials{Profile: given.Profile, Method: given.Method,
			Email: given.Email, PhoneNumber: given.PhoneNumber, Password: given.Password, Scopes: given.Scopes,
			ClientContext: given.ClientContext})
	case "verifyOtp":
		login, err = s.client.VerifyOTP(ctx, given.FlowID, given.Code)
	default:
		login, err = s.client.VerifyBackupCode(ctx, given.FlowID, given.BackupCode)
	}
	return loginObject(login), true, err
}

// tokenObject is a token as on the wire.
func tokenObject(token *authbroker.AccessToken) any {
	if token == nil {
		return nil
	}
	object := map[string]any{"accessToken": token.Reveal(), "tokenType": token.TokenType, "expiresAt": nil,
		"scopes": token.Scopes, "profile": token.Profile, "tokenId": token.TokenID}
	add(object, "expiresAt", token.ExpiresAt, !token.ExpiresAt.IsZero())
	add(object, "offline", true, token.Offline)
	return object
}

// loginObject is the result of a step of a login as on the wire.
func loginObject(login *authbroker.LoginResult) any {
	if login == nil {
		return nil
	}
	object := merged(login.Raw(), login)
	if login.Session != nil {
		object["session"] = merged(login.Session.Raw(), login.Session)
	}
	if login.Challenge != nil {
		object["challenge"] = merged(login.Challenge.Raw(), login.Challenge)
	}
	return object
}

// seconds is a duration as on the wire.
func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }
