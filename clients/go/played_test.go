package authbroker_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// playedBroker listens where the environment says from now on, and answers the examples; what it returns ends it.
func playedBroker() (end func()) {
	folder, err := os.MkdirTemp("", "abgo")
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	if err != nil {
		panic(err)
	}
	before := os.Getenv("AUTHBROKER_SOCKET")
	_ = os.Setenv("AUTHBROKER_SOCKET", filepath.Join(folder, "s"))
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go play(connection)
		}
	}()
	return func() {
		_ = listener.Close()
		_ = os.RemoveAll(folder)
		_ = os.Setenv("AUTHBROKER_SOCKET", before)
	}
}

// play answers the requests of a connection.
func play(connection net.Conn) {
	defer func() { _ = connection.Close() }()
	lines := bufio.NewScanner(connection)
	for lines.Scan() {
		var request struct {
			ID     int
			Method string
			Params struct{ URL string }
		}
		_ = json.Unmarshal(lines.Bytes(), &request)
		result, event := played(request.Method, request.Params.URL)
		_, _ = fmt.Fprintf(connection, `{"jsonrpc":"2.0","id":%d,%s}`+"\n%s", request.ID, result, event)
	}
}

// played is the member result or error of an answer, and an event behind it.
func played(method, url string) (result, event string) {
	token := `"result":{"accessToken":"made-up-%d","tokenType":"Bearer","tokenId":"id-%[1]d","profile":"%s","expiresAt":null%s}`
	switch {
	case method == "subscribe":
		return `"result":{"subscriptionId":"s","sequence":1,"sessions":[]}`,
			`{"jsonrpc":"2.0","method":"event","params":{"subscriptionId":"s","sequence":2,"event":"login",` +
				`"profile":"default","time":"2026-01-01T00:00:00Z","data":{}}}` + "\n"
	case method == "reportRejected":
		return fmt.Sprintf(token, 2, "default", ""), ""
	case strings.HasPrefix(url, "https://registry.example.com"):
		return fmt.Sprintf(token, 1, "work", `,"target":{"prefix":"https://registry.example.com","username":"robot"}`), ""
	case url != "":
		return `"error":{"code":1088,"message":"There is none.","data":{"kind":"unknownTarget","nextAction":"fixConfig"}}`, ""
	}
	return fmt.Sprintf(token, 1, "default", ""), ""
}
