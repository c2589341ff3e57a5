package authbroker

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode"
)

// Prompter asks the user what a login needs. Terminal is one; programs with windows have their own.
type Prompter interface {
	// Account asks for what names the account: field is email or phoneNumber.
	Account(ctx context.Context, field string) (string, error)
	// Password asks for the password, without echo.
	Password(ctx context.Context) (string, error)
	// Code asks for the code of a challenge, without echo: a one-time code, a backup code where the challenge allows
	// one, or "r" for another code.
	Code(ctx context.Context, challenge *OTPChallenge) (string, error)
	// Show shows what the user has to do elsewhere.
	Show(ctx context.Context, action *UserAction) error
	// Tell says what happened.
	Tell(ctx context.Context, sentence string)
}

// Login logs in, asking for what is missing in the credentials, until there is a session.
//
// A login that is given up, by the prompter's error or by the context, is cancelled at the broker.
func (c *Client) Login(ctx context.Context, credentials Credentials, prompter Prompter) (*Session, error) {
	if err := c.complete(ctx, &credentials, prompter); err != nil {
		return nil, err
	}
	result, err := c.BeginLogin(ctx, credentials)
	for err == nil && result.Status != "authenticated" {
		pending := result
		switch {
		case result.Challenge != nil:
			result, err = c.answer(ctx, result.Challenge, prompter)
		case result.Action != nil:
			if err = prompter.Show(ctx, result.Action); err == nil {
				result, err = c.AwaitLogin(ctx, result.Action.FlowID)
			}
		default:
			return nil, &Error{Code: 1029, Kind: "emailUnverified", NextAction: "contactProvider",
				Message: "the e-mail address must be verified first"}
		}
		if err != nil {
			c.discard(pending)
		}
	}
	if err != nil {
		return nil, err
	}
	if result.Session == nil {
		return nil, unexpectedAnswer("a login without a session")
	}
	return result.Session, nil
}

// complete asks for what a password login takes, unless the profile has a way that needs nothing.
func (c *Client) complete(ctx context.Context, credentials *Credentials, prompter Prompter) (err error) {
	if credentials.Method != "" && credentials.Method != "password" || credentials.RefreshToken != "" {
		return nil
	}
	session, err := c.Session(ctx, credentials.Profile)
	if err != nil {
		return err
	}
	account := "email"
	isOpen := credentials.Method == "" && first(credentials.Email, credentials.PhoneNumber) == ""
	if isOpen && session.Login != nil && len(session.Login) == 0 {
		// No login is needed, and the broker says what to do instead.
		return nil
	}
	for _, form := range session.Login {
		if len(form.Fields) == 0 && isOpen {
			credentials.Method = form.Method
			return nil
		}
		if form.Method == "password" && len(form.Fields) > 0 {
			account = form.Fields[0]
		}
	}
	if first(credentials.Email, credentials.PhoneNumber) == "" {
		named := &credentials.Email
		if account == "phoneNumber" {
			named = &credentials.PhoneNumber
		}
		if *named, err = prompter.Account(ctx, account); err != nil {
			return err
		}
	}
	if credentials.Password == "" {
		credentials.Password, err = prompter.Password(ctx)
	}
	return err
}

// answer asks for codes until one is right or the challenge has ended.
func (c *Client) answer(ctx context.Context, challenge *OTPChallenge, prompter Prompter) (*LoginResult, error) {
	for {
		typed, err := prompter.Code(ctx, challenge)
		if err != nil {
			return nil, err
		}
		var result *LoginResult
		switch {
		case typed == "r" || typed == "resend":
			fresh, err := c.ResendOTP(ctx, challenge.FlowID)
			var refusal *Error
			switch {
			case err == nil:
				challenge = fresh
			case errors.As(err, &refusal) && refusal.Code != 0 && (refusal.Retryable || refusal.Kind == "unsupportedByProvider"):
				// The last code, which may still come, and backup codes stay good.
				prompter.Tell(ctx, later(refusal))
			default:
				return nil, err
			}
			continue
		case challenge.BackupCodesAllowed && isBackupCode(typed, challenge.Length):
			result, err = c.VerifyBackupCode(ctx, challenge.FlowID, typed)
		default:
			result, err = c.VerifyOTP(ctx, challenge.FlowID, typed)
		}
		var refusal *Error
		if errors.As(err, &refusal) && (refusal.Kind == "otpInvalid" || refusal.Kind == "backupCodeInvalid") {
			prompter.Tell(ctx, refusal.Message)
			continue
		}
		if err == nil && result.BackupCodesRemaining != nil {
			prompter.Tell(ctx, fmt.Sprintf("backup codes left: %d", *result.BackupCodesRemaining))
		}
		return result, err
	}
}

// later is the sentence of a refusal, with how long to wait.
func later(refusal *Error) string {
	if refusal.RetryAfter > 0 {
		return fmt.Sprintf("%s Try again in %s.", refusal.Message, refusal.RetryAfter.Round(time.Second))
	}
	return refusal.Message
}

// isBackupCode tells a typed backup code from a one-time code of so many digits: it has letters, or clearly more
// digits.
func isBackupCode(typed string, length int) bool {
	digits := 0
	for _, character := range typed {
		if unicode.IsLetter(character) {
			return true
		}
		if unicode.IsDigit(character) {
			digits++
		}
	}
	return digits >= length+2
}

// discard cancels a login that is not completed; within a time of its own, for that of the caller may be over.
func (c *Client) discard(result *LoginResult) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	_ = c.CancelLogin(ctx, result)
}
