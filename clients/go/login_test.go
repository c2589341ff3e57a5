package authbroker

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// slowCodes is a configuration whose codes live for long and whose next code comes at once.
const slowCodes = `{profiles: {default: {provider: "local"}},
  local: {otp: {lifetimeSeconds: 3600, resendCooldownSeconds: 0}}}`

// script is a Prompter that answers from functions.
type script struct {
	sandbox *sandbox
	t       *testing.T
	codes   []func(*OTPChallenge) (string, error)
	told    []string
}

func (s *script) Account(context.Context, string) (string, error) { return "ada@example.com", nil }
func (s *script) Password(context.Context) (string, error)        { return madeUpPassword, nil }
func (s *script) Show(context.Context, *UserAction) error         { return errors.New("no action is expected") }
func (s *script) Tell(_ context.Context, sentence string)         { s.told = append(s.told, sentence) }

// Code answers with the next function.
func (s *script) Code(_ context.Context, challenge *OTPChallenge) (string, error) {
	if len(s.codes) == 0 {
		return "", errors.New("no further code is expected")
	}
	answer := s.codes[0]
	s.codes = s.codes[1:]
	return answer(challenge)
}

// withPhone registers an account whose logins want a code, and signs out.
func withPhone(t *testing.T, s *sandbox, c *Client) (backupCodes []string) {
	t.Helper()
	var result LoginResult
	params := map[string]string{"email": "ada@example.com", "password": madeUpPassword, "phoneNumber": "+15550100042"}
	if err := c.Call(limit(t), "register", params, &result); err != nil || result.Challenge == nil {
		t.Fatal("no challenge", err)
	}
	if _, err := c.VerifyOTP(limit(t), result.Challenge.FlowID, s.code(t)); err != nil {
		t.Fatal(err)
	}
	var codes struct {
		BackupCodes []string `json:"backupCodes"`
	}
	if err := c.Call(limit(t), "generateBackupCodes", map[string]string{"password": madeUpPassword}, &codes); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Logout(limit(t), LogoutOptions{Everywhere: true}); err != nil {
		t.Fatal(err)
	}
	return codes.BackupCodes
}

func TestALoginAsksUntilTheCodeIsRight(t *testing.T) {
	s := newSandbox(t, slowCodes)
	c := client(t)
	backupCodes := withPhone(t, s, c)
	var first string
	prompter := &script{sandbox: s, t: t, codes: []func(*OTPChallenge) (string, error){
		func(challenge *OTPChallenge) (string, error) {
			first = challenge.FlowID
			wrong := []byte(s.code(t))
			wrong[0] = '0' + (wrong[0]-'0'+1)%10
			return string(wrong), nil
		},
		func(*OTPChallenge) (string, error) { return "r", nil },
		func(challenge *OTPChallenge) (string, error) {
			if challenge.FlowID != first || challenge.AttemptsRemaining != 4 || challenge.Length != 6 {
				t.Errorf("the challenge is %+v", challenge)
			}
			return " " + s.code(t) + " ", nil
		},
	}}
	session, err := c.Login(limit(t), Credentials{}, prompter)
	if err != nil || session.State != "authenticated" || session.User == nil || session.User.Email != "ada@example.com" {
		t.Fatal("not logged in", err)
	}
	if len(prompter.told) != 1 || len(prompter.codes) != 0 {
		t.Errorf("told %v", prompter.told)
	}
	if _, err := c.Logout(limit(t), LogoutOptions{}); err != nil {
		t.Fatal(err)
	}
	prompter = &script{sandbox: s, t: t, codes: []func(*OTPChallenge) (string, error){
		func(*OTPChallenge) (string, error) { return backupCodes[0], nil },
	}}
	if _, err = c.Login(limit(t), Credentials{Email: "ada@example.com"}, prompter); err != nil {
		t.Fatal(err)
	}
	if len(prompter.told) != 1 || prompter.told[0] != "backup codes left: 9" {
		t.Errorf("told %v", prompter.told)
	}
}

func TestALoginThatIsLeftIsCancelled(t *testing.T) {
	s := newSandbox(t, slowCodes)
	c := client(t)
	withPhone(t, s, c)
	leave := errors.New("the user left")
	prompter := &script{sandbox: s, t: t, codes: []func(*OTPChallenge) (string, error){
		func(*OTPChallenge) (string, error) { return "", leave },
	}}
	if _, err := c.Login(limit(t), Credentials{}, prompter); !errors.Is(err, leave) {
		t.Error("the error is", err)
	}
	session, err := c.Session(limit(t), "")
	if err != nil || session.State != "signedOut" {
		t.Error("the login still waits", err)
	}
	_, err = c.BeginLogin(limit(t), Credentials{Email: "ada@example.com", Password: "wrong password 1"})
	wantKind(t, err, "invalidCredentials")
	credentials := Credentials{Password: madeUpPassword}
	shown := fmt.Sprintf("%v %+v %#v %s", err, credentials, credentials, &credentials)
	wantNoSecret(t, shown, "wrong password 1", madeUpPassword)
}

