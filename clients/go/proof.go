package authbroker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// proof is what a broker asks of a client that wants an administrative method: a file in its state directory.
type proof struct {
	Path  string `json:"path"`
	Nonce string `json:"nonce"`
}

var (
	proofName  = regexp.MustCompile(`^prove-[0-9a-f]{32}$`)
	proofNonce = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// isHarmless tells whether the broker asks for a file as its own programs choose them, so that whatever answers on the
// socket can do no harm by it.
func (p *proof) isHarmless() bool {
	return p != nil && filepath.IsAbs(p.Path) && filepath.Clean(p.Path) == p.Path &&
		proofName.MatchString(filepath.Base(p.Path)) && proofNonce.MatchString(p.Nonce)
}

// give makes the file, lets the broker look at it, and removes it where the broker has not.
func (p *proof) give(ctx context.Context, connection *connection) *Error {
	directory, err := os.Lstat(filepath.Dir(p.Path))
	if err != nil || !directory.IsDir() || !isPrivate(directory) {
		return unproven(filepath.Dir(p.Path) + " is not a directory of this user alone")
	}
	file, err := os.OpenFile(p.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return unproven(p.Path + " is there already")
	}
	if err != nil {
		return unproven("no file can be created in " + filepath.Dir(p.Path))
	}
	defer func() { _ = os.Remove(p.Path) }()
	_, err = file.WriteString(p.Nonce)
	if failure := file.Close(); err != nil || failure != nil {
		return unproven("no file can be written in " + filepath.Dir(p.Path))
	}
	_, failure := connection.call(ctx, "prove", nil)
	return failure
}

// unproven is the error of a proof that cannot be given.
func unproven(why string) *Error {
	return &Error{Code: 1081, Kind: "accessDenied", NextAction: "none",
		Message: "access to the broker's state directory cannot be proven: " + why}
}
