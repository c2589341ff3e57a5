package authbroker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTokensAreHandedOutAndNeverPrinted(t *testing.T) {
	newSandbox(t, "")
	c := client(t)
	_, err := c.AccessToken(limit(t), TokenOptions{})
	wantKind(t, err, "loginRequired")
	if !NeedsLogin(err) {
		t.Error("loginRequired needs a login")
	}
	c = registered(t)
	token, err := c.AccessToken(limit(t), TokenOptions{MinValidity: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(token.Reveal()) < 20 || token.AuthorizationHeader() != "Bearer "+token.Reveal() || token.TokenID == "" ||
		time.Until(token.ExpiresAt) < time.Minute || token.Profile != "default" {
		t.Errorf("the token is incomplete: %s", token)
	}
	encoded, _ := json.Marshal(map[string]any{"token": token, "plain": *token})
	for _, text := range []string{fmt.Sprint(token),
		fmt.Sprintf("%v %+v %#v %s %q %x %d", *token, *token, *token, token, token, token, *token), string(encoded),
		fmt.Sprintf("%+v", struct{ T *AccessToken }{token})} {
		wantNoSecret(t, text, token.Reveal())
	}
	fresh, err := c.AccessToken(limit(t), TokenOptions{ForceRefresh: true})
	if err != nil || fresh.TokenID == token.TokenID {
		t.Fatal("a forced refresh gave no other token", err)
	}
}

func TestAHundredCallsRunAtTheSameTime(t *testing.T) {
	newSandbox(t, "")
	c := registered(t)
	var group sync.WaitGroup
	failures := make(chan error, 100)
	for index := 0; index < 100; index++ {
		group.Add(1)
		go func(index int) {
			defer group.Done()
			if index%2 == 0 {
				_, err := c.AccessToken(limit(t), TokenOptions{})
				failures <- err
				return
			}
			failures <- c.Call(limit(t), "getStatus", nil, &struct{}{})
		}(index)
	}
	group.Wait()
	for index := 0; index < 100; index++ {
		if err := <-failures; err != nil {
			t.Fatal(err)
		}
	}
}

func TestACallFindsTheBrokerThatFollows(t *testing.T) {
	s := newSandbox(t, "")
	c := registered(t)
	before, err := c.AccessToken(limit(t), TokenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.kill(t)
	after, err := c.AccessToken(limit(t), TokenOptions{})
	if err != nil || after.TokenID != before.TokenID {
		t.Fatal("the session is not there after a kill", err)
	}
	s.stop(t)
	if _, err = c.AccessToken(limit(t), TokenOptions{}); err != nil {
		t.Fatal("the session is not there after a stop", err)
	}
}

func TestAContextThatEndsCancelsAtTheBroker(t *testing.T) {
	heard := make(chan string, 8)
	fakeBroker(t, func(connection net.Conn) {
		for lines := bufio.NewScanner(connection); lines.Scan(); {
			heard <- lines.Text()
		}
	})
	c := client(t)
	ctx, stop := context.WithCancel(limit(t))
	done := make(chan error, 1)
	go func() { done <- c.Call(ctx, "ping", nil, nil) }()
	first := <-heard
	stop()
	err := <-done
	wantKind(t, err, KindCancelled)
	if !errors.Is(err, context.Canceled) {
		t.Error("the error hides the context's")
	}
	if second := <-heard; !strings.Contains(first, `"id":1`) || !strings.Contains(second, "$/cancelRequest") ||
		!strings.Contains(second, `{"id":1}`) {
		t.Errorf("the broker heard %s and %s", first, second)
	}
	ctx, stop = context.WithTimeout(limit(t), 50*time.Millisecond)
	defer stop()
	_, err = c.AccessToken(ctx, TokenOptions{})
	wantKind(t, err, KindDeadlineExceeded)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error("the error hides the context's")
	}
}

func TestTheRealBrokerCancelsToo(t *testing.T) {
	newSandbox(t, "")
	c := client(t)
	if err := c.Call(limit(t), "ping", nil, nil); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(limit(t))
	done := make(chan error, 1)
	go func() {
		_, err := c.AccessToken(ctx, TokenOptions{WaitForLogin: true, Timeout: time.Hour})
		done <- err
	}()
	await(t, func() bool {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.current.mutex.Lock()
		defer c.current.mutex.Unlock()
		return len(c.current.waiting) == 1
	})
	stop()
	wantKind(t, <-done, KindCancelled)
	if err := c.Call(limit(t), "ping", nil, nil); err != nil {
		t.Fatal("the connection did not survive", err)
	}
}

func TestTheCurrentProfileIsMeantWhereNoneIsNamed(t *testing.T) {
	newSandbox(t, "")
	c := client(t)
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "authbroker"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "authbroker", "profile"), []byte("of-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", folder)
	for _, variable := range []string{"", "of-the-variable"} {
		t.Setenv("AUTHBROKER_PROFILE", variable)
		_, err := c.AccessToken(limit(t), TokenOptions{})
		wantKind(t, err, "unknownProfile")
		if !strings.Contains(fmt.Sprintf("%+v", err), first(variable, "of-the-file")) {
			t.Errorf("another profile is meant: %+v", err)
		}
		_, err = c.Session(limit(t), "")
		wantKind(t, err, "unknownProfile")
		_, err = c.Logout(limit(t), LogoutOptions{})
		wantKind(t, err, "unknownProfile")
		_, err = c.BeginLogin(limit(t), Credentials{})
		wantKind(t, err, "unknownProfile")
		if _, err = c.Session(limit(t), "default"); err != nil {
			t.Error(err)
		}
	}
}

func TestThereIsNoBroker(t *testing.T) {
	s := newSandbox(t, "")
	_, err := New(Location{NoStart: true}).AccessToken(limit(t), TokenOptions{})
	wantKind(t, err, KindNoBroker)
	if !strings.Contains(err.Error(), "no broker listens") {
		t.Errorf("the error says only: %v", err)
	}
	if _, missing := os.Stat(filepath.Join(s.state, "broker.lock")); missing == nil {
		t.Error("a broker was started")
	}
	_, err = New(Location{Socket: s.state + "/none"}).AccessToken(limit(t), TokenOptions{})
	wantKind(t, err, KindNoBroker)
	_, err = New(Location{Command: s.state + "/none"}).AccessToken(limit(t), TokenOptions{})
	wantKind(t, err, KindNoBroker)
	t.Setenv("AUTHBROKER_SOCKET", "relative")
	_, err = New(Location{}).AccessToken(limit(t), TokenOptions{})
	wantKind(t, err, KindNoBroker)
	c := New(Location{})
	c.Close()
	wantKind(t, c.Call(limit(t), "ping", nil, nil), KindInvalidRequest)
}

func TestAnotherConfigurationIsRefused(t *testing.T) {
	newSandbox(t, "{}")
	if err := client(t).Call(limit(t), "ping", nil, nil); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := New(Location{Config: other}).Call(limit(t), "ping", nil, nil)
	wantKind(t, err, KindNoBroker)
	if !strings.Contains(err.Error(), other) {
		t.Errorf("the error names no configuration: %v", err)
	}
}

func TestAForeignBrokerGetsNoByte(t *testing.T) {
	heard := make(chan string, 1)
	fakeBroker(t, func(connection net.Conn) {
		text, _ := io.ReadAll(connection)
		heard <- string(text)
	})
	t.Setenv("AUTHBROKER_SERVER_UID", strconv.FormatUint(uint64(ownUser)+1, 10))
	_, err := New(Location{}).BeginLogin(limit(t), Credentials{Email: "ada@example.com", Password: madeUpPassword})
	wantKind(t, err, KindNoBroker)
	wantNoSecret(t, err.Error(), madeUpPassword)
	if text := <-heard; text != "" {
		t.Errorf("a foreign broker got %d bytes", len(text))
	}
}

func TestMalformedAnswersAreErrorsWithoutSecrets(t *testing.T) {
	const secret = "eyJ-a-made-up-secret"
	for name, reply := range map[string]string{
		"no JSON":   `{"jsonrpc":"2.0","id":1,"result":{"accessToken":"` + secret + `"`,
		"a list":    `[1,"` + secret + `"]`,
		"no result": `{"jsonrpc":"2.0","id":1}`,
		"wrong type": `{"jsonrpc":"2.0","id":1,"result":{"tokenType":"Bearer","tokenId":"x","accessToken":{"` + secret +
			`":1}}}`,
		"wrong time": `{"jsonrpc":"2.0","id":1,"result":{"accessToken":"a","tokenType":"Bearer","tokenId":"x","expiresAt":"` +
			secret + `"}}`,
		"missing member": `{"jsonrpc":"2.0","id":1,"result":{"tokenId":"` + secret + `"}}`,
		"null":           `{"jsonrpc":"2.0","id":1,"result":null}`,
		"no id":          `{"jsonrpc":"2.0","result":{"accessToken":"` + secret + `"}}`,
		"wrong error":    `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"No.","data":"` + secret + `"}}`,
		"unknown id":     `{"jsonrpc":"2.0","id":7,"result":{}}` + "\n" + `nonsense`,
	} {
		t.Run(name, func(t *testing.T) {
			fakeBroker(t, func(connection net.Conn) {
				_, _ = bufio.NewReader(connection).ReadString('\n')
				_, _ = io.WriteString(connection, reply+"\n")
				_, _ = io.Copy(io.Discard, connection)
			})
			_, err := client(t).AccessToken(limit(t), TokenOptions{})
			wantKind(t, err, KindUnexpectedAnswer)
			wantNoSecret(t, err.Error()+fmt.Sprintf("%v", err), secret)
		})
	}
}

func TestALockedVaultSaysWhatToDo(t *testing.T) {
	newSandbox(t, "")
	c := registered(t)
	if err := c.Call(limit(t), "lock", nil, nil); err != nil {
		t.Fatal("the proof was not given", err)
	}
	_, err := c.AccessToken(limit(t), TokenOptions{})
	wantKind(t, err, "vaultLocked")
	if failure := err.(*Error); failure.NextAction != "unlock" || failure.Code != 1060 {
		t.Errorf("it says %+v", failure)
	}
	if err := c.Call(limit(t), "unlock", nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AccessToken(limit(t), TokenOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Events without a subscription are not kept, and do not outlast a time limit.
func TestAFloodOfEventsDoesNotOutlastATimeLimit(t *testing.T) {
	event := `{"jsonrpc":"2.0","method":"event","params":{"subscriptionId":"s","sequence":1,"event":"networkUp",` +
		`"time":"2026-01-01T00:00:00Z","data":{"filling":"` + strings.Repeat("x", 4096) + `"}}}` + "\n"
	fakeBroker(t, func(connection net.Conn) {
		for {
			if _, err := io.WriteString(connection, event); err != nil {
				return
			}
		}
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	short, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	c := client(t)
	wantKind(t, c.Call(short, "getAccessToken", nil, nil), KindDeadlineExceeded)
	_, err := c.Subscribe(short, SubscribeOptions{})
	wantKind(t, err, KindDeadlineExceeded)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+(32<<20) {
		t.Errorf("%d bytes are kept", after.HeapAlloc-before.HeapAlloc)
	}
}

func TestEveryCallHasATimeLimit(t *testing.T) {
	for _, one := range []struct {
		method string
		params any
		limit  time.Duration
	}{{"ping", nil, time.Minute}, {"rekey", nil, 11 * time.Minute}, {"awaitLogin", nil, time.Hour},
		{"getAccessToken", map[string]any{"timeoutSeconds": 600}, 605 * time.Second}} {
		ctx, stop := limited(context.Background(), one.method, one.params)
		deadline, isLimited := ctx.Deadline()
		if left := time.Until(deadline); !isLimited || left > one.limit || left < one.limit-10*time.Second {
			t.Errorf("%s: %v", one.method, left)
		}
		stop()
	}
}

// The broker's own limit and the package's are told by one kind, which wraps context.DeadlineExceeded.
func TestThereIsOneErrorForATimeLimit(t *testing.T) {
	fakeBroker(t, func(connection net.Conn) {
		_, _ = bufio.NewReader(connection).ReadString('\n')
		_, _ = io.WriteString(connection, `{"jsonrpc":"2.0","id":1,"error":{"code":1087,"message":"m","data":`+
			`{"kind":"deadlineExceeded","nextAction":"retry","retryable":true}}}`+"\n")
		_, _ = io.Copy(io.Discard, connection)
	})
	c := client(t)
	short, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	for _, err := range []error{c.Call(limit(t), "getAccessToken", nil, nil), c.Call(short, "slow", nil, nil)} {
		wantKind(t, err, KindDeadlineExceeded)
		if !errors.Is(err, context.DeadlineExceeded) || err.(*Error).Code != 1087 || !err.(*Error).Retryable {
			t.Errorf("it says %+v", err)
		}
	}
}

// entries are the names in a directory.
func entries(t *testing.T, directory string) string {
	t.Helper()
	found, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range found {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

// The real broker asks a program of another's for a file, and that one hands the question on to this client.
func TestARelayGetsNoProof(t *testing.T) {
	s := newSandbox(t, "")
	registered(t)
	socket := filepath.Join(s.state, "run/broker.sock")
	fakeBroker(t, func(connection net.Conn) {
		for reader := bufio.NewReader(connection); ; {
			line, err := reader.ReadString('\n')
			if err != nil {
				return
			}
			var asked struct {
				ID int `json:"id"`
			}
			_ = json.Unmarshal([]byte(line), &asked)
			real, err := net.Dial("unix", socket)
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(real, `{"jsonrpc":"2.0","id":%d,"method":"lock"}`+"\n", asked.ID)
			answer, _ := bufio.NewReader(real).ReadString('\n')
			_ = real.Close()
			_, _ = io.WriteString(connection, answer)
		}
	})
	before := entries(t, s.state)
	for _, method := range []string{"getAccessToken", "lock", "rekey", "listLocalUsers", "logout", "prove"} {
		err := client(t).Call(limit(t), method, map[string]bool{"all": method == "logout"}, nil)
		wantKind(t, err, "accessDenied")
		if wantsNothing := method == "getAccessToken" || method == "prove"; !wantsNothing &&
			!strings.Contains(err.Error(), "nothing was created") {
			t.Errorf("%s: %v", method, err)
		}
	}
	if after := entries(t, s.state); after != before {
		t.Errorf("created: %s, before: %s", after, before)
	}
	t.Setenv("AUTHBROKER_SOCKET", "")
}

func TestNoFileIsCreatedElsewhere(t *testing.T) {
	s := newSandbox(t, "")
	registered(t)
	other := t.TempDir()
	name := "proof-" + strings.Repeat("a", 32)
	for _, path := range []string{other + "/" + name, s.state + "/../" + name, s.state + "/run/" + name, name,
		s.state + "/"} {
		socket, err := (Location{}).dial(limit(t), false)
		if err != nil {
			t.Fatal(err)
		}
		_, failure := (&proof{path}).file(s.state, socket)
		_ = socket.Close()
		wantKind(t, failure, "accessDenied")
	}
	if left := entries(t, other); left != "" {
		t.Errorf("created: %s", left)
	}
}

func BenchmarkCachedToken(b *testing.B) {
	c := New(Location{})
	defer c.Close()
	ctx := context.Background()
	if _, err := c.AccessToken(ctx, TokenOptions{}); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for index := 0; index < b.N; index++ {
		if _, err := c.AccessToken(ctx, TokenOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
