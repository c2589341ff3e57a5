package authbroker

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// madeUpPassword is the password of the accounts of these tests.
const madeUpPassword = "made-up password 1"

// sandbox is a home of a test's own, with a state directory and no broker yet; the broker ends with the test.
type sandbox struct{ state string }

// newSandbox makes one. The programs are those that the PATH names.
func newSandbox(t *testing.T, config string) *sandbox {
	t.Helper()
	if _, err := exec.LookPath("authbroker"); err != nil {
		t.Fatal("authbroker is not on the PATH; run Tests/Drivers/Clients/go/test BIN-FOLDER")
	}
	// Short on purpose: a Unix socket's path has room for 107 bytes.
	home, err := os.MkdirTemp("", "abgo")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"AUTHBROKER_SOCKET", "AUTHBROKER_CONFIG", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	t.Setenv("AUTHBROKER_STATE", filepath.Join(home, "state"))
	if config != "" {
		t.Setenv("AUTHBROKER_CONFIG", filepath.Join(home, "config.json"))
		if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &sandbox{state: filepath.Join(home, "state")}
	t.Cleanup(func() {
		s.stop(t)
		_ = os.RemoveAll(home)
	})
	return s
}

// stop ends the broker in order; none is no failure.
func (s *sandbox) stop(t *testing.T) {
	if said, err := exec.Command("authbroker", "stop").CombinedOutput(); err != nil {
		t.Errorf("authbroker stop: %v: %s", err, said)
	}
}

// kill kills the broker and waits until it is gone.
func (s *sandbox) kill(t *testing.T) {
	t.Helper()
	record, _ := readRecord(filepath.Join(s.state, "broker.lock"))
	if record == nil {
		t.Fatal("there is no broker to kill")
	}
	process, err := os.FindProcess(int(record.Process))
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { _, held := readRecord(filepath.Join(s.state, "broker.lock")); return !held })
}

// code returns the code of the newest message of the embedded provider.
func (s *sandbox) code(t *testing.T) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(s.state, "local-provider/outbox/*.json"))
	if len(files) == 0 {
		t.Fatal("no message was sent")
	}
	text, err := os.ReadFile(files[len(files)-1])
	var message struct {
		Code string `json:"code"`
	}
	if err != nil || json.Unmarshal(text, &message) != nil || message.Code == "" {
		t.Fatal("the message has no code", err)
	}
	return message.Code
}

// client returns a client that is closed with the test.
func client(t *testing.T) *Client {
	c := New(Location{})
	t.Cleanup(c.Close)
	return c
}

// registered returns a client whose default profile is logged in.
func registered(t *testing.T) *Client {
	t.Helper()
	c := client(t)
	params := map[string]string{"email": "ada@example.com", "password": madeUpPassword}
	if err := c.Call(limit(t), "register", params, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// limit is a context that ends a test which hangs.
func limit(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	t.Cleanup(stop)
	return ctx
}

// await waits for a condition.
func await(t *testing.T, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !isSo(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what is waited for does not come")
		}
	}
}

// wantKind fails unless an error is of a kind.
func wantKind(t *testing.T, err error, kind string) {
	t.Helper()
	if Kind(err) != kind {
		t.Fatalf("the kind is %q, not %q: %v", Kind(err), kind, err)
	}
}

// wantNoSecret fails if a text holds a secret.
func wantNoSecret(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Fatalf("a secret shows in %q", strings.ReplaceAll(text, secret, "SECRET"))
		}
	}
}

// fakeBroker listens where the environment says, and answers each connection with a function.
func fakeBroker(t *testing.T, serve func(net.Conn)) {
	t.Helper()
	folder, err := os.MkdirTemp("", "abgo")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("AUTHBROKER_SOCKET", filepath.Join(folder, "s"))
	t.Cleanup(func() {
		_ = listener.Close()
		_ = os.RemoveAll(folder)
	})
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = connection.Close() }()
				serve(connection)
			}()
		}
	}()
}
