package authbroker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	authbroker "authbroker/clients/go"
)

// A token of the current profile. Without a session the user is asked to log in, at the terminal.
func ExampleClient_AccessToken() {
	defer playedBroker()()
	ctx := context.Background()
	client := authbroker.New(authbroker.Location{})
	defer client.Close()
	token, err := client.AccessToken(ctx, authbroker.TokenOptions{})
	if authbroker.NeedsLogin(err) {
		if _, err = client.Login(ctx, authbroker.Credentials{}, authbroker.Terminal{}); err == nil {
			token, err = client.AccessToken(ctx, authbroker.TokenOptions{})
		}
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	// Printing a token shows what is known about it, and not the token.
	fmt.Println(token)
	// Output: <redacted> token id-1 of default, without expiry (Bearer)
}

// The token of a server that the configuration has among its targets.
func ExampleClient_AccessToken_address() {
	defer playedBroker()()
	client := authbroker.New(authbroker.Location{})
	defer client.Close()
	token, err := client.AccessToken(context.Background(), authbroker.TokenOptions{URL: "https://registry.example.com/v2/"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(token.Profile, token.Target.Prefix, token.Target.Username)
	// Output: work https://registry.example.com robot
}

// A request that heals: where the server says 401, it is made once more with another token.
func ExampleClient_WithAccessToken() {
	defer playedBroker()()
	api := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") != "Bearer made-up-2" {
			answer.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer api.Close()
	client := authbroker.New(authbroker.Location{})
	defer client.Close()
	ask := func(ctx context.Context, token *authbroker.AccessToken) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, api.URL, nil)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", token.AuthorizationHeader())
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode == http.StatusUnauthorized {
			return authbroker.ErrUnauthorized
		}
		fmt.Println(response.Status)
		return nil
	}
	if err := client.WithAccessToken(context.Background(), authbroker.TokenOptions{}, ask); err != nil {
		fmt.Println(err)
	}
	// Output: 200 OK
}

// An http.Client that sends the token to one server, and heals a 401 by itself.
func ExampleTransport() {
	defer playedBroker()()
	api := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") != "Bearer made-up-2" {
			answer.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer api.Close()
	client := authbroker.New(authbroker.Location{})
	defer client.Close()
	program := http.Client{Transport: &authbroker.Transport{Client: client, Origins: []string{api.URL}}}
	response, err := program.Get(api.URL + "/me")
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = response.Body.Close()
	fmt.Println(response.Status)
	// Output: 200 OK
}

// What an error says: its kind, which is stable, and a sentence for people.
func ExampleKind() {
	defer playedBroker()()
	client := authbroker.New(authbroker.Location{})
	defer client.Close()
	_, err := client.AccessToken(context.Background(), authbroker.TokenOptions{URL: "https://unknown.example.com"})
	var failure *authbroker.Error
	if errors.As(err, &failure) {
		fmt.Println(authbroker.Kind(err), failure.NextAction)
	}
	// Output: unknownTarget fixConfig
}

// The events of the sessions, which go on behind the last one seen when the broker is restarted.
func ExampleClient_Subscribe() {
	defer playedBroker()()
	ctx := context.Background()
	client := authbroker.New(authbroker.Location{})
	defer client.Close()
	events, err := client.Subscribe(ctx, authbroker.SubscribeOptions{Events: []string{"login", "logout"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer events.Close()
	event, err := events.Next(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(event.Sequence, event.Name, event.Profile)
	// Output: 2 login default
}
