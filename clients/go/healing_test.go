package authbroker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// api is an HTTP server that rejects the tokens it has seen before the last rejection.
type api struct {
	*httptest.Server
	mutex    sync.Mutex
	rejected map[string]bool
	headers  []string
	bodies   []string
}

// newAPI starts one; rejections is how many different tokens it rejects.
func newAPI(t *testing.T, rejections int) *api {
	a := &api{rejected: map[string]bool{}}
	a.Server = httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		header := request.Header.Get("Authorization")
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.headers, a.bodies = append(a.headers, header), append(a.bodies, string(body))
		if len(a.rejected) < rejections {
			a.rejected[header] = true
		}
		if a.rejected[header] {
			response.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(a.Close)
	return a
}

func TestAFunctionIsCalledOnceMoreWithAnotherToken(t *testing.T) {
	newSandbox(t, "")
	c := registered(t)
	var seen []string
	use := func(rejections int) func(context.Context, *AccessToken) error {
		seen = nil
		return func(_ context.Context, token *AccessToken) error {
			seen = append(seen, token.TokenID)
			if len(seen) <= rejections {
				return fmt.Errorf("status 401: %w", ErrUnauthorized)
			}
			return nil
		}
	}
	if err := c.WithAccessToken(limit(t), TokenOptions{}, use(1)); err != nil || len(seen) != 2 || seen[0] == seen[1] {
		t.Errorf("healed: %v, %v", seen, err)
	}
	if err := c.WithAccessToken(limit(t), TokenOptions{}, use(2)); err == nil || len(seen) != 2 {
		t.Errorf("rejected twice: %v, %v", seen, err)
	}
	if err := c.WithAccessToken(limit(t), TokenOptions{}, use(0)); err != nil || len(seen) != 1 {
		t.Errorf("not rejected: %v, %v", seen, err)
	}
}

func TestTheTransportHealsOnceAndOnlyWhereItMay(t *testing.T) {
	newSandbox(t, "")
	c := registered(t)
	good, twice, foreign := newAPI(t, 1), newAPI(t, 2), newAPI(t, 0)
	web := http.Client{Transport: &Transport{Client: c, Origins: []string{good.URL, twice.URL}}}
	request, _ := http.NewRequestWithContext(limit(t), "POST", good.URL, strings.NewReader("a body"))
	response, err := web.Do(request)
	if err != nil || response.StatusCode != 200 {
		t.Fatal("not healed", err)
	}
	if len(good.headers) != 2 || good.headers[0] == good.headers[1] || good.bodies[0] != "a body" ||
		good.bodies[1] != "a body" || !strings.HasPrefix(good.headers[1], "Bearer ") {
		t.Errorf("the server got %d requests with the bodies %v", len(good.headers), good.bodies)
	}
	if request.Header.Get("Authorization") != "" {
		t.Error("the caller's request was changed")
	}
	if response, err := web.Get(twice.URL); err != nil || response.StatusCode != 401 || len(twice.headers) != 2 {
		t.Error("the second rejection is the answer", err)
	}
	if response, err := web.Get(foreign.URL); err != nil || response.StatusCode != 200 || foreign.headers[0] != "" {
		t.Error("another origin got a token", err)
	}
}

func TestTheTransportDoesNotRepeatABodyThatItCannotHaveAgain(t *testing.T) {
	newSandbox(t, "")
	// The refusal is the answer, and the next request has the other token.
	once := newAPI(t, 1)
	web := http.Client{Transport: &Transport{Client: registered(t), Origins: []string{once.URL}}}
	request, _ := http.NewRequestWithContext(limit(t), "POST", once.URL, io.NopCloser(bytes.NewReader([]byte("a stream"))))
	if response, err := web.Do(request); err != nil || response.StatusCode != 401 || len(once.headers) != 1 {
		t.Error("a stream was sent twice", err)
	}
	if response, err := web.Get(once.URL); err != nil || response.StatusCode != 200 {
		t.Error("the next request was rejected", err)
	}
	web.Transport.(*Transport).Origins = nil
	if _, err := web.Get(once.URL); Kind(err) != KindInvalidRequest {
		t.Error("no origin is named", err)
	}
	if (&Transport{Origins: []string{"http://api.example.com"}}).covers(request.URL) {
		t.Error("a token would leave this machine over http")
	}
}

// reported plays a broker that always has the same token; it returns what was reported to it: status and challenge.
func reported(t *testing.T) func() string {
	var mutex sync.Mutex
	var reports []string
	fakeBroker(t, func(connection net.Conn) {
		for lines := bufio.NewScanner(connection); lines.Scan(); {
			var asked struct {
				ID     int
				Method string
				Params struct {
					Status    int
					Challenge string
				}
			}
			_ = json.Unmarshal(lines.Bytes(), &asked)
			if asked.Method == "reportRejected" {
				mutex.Lock()
				reports = append(reports, fmt.Sprint(asked.Params.Status, " ", asked.Params.Challenge))
				mutex.Unlock()
			}
			_, _ = fmt.Fprintf(connection, `{"jsonrpc":"2.0","id":%d,"result":{"accessToken":"a","tokenType":"Bearer",`+
				`"tokenId":"one","expiresAt":null,"scopes":[],"profile":"default"}}`+"\n", asked.ID)
		}
	})
	return func() string {
		mutex.Lock()
		defer mutex.Unlock()
		return strings.Join(reports, "; ")
	}
}

func TestWhatAServerWantsIsReported(t *testing.T) {
	wish := `Bearer error="insufficient_scope", scope="a"`
	told := reported(t)
	c := client(t)
	refusal := &Unauthorized{Status: 403, Challenge: wish}
	use := func(context.Context, *AccessToken) error { return refusal }
	if err := c.WithAccessToken(limit(t), TokenOptions{}, use); err != refusal {
		t.Error("the function's own refusal is the answer", err)
	}
	challenges := []string{`Bearer realm="a"`, wish, wish + strings.Repeat("x", longestChallenge)}
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		response.Header().Set("WWW-Authenticate", challenges[0])
		challenges = challenges[1:]
		response.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	web := http.Client{Transport: &Transport{Client: c, Origins: []string{server.URL}}}
	for range [3]int{} {
		if response, err := web.Get(server.URL); err != nil || response.StatusCode != 403 {
			t.Error("the refusal is the answer", err)
		}
	}
	if said := told(); said != "403 "+wish+"; 403 "+wish+"; 403 " {
		t.Error("reported:", said)
	}
}

// Nothing is asked for where no login is needed: a prompter that is nil would panic.
func TestNothingIsAskedForWhereNoLoginIsNeeded(t *testing.T) {
	fakeBroker(t, func(connection net.Conn) {
		reader := bufio.NewReader(connection)
		_, _ = reader.ReadString('\n')
		_, _ = io.WriteString(connection, `{"jsonrpc":"2.0","id":1,"result":{"profile":"default","provider":"oidc",`+
			`"state":"signedOut","scopes":[],"refreshTokenPresent":false,"login":[]}}`+"\n")
		_, _ = reader.ReadString('\n')
		_, _ = io.WriteString(connection, `{"jsonrpc":"2.0","id":2,"error":{"code":1050,"message":"m","data":`+
			`{"kind":"unsupportedByProvider"}}}`+"\n")
		_, _ = io.Copy(io.Discard, connection)
	})
	_, err := client(t).Login(limit(t), Credentials{}, nil)
	wantKind(t, err, "unsupportedByProvider")
}

func TestAnErrorSaysWhatALoginMustAskFor(t *testing.T) {
	failure := (&wireError{Code: 1005, Data: json.RawMessage(
		`{"kind":"reauthRequired","scopes":["a"],"acrValues":["b"],"maxAge":0}`)}).read()
	if fmt.Sprint(failure.Scopes, failure.ACRValues) != "[a] [b]" || failure.MaxAge == nil || *failure.MaxAge != 0 {
		t.Errorf("it says %+v", failure)
	}
}

// TestTheExamplesOfTheReadmeRun makes a program of them, in a module of its own as the README says, and runs it.
func TestTheExamplesOfTheReadmeRun(t *testing.T) {
	newSandbox(t, "")
	registered(t)
	server := newAPI(t, 0)
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```go\n")[1:]
	if len(blocks) != 4 {
		t.Fatalf("there are %d examples", len(blocks))
	}
	for index, block := range blocks {
		blocks[index], _, _ = strings.Cut(block, "```")
	}
	here, _ := os.Getwd()
	_, install, _ := strings.Cut(string(text), "```sh\n")
	install, _, _ = strings.Cut(install, "```")
	install = strings.ReplaceAll(install, "/usr/local/share/authbroker/clients/go", here)
	program := strings.ReplaceAll(exampleProgram, "API", server.URL)
	for index, name := range []string{"TOKEN", "CLIENT", "WITH", "EVENTS"} {
		block := strings.ReplaceAll(blocks[index], "https://api.example.com", server.URL)
		program = strings.ReplaceAll(program, "/*"+name+"*/", block)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(limit(t), "sh", "-ec", "go mod init example\n"+install+"\nexec go run .")
	command.Dir = folder
	said, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "the example ran: 200 true tokenRefreshed") {
		t.Fatalf("%v: %s", err, said)
	}
	if len(server.headers) != 1 || !strings.HasPrefix(server.headers[0], "Bearer ") {
		t.Error("the example sent no token")
	}
}

// exampleProgram is what surrounds the examples.
const exampleProgram = `package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	authbroker "authbroker/clients/go"
)

var requested bool

// refreshWhenSubscribed refreshes the token when the broker has a subscription. The example ends with the event, the
// program with run: this goroutine needs no end of its own.
func refreshWhenSubscribed(ctx context.Context, client *authbroker.Client) {
	status := struct{ Subscriptions int }{}
	for ctx.Err() == nil && status.Subscriptions == 0 {
		if err := client.Call(ctx, "getStatus", nil, &status); err != nil {
			return
		}
	}
	_, _ = client.AccessToken(ctx, authbroker.TokenOptions{ForceRefresh: true})
}

func request(ctx context.Context, header string) error {
	requested = len(header) > 20
	return nil
}

func run(ctx context.Context) error {
	/*TOKEN*/
	if err != nil {
		return err
	}
	fmt.Println(token)
	/*CLIENT*/
	response, err := api.Get("API")
	if err != nil {
		return err
	}
	/*WITH*/
	if err != nil {
		return err
	}
	go refreshWhenSubscribed(ctx, client)
	/*EVENTS*/
	fmt.Println("the example ran:", response.StatusCode, requested, event.Name)
	return err
}

func main() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
`
