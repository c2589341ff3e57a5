package authbroker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// Terminal asks at the controlling terminal of the process, /dev/tty.
type Terminal struct{}

// ErrNothingEntered is returned where the user entered nothing, or left; the login is cancelled.
var ErrNothingEntered = errors.New("nothing was entered; nothing was sent")

// Account asks for what names the account.
func (t Terminal) Account(ctx context.Context, field string) (string, error) {
	if field == "phoneNumber" {
		return t.ask(ctx, "Your phone number: ", true)
	}
	return t.ask(ctx, "Your e-mail address: ", true)
}

// Password asks for the password, without echo.
func (t Terminal) Password(ctx context.Context) (string, error) {
	return t.ask(ctx, "Password: ", false)
}

// Code asks for the code of a challenge, without echo.
func (t Terminal) Code(ctx context.Context, challenge *OTPChallenge) (string, error) {
	question := "Code"
	if challenge.BackupCodesAllowed {
		question = "Code or backup code"
	}
	if challenge.Method != "totp" {
		t.Tell(ctx, "sent a code to "+challenge.MaskedDestination)
		question += " (r sends another)"
	}
	typed, err := t.ask(ctx, question+": ", false)
	return strings.TrimSpace(typed), err
}

// Show says what to open, and which code to enter there.
func (t Terminal) Show(ctx context.Context, action *UserAction) error {
	sentence := "open " + action.VerificationURI
	if action.UserCode != "" {
		sentence += " and enter the code " + action.UserCode
	}
	t.Tell(ctx, sentence)
	return ctx.Err()
}

// Tell writes a line to the terminal; without characters that would control it.
func (t Terminal) Tell(_ context.Context, sentence string) {
	terminal, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer func() { _ = terminal.Close() }()
	_, _ = fmt.Fprintln(terminal, plain(sentence))
}

// ask asks one question. The terminal's settings are put back at the end, and at the signals of Ctrl-C, of the end of
// the session and of kill(1), which end the question and not the program.
func (t Terminal) ask(ctx context.Context, question string, echo bool) (string, error) {
	// Not blocking, so that a read ends with the context.
	number, err := syscall.Open("/dev/tty", syscall.O_RDWR|syscall.O_NONBLOCK|syscall.O_CLOEXEC|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", invalidRequest("there is no terminal to ask at; give the credentials, or a Prompter of your own")
	}
	terminal := os.NewFile(uintptr(number), "/dev/tty")
	defer func() { _ = terminal.Close() }()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if !echo {
		restore, err := silence(number)
		if err != nil {
			return "", invalidRequest("the terminal's echo cannot be turned off; nothing was asked")
		}
		defer func() { _, _ = terminal.WriteString("\n") }()
		defer restore()
	}
	if _, err := terminal.WriteString(question); err != nil {
		return "", ErrNothingEntered
	}
	answered := make(chan struct{})
	defer close(answered)
	go func() {
		select {
		case <-ctx.Done():
			_ = terminal.SetReadDeadline(time.Unix(1, 0))
		case <-answered:
		}
	}()
	line, err := readTerminalLine(terminal)
	if ctx.Err() != nil {
		return "", ended(ctx)
	}
	if err != nil || line == "" {
		return "", ErrNothingEntered
	}
	return line, nil
}

// readTerminalLine reads up to the end of a line, and nothing behind it.
func readTerminalLine(terminal *os.File) (string, error) {
	var line []byte
	var one [1]byte
	for {
		count, err := terminal.Read(one[:])
		if err != nil || count == 0 {
			return "", ErrNothingEntered
		}
		if one[0] == '\n' || one[0] == '\r' {
			return string(line), nil
		}
		if len(line) > 4096 {
			return "", ErrNothingEntered
		}
		line = append(line, one[0])
	}
}

// silence turns the echo of a terminal off (termios(3)); what it returns turns it on again.
func silence(number int) (restore func(), err error) {
	var settings syscall.Termios
	if err := control(number, syscall.TCGETS, &settings); err != nil {
		return nil, err
	}
	quiet := settings
	quiet.Lflag &^= syscall.ECHO
	quiet.Lflag |= syscall.ICANON | syscall.ISIG
	if err := control(number, syscall.TCSETS, &quiet); err != nil {
		return nil, err
	}
	return func() { _ = control(number, syscall.TCSETS, &settings) }, nil
}

// control reads or writes the settings of a terminal (ioctl_tty(2)).
func control(number int, request uintptr, settings *syscall.Termios) error {
	_, _, failure := syscall.Syscall(syscall.SYS_IOCTL, uintptr(number), request, uintptr(unsafe.Pointer(settings)))
	if failure != 0 {
		return failure
	}
	return nil
}
