package authbroker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Location says which broker to talk to. What is empty comes from the environment, as for the command authbroker:
// AUTHBROKER_SOCKET, AUTHBROKER_STATE, AUTHBROKER_CONFIG, AUTHBROKER_COMMAND and the XDG base directories.
type Location struct {
	// Socket is connected to; no broker is started then.
	Socket string
	// State is the state directory.
	State string
	// Config is the configuration file; a running broker that uses another one is refused.
	Config string
	// Command is the program authbroker, which finds and starts the broker; by default the one on the PATH.
	Command string
	// NoStart keeps a broker from being started where there is none.
	NoStart bool
}

// longestRecord bounds what is read of the owner's record: five short members, two of them paths of 4,096 bytes
// (PATH_MAX), each byte of which may be escaped with six.
const longestRecord = 64 << 10

// ownUser is the user whose broker is trusted; a variable for the tests alone.
var ownUser = uint32(os.Geteuid())

// ownerRecord is what the owner of a state directory writes into its lock file.
type ownerRecord struct {
	Process int32  `json:"pid"`
	Config  string `json:"config"`
	Socket  string `json:"socket"`
}

// dial connects to the broker, which is started where there is none, unless the location or starts forbids it.
func (l Location) dial(ctx context.Context, starts bool) (*net.UnixConn, error) {
	if socket := first(l.Socket, os.Getenv("AUTHBROKER_SOCKET")); socket != "" {
		if !filepath.IsAbs(socket) {
			return nil, noBroker("AUTHBROKER_SOCKET must be an absolute path, not %q", socket)
		}
		connection, _, err := open(ctx, socket, os.Getenv("AUTHBROKER_SERVER_UID"))
		if connection == nil && err == nil {
			err = noBroker("no broker listens on %s, which AUTHBROKER_SOCKET or the location names; start that broker", socket)
		}
		return connection, err
	}
	if connection, err := l.ofRecord(ctx); connection != nil || err != nil {
		return connection, err
	}
	socket, err := l.ask(ctx, starts && !l.NoStart)
	if err != nil {
		return nil, err
	}
	connection, _, err := open(ctx, socket, "")
	if connection == nil && err == nil {
		err = noBroker("the broker on %s ended at once; see: authbroker doctor", socket)
	}
	return connection, err
}

// ofRecord connects to the owner whose record is in the held lock; nil if there is none. Whatever else there is to be
// found out is left to the program.
func (l Location) ofRecord(ctx context.Context) (*net.UnixConn, error) {
	state := l.state()
	if state == "" || first(l.Config, os.Getenv("AUTHBROKER_CONFIG")) != "" && !filepath.IsAbs(state) {
		return nil, nil
	}
	record, held := readRecord(filepath.Join(state, "broker.lock"))
	if record == nil {
		return nil, nil
	}
	if wanted := first(l.Config, os.Getenv("AUTHBROKER_CONFIG")); wanted != "" && wanted != record.Config {
		// The program compares the two as paths, and says how to change over.
		return nil, nil
	}
	connection, peer, err := open(ctx, record.Socket, "")
	if connection != nil && peer != record.Process && !held {
		// A broker that was killed has left its record behind, and its socket's path may be another one's by now.
		_ = connection.Close()
		return nil, nil
	}
	return connection, err
}

// state is the state directory; empty where nothing names one.
func (l Location) state() string {
	if state := first(l.State, os.Getenv("AUTHBROKER_STATE")); state != "" {
		return state
	}
	if base := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "authbroker")
	}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local/state/authbroker")
	}
	return ""
}

// readRecord reads the record of a lock file of this user, and whether the lock is held: it is taken shared for a
// moment where it is not.
func readRecord(path string) (record *ownerRecord, held bool) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer func() { _ = file.Close() }()
	status, err := file.Stat()
	if err != nil || !status.Mode().IsRegular() || !isPrivate(status) {
		return nil, false
	}
	text, err := io.ReadAll(io.LimitReader(file, longestRecord))
	record = new(ownerRecord)
	if err != nil || json.Unmarshal(text, record) != nil || record.Process <= 0 || !filepath.IsAbs(record.Socket) {
		return nil, false
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return record, errors.Is(err, syscall.EWOULDBLOCK)
}

