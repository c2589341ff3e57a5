package authbroker

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// proof is what a broker asks of a client that wants an administrative method: an empty file in its state directory,
// whose name the client's process number ends.
type proof struct {
	Path string `json:"path"`
}

// administrative are the methods for clients that have the state directory, besides logout with all and the methods
// with Local in their names.
var administrative = map[string]bool{"rekey": true, "lock": true, "reloadConfig": true, "stopBroker": true,
	"checkVault": true, "tryProvider": true, "continueTrial": true}

// accountChanges want a recent login, which a proof takes the place of.
var accountChanges = map[string]bool{"login": true, "register": true, "updateProfile": true,
	"generateBackupCodes": true, "completeLogin": true}

// wantsProof tells whether a refusal of a method may be answered with a proof.
func (e *Error) wantsProof(method string, params any) bool {
	switch {
	case e.proof == nil:
		return false
	case e.Kind == "reauthRequired":
		return accountChanges[method]
	case e.Kind != "accessDenied":
		return false
	case method == "logout":
		var given struct {
			All bool `json:"all"`
		}
		text, err := json.Marshal(params)
		return err == nil && json.Unmarshal(text, &given) == nil && given.All
	}
	return administrative[method] || strings.Contains(method, "Local")
}

// file is where the proof is given to the other end of a connection: directly in the state directory that this package
// has found itself, and only where that end owns it. Whatever else answers on a socket, a relay of another program's
// above all, gets nothing created, in no directory.
func (p *proof) file(state string, socket net.Conn) (string, *Error) {
	directory, name := filepath.Split(p.Path)
	if state == "" || name == "" || filepath.Clean(p.Path) != p.Path || !isSameFile(directory, state) {
		return "", unproven("the broker asks for a file in " + strconv.Quote(directory) + ", not in " + state +
			"; nothing was created")
	}
	record, held := readRecord(filepath.Join(state, "broker.lock"))
	unix, isUnix := socket.(*net.UnixConn)
	if record == nil || !held || !isUnix {
		return "", unproven("no broker owns " + state + "; nothing was created")
	}
	credentials, err := peerCredentials(unix)
	if err != nil || credentials.Pid != record.Process {
		return "", unproven("the process that answers on the socket does not own " + state + "; nothing was created")
	}
	if strings.HasPrefix(name, "prove-") {
		return "", unproven("the running broker is of an earlier version; stop it to change over: authbroker stop")
	}
	return filepath.Join(state, name+"."+strconv.Itoa(os.Getpid())), nil
}

// isSameFile tells whether two paths lead to the same directory.
func isSameFile(one, other string) bool {
	first, err := os.Stat(one)
	second, failure := os.Stat(other)
	return err == nil && failure == nil && os.SameFile(first, second)
}

// give creates the file, lets the broker look for it, and removes it where the broker has not.
func (p *proof) give(ctx context.Context, connection *connection, state string) *Error {
	path, refusal := p.file(state, connection.socket)
	if refusal != nil {
		return refusal
	}
	directory, err := os.Lstat(state)
	if err != nil || !directory.IsDir() || !isPrivate(directory) {
		return unproven(state + " is not a directory of this user alone")
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	switch {
	case errors.Is(err, os.ErrExist):
		// Another call of the connection has created it, and its prove is read before this call.
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return unproven("no file can be created in " + state + ": its file system has no inode left, see: df -i")
	case err != nil:
		return unproven("no file can be created in " + state)
	}
	defer func() { _ = os.Remove(path) }()
	_ = file.Close()
	if _, failure := connection.call(ctx, "prove", nil); failure != nil {
		if failure.Kind != "accessDenied" {
			return failure
		}
		return unproven("the broker does not find " + path + "; it may run in another PID namespace, or see another " +
			"file system")
	}
	return nil
}

// unproven is the error of a proof that cannot be given.
func unproven(why string) *Error {
	return &Error{Code: 1081, Kind: "accessDenied", NextAction: "none",
		Message: "access to the broker's state directory cannot be proven: " + why}
}