// TestTerminalChild is no test of its own: it is the program that TestTheTerminalIsAsked runs.
func TestTerminalChild(t *testing.T) {
	if os.Getenv("AUTHBROKER_TEST_TERMINAL") == "" {
		return
	}
	session, err := client(t).Login(limit(t), Credentials{}, Terminal{})
	if err != nil {
		fmt.Println("RESULT", Kind(err), err)
		return
	}
	fmt.Println("RESULT", session.State)
}

// pseudoTerminal opens one (pty(7)).
func pseudoTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	number, err := syscall.Open("/dev/ptmx", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(number), "/dev/ptmx")
	var lock, index int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &lock, syscall.TIOCGPTN: &index} {
		_, _, failure := syscall.Syscall(syscall.SYS_IOCTL, uintptr(number), request, uintptr(unsafe.Pointer(value)))
		if failure != 0 {
			t.Fatal(failure)
		}
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", index), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	return master, slave
}

// converse runs the program at a terminal and answers each question when it is there; it returns all that was shown.
func converse(t *testing.T, dialogue ...any) string {
	t.Helper()
	master, slave := pseudoTerminal(t)
	command := exec.CommandContext(limit(t), os.Args[0], "-test.run=^TestTerminalChild$", "-test.v")
	command.Env = append(os.Environ(), "AUTHBROKER_TEST_TERMINAL=1")
	command.Stdin, command.Stdout, command.Stderr = slave, slave, slave
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	var shown strings.Builder
	seen := 0
	buffer := make([]byte, 4096)
	_ = master.SetReadDeadline(time.Now().Add(patience))
	for {
		for len(dialogue) > 0 && strings.Contains(shown.String()[seen:], dialogue[0].(string)) {
			seen = shown.Len()
			_, _ = master.WriteString(dialogue[1].(func() string)())
			dialogue = dialogue[2:]
		}
		count, err := master.Read(buffer)
		shown.Write(buffer[:count])
		if err != nil {
			break
		}
	}
	_ = command.Wait()
	if len(dialogue) > 0 {
		t.Fatalf("%q was never asked: %s", dialogue[0], shown.String())
	}
	return shown.String()
}

// typed is what a user types.
func typed(text string) func() string { return func() string { return text } }

func TestTheTerminalIsAsked(t *testing.T) {
	s := newSandbox(t, slowCodes)
	withPhone(t, s, client(t))
	var code string
	shown := converse(t, "Your e-mail address: ", typed("ada@example.com\n"), "Password: ", typed(madeUpPassword+"\n"),
		"(r sends another): ", typed("r\n"), "(r sends another): ", func() string { code = s.code(t); return code + "\n" })
	if !strings.Contains(shown, "RESULT authenticated") || !strings.Contains(shown, "sent a code to ") ||
		!strings.Contains(shown, "ada@example.com") {
		t.Errorf("the terminal shows %s", shown)
	}
	wantNoSecret(t, shown, madeUpPassword, code)
	// Ctrl-C leaves the question, and the terminal as it was.
	shown = converse(t, "Your e-mail address: ", typed("ada@example.com\n"), "Password: ", typed("half a pass\x03"))
	if !strings.Contains(shown, "RESULT cancelled") {
		t.Errorf("the terminal shows %s", shown)
	}
	wantNoSecret(t, shown, "half a pass")
}

// No verb and no encoder shows what credentials hold.
func TestCredentialsShowNoSecret(t *testing.T) {
	credentials := Credentials{Email: "ada@example.com", Password: "example password 1", RefreshToken: "example token"}
	var shown []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q", "%t"} {
		shown = append(shown, fmt.Sprintf(verb, credentials), fmt.Sprintf(verb, &credentials))
		shown = append(shown, fmt.Sprintf(verb, []Credentials{credentials}))
	}
	asJSON, err := json.Marshal(map[string]any{"c": credentials})
	if err != nil {
		t.Fatal(err)
	}
	asXML, err := xml.Marshal(credentials)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(shown, string(asJSON), string(asXML)) {
		if !strings.Contains(text, "ada@example.com") || strings.Contains(text, "example password") ||
			strings.Contains(text, "example token") || strings.Contains(text, "6578616d706c65") {
			t.Error(text)
		}
	}
}