// isPrivate tells whether a file or directory is this user's, and closed to all others.
func isPrivate(status os.FileInfo) bool {
	system, known := status.Sys().(*syscall.Stat_t)
	return known && system.Uid == ownUser && status.Mode().Perm()&0o077 == 0
}

// ask lets the program find, or start, the broker, and returns its socket.
func (l Location) ask(ctx context.Context, starts bool) (string, error) {
	program := first(l.Command, os.Getenv("AUTHBROKER_COMMAND"), "authbroker")
	arguments := []string{"sockpath"}
	if l.State != "" {
		arguments = append(arguments, "--state", l.State)
	}
	if l.Config != "" {
		arguments = append(arguments, "--config", l.Config)
	}
	if starts {
		arguments = append(arguments, "--start")
	}
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = append(os.Environ(), "NO_COLOR=1")
	var said, complaint bytes.Buffer
	command.Stdout, command.Stderr = &said, &complaint
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return "", ended(ctx)
	case errors.As(err, &exit):
		reason := strings.TrimPrefix(strings.TrimSpace(complaint.String()), "authbroker: ")
		return "", noBroker("%s", first(reason, program+" sockpath ended without a word"))
	default:
		return "", noBroker("the program %s cannot be run; install AuthBroker, or set AUTHBROKER_COMMAND", program)
	}
	socket := strings.TrimSpace(said.String())
	if !filepath.IsAbs(socket) {
		return "", noBroker("%s sockpath printed no path; see whether AUTHBROKER_COMMAND names the program", program)
	}
	return socket, nil
}

// isTrusted tells whether a broker of a user may be sent something: the own one, root's, or the one that is named instead,
// by name, number or as any.
func isTrusted(number uint32, named string) (bool, error) {
	switch named {
	case "":
		return number == ownUser || number == 0, nil
	case "any":
		return true, nil
	}
	wanted, err := strconv.ParseUint(named, 10, 32)
	if err != nil {
		account, missing := user.Lookup(named)
		if missing != nil {
			return false, noBroker("AUTHBROKER_SERVER_UID must be the name or the number of a user, or any, not %q", named)
		}
		if wanted, err = strconv.ParseUint(account.Uid, 10, 32); err != nil {
			return false, noBroker("the user %q has no number", named)
		}
	}
	return uint64(number) == wanted, nil
}

// open connects to a socket and looks who serves it before anything is sent; nil where nothing listens. named is the user
// that has to serve it, as isTrusted takes it, and peer the process that listens.
func open(ctx context.Context, path, named string) (connection *net.UnixConn, peer int32, err error) {
	opened, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, 0, ended(ctx)
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
		return nil, 0, nil
	default:
		return nil, 0, noBroker("the broker's socket %s cannot be reached", path)
	}
	connection = opened.(*net.UnixConn)
	credentials, err := peerCredentials(connection)
	if err != nil {
		_ = connection.Close()
		return nil, 0, noBroker("who serves %s cannot be found out; nothing was sent", path)
	}
	trusted, err := isTrusted(credentials.Uid, named)
	if err != nil {
		_ = connection.Close()
		return nil, 0, err
	}
	if !trusted {
		_ = connection.Close()
		return nil, 0, noBroker("%s is served by user %d, who is not trusted; nothing was sent", path, credentials.Uid)
	}
	return connection, credentials.Pid, nil
}

// peerCredentials asks the kernel who listens (unix(7), SO_PEERCRED).
func peerCredentials(connection *net.UnixConn) (credentials *syscall.Ucred, err error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return nil, err
	}
	failure := raw.Control(func(descriptor uintptr) {
		credentials, err = syscall.GetsockoptUcred(int(descriptor), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if failure != nil {
		return nil, failure
	}
	return credentials, err
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// pause waits, unless the context is done first.
func pause(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}
