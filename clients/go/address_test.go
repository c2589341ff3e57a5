package authbroker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// sharedCases are those that all packages play.
type sharedCases struct {
	Coverage []struct {
		Prefix, Address string
		Covers          bool
	}
	Questions []struct {
		Name, URL string
		Exchanges []struct {
			Method        string
			Params        map[string]any
			Result, Error json.RawMessage
		}
		Token, Profile, Header, Authorization, Error string
		Target                                       *Target
	}
}

// addressCases reads them.
func addressCases(t *testing.T) (cases sharedCases) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "Schemas", "addresses.json"))
	if err != nil || json.Unmarshal(text, &cases) != nil || len(cases.Questions) == 0 {
		t.Fatal("the shared cases cannot be read", err)
	}
	return cases
}

func TestWhichPrefixCoversAnAddress(t *testing.T) {
	for _, one := range addressCases(t).Coverage {
		if (Target{Prefix: one.Prefix}).Covers(one.Address) != one.Covers {
			t.Errorf("%s, %s: not %v", one.Prefix, one.Address, one.Covers)
		}
	}
	if (Target{}).Covers("a.example") {
		t.Error("what is no address has no target")
	}
}

func TestTheTokenOfAnAddress(t *testing.T) {
	for _, one := range addressCases(t).Questions {
		t.Run(one.Name, func(t *testing.T) {
			wrong := make(chan string, 1)
			fakeBroker(t, func(connection net.Conn) {
				reader := bufio.NewScanner(connection)
				for index := 0; reader.Scan(); index++ {
					var asked struct {
						ID     int
						Method string
						Params map[string]any
					}
					_ = json.Unmarshal(reader.Bytes(), &asked)
					if index >= len(one.Exchanges) || asked.Method != one.Exchanges[index].Method ||
						!reflect.DeepEqual(asked.Params, one.Exchanges[index].Params) {
						wrong <- reader.Text()
						return
					}
					name, value := "result", one.Exchanges[index].Result
					if value == nil {
						name, value = "error", one.Exchanges[index].Error
					}
					fmt.Fprintf(connection, `{"jsonrpc":"2.0","id":%d,"%s":%s}`+"\n", asked.ID, name, value)
				}
			})
			token, err := client(t).AccessToken(limit(t), TokenOptions{URL: one.URL})
			select {
			case request := <-wrong:
				t.Fatalf("was not expected: %s", request)
			default:
			}
			header := one.Header
			if header == "" {
				header = "Authorization"
			}
			if Kind(err) != one.Error {
				t.Fatalf("the error is %v, not %q", err, one.Error)
			}
			if err == nil && (token.Reveal() != one.Token || token.Profile != one.Profile ||
				!reflect.DeepEqual(token.Target, one.Target) || token.AuthorizationHeader() != one.Authorization ||
				token.HeaderName() != header) {
				t.Errorf("the token is %v with %v", token, token.Target)
			}
		})
	}
}

func TestProfileAndAddressExcludeEachOther(t *testing.T) {
	_, err := client(t).AccessToken(context.Background(), TokenOptions{Profile: "work", URL: "https://a.example"})
	wantKind(t, err, KindInvalidRequest)
}
