// The shim plays golden conversations through the Go package: JSON-RPC lines in, calls of the package's functions,
// JSON-RPC lines out. Tests/Drivers/Clients/README.md is its contract.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	authbroker "authbroker/clients/go"
)

// request is a line of the input.
type request struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// shim is the client and what is open.
type shim struct {
	client        *authbroker.Client
	subscriptions map[string]*authbroker.Subscription
	output        sync.Mutex
}

func main() {
	s := &shim{client: authbroker.New(authbroker.Location{}), subscriptions: map[string]*authbroker.Subscription{}}
	defer s.client.Close()
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			break
		}
		if err := s.perform(line); err != nil {
			fmt.Fprintln(os.Stderr, "shim:", err)
			os.Exit(1)
		}
	}
	for _, subscription := range s.subscriptions {
		subscription.Close()
	}
}

// perform answers one request.
func (s *shim) perform(line []byte) error {
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return err
	}
	if asked.Method == "subscribe" {
		return s.subscribe(asked)
	}
	result, err := s.result(context.Background(), asked)
	return s.answer(asked.ID, result, err)
}

// answer writes a result, or the error of the broker.
func (s *shim) answer(id int64, result any, err error) error {
	answer := map[string]any{"jsonrpc": "2.0", "id": id}
	if err == nil {
		answer["result"] = result
		s.write(answer)
		return nil
	}
	var refusal *authbroker.Error
	if !errors.As(err, &refusal) || refusal.Code == 0 {
		return err
	}
	data := map[string]any{"kind": refusal.Kind, "nextAction": refusal.NextAction, "retryable": refusal.Retryable}
	add(data, "retryAfterSeconds", refusal.RetryAfter.Seconds(), refusal.RetryAfter > 0)
	add(data, "profile", refusal.Profile, refusal.Profile != "")
	add(data, "pointer", refusal.Pointer, refusal.Pointer != "")
	add(data, "fields", refusal.Fields, refusal.Fields != nil)
	add(data, "attemptsRemaining", refusal.AttemptsRemaining, refusal.AttemptsRemaining != nil)
	add(data, "scopes", refusal.Scopes, refusal.Scopes != nil)
	add(data, "acrValues", refusal.ACRValues, refusal.ACRValues != nil)
	add(data, "maxAge", refusal.MaxAge, refusal.MaxAge != nil)
	add(data, "correlationId", refusal.CorrelationID, refusal.CorrelationID != "")
	if refusal.Challenge != nil {
		data["challenge"] = merged(refusal.Challenge.Raw(), refusal.Challenge)
	}
	answer["error"] = map[string]any{"code": refusal.Code, "message": refusal.Message, "data": data}
	s.write(answer)
	return nil
}

// subscribe opens a stream of events; its answer comes before them.
func (s *shim) subscribe(asked request) error {
	var options struct {
		Events   []string `json:"events"`
		Profiles []string `json:"profiles"`
		Since    *uint64  `json:"since"`
	}
	if asked.Params != nil {
		if err := json.Unmarshal(asked.Params, &options); err != nil {
			return err
		}
	}
	subscription, err := s.client.Subscribe(context.Background(),
		authbroker.SubscribeOptions{Events: options.Events, Profiles: options.Profiles, Since: options.Since})
	if err != nil {
		return s.answer(asked.ID, nil, err)
	}
	id := subscription.Snapshot.SubscriptionID
	s.subscriptions[id] = subscription
	sessions := []any{}
	for index := range subscription.Snapshot.Sessions {
		session := &subscription.Snapshot.Sessions[index]
		sessions = append(sessions, merged(session.Raw(), session))
	}
	snapshot := map[string]any{"subscriptionId": id, "sequence": subscription.Snapshot.Sequence, "sessions": sessions}
	add(snapshot, "resync", true, subscription.Snapshot.Resync)
	if err := s.answer(asked.ID, snapshot, nil); err != nil {
		return err
	}
	go s.tell(id, subscription)
	return nil
}

// tell writes the events of a subscription until it is closed.
func (s *shim) tell(id string, subscription *authbroker.Subscription) {
	for {
		event, err := subscription.Next(context.Background())
		if err != nil {
			return
		}
		params := map[string]any{"subscriptionId": id, "sequence": event.Sequence, "event": event.Name,
			"time": event.Time, "data": event.Data}
		add(params, "profile", event.Profile, event.Profile != "")
		s.write(map[string]any{"jsonrpc": "2.0", "method": "event", "params": params})
	}
}

// write writes one line.
func (s *shim) write(message any) {
	line, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	s.output.Lock()
	defer s.output.Unlock()
	_, _ = os.Stdout.Write(append(line, '\n'))
}

// add adds a member that there is.
func add(object map[string]any, name string, value any, there bool) {
	if there {
		object[name] = value
	}
}

// merged is an object as it came, with the members of the typed value in place of its own, so that one that is decoded
// wrongly shows.
func merged(raw json.RawMessage, typed any) map[string]any {
	result := map[string]any{}
	if err := json.Unmarshal(raw, &result); err != nil {
		panic(err)
	}
	text, err := json.Marshal(typed)
	if err != nil {
		panic(err)
	}
	own := map[string]any{}
	if err := json.Unmarshal(text, &own); err != nil {
		panic(err)
	}
	for name, value := range own {
		result[name] = value
	}
	return result
}
