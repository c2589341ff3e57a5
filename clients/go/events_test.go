package authbroker

import (
	"context"
	"encoding/json"
	"testing"
	"time"
)

// next reads the next event of a name, and fails on an error.
func next(t *testing.T, events *Subscription, name string) Event {
	t.Helper()
	event, err := events.Next(limit(t))
	if err != nil {
		t.Fatal(err)
	}
	if event.Name != name {
		t.Fatalf("the event is %s, not %s", event.Name, name)
	}
	return event
}

func TestEventsGoOnBehindABrokerThatWasKilled(t *testing.T) {
	s := newSandbox(t, "")
	c := registered(t)
	events, err := c.Subscribe(limit(t), SubscribeOptions{Events: []string{"tokenRefreshed"}})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	if len(events.Snapshot.Sessions) != 1 || events.Snapshot.Sessions[0].State != "authenticated" {
		t.Errorf("the snapshot is %+v", events.Snapshot)
	}
	refresh := func() *AccessToken {
		token, err := c.AccessToken(limit(t), TokenOptions{ForceRefresh: true})
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	seen := func(token *AccessToken) uint64 {
		event := next(t, events, "tokenRefreshed")
		var data struct {
			TokenID string `json:"tokenId"`
		}
		if json.Unmarshal(event.Data, &data) != nil || data.TokenID != token.TokenID || event.Profile != "default" ||
			event.Time.IsZero() {
			t.Fatalf("the event %d is not that of the refresh", event.Sequence)
		}
		return event.Sequence
	}
	first := seen(refresh())
	s.kill(t)
	// While this subscription looks for another broker, or before it does: nothing may be missing, nothing come twice.
	second := seen(refresh())
	third := seen(refresh())
	if first >= second || second >= third {
		t.Errorf("the sequences are %d, %d, %d", first, second, third)
	}
}

func TestABrokerThatWasStoppedIsWaitedForAndNotStarted(t *testing.T) {
	s := newSandbox(t, "")
	c := registered(t)
	events, err := c.Subscribe(limit(t), SubscribeOptions{Events: []string{"tokenRefreshed"}})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	s.stop(t)
	await(t, func() bool { events.mutex.Lock(); defer events.mutex.Unlock(); return events.live.isRefusing() })
	if !events.stopping {
		t.Error("the end was not announced")
	}
	short, stop := context.WithTimeout(limit(t), 400*time.Millisecond)
	defer stop()
	if _, err := events.Next(short); Kind(err) != KindDeadlineExceeded {
		t.Error("an event came from nowhere", err)
	}
	if _, held := readRecord(s.state + "/broker.lock"); held {
		t.Error("the subscription has started a broker")
	}
	if _, err := c.AccessToken(limit(t), TokenOptions{ForceRefresh: true}); err != nil {
		t.Fatal(err)
	}
	next(t, events, "tokenRefreshed")
}

func TestWhatIsNoLongerKeptIsToldByResync(t *testing.T) {
	newSandbox(t, "")
	c := registered(t)
	beyond := uint64(1 << 40)
	events, err := c.Subscribe(limit(t), SubscribeOptions{Since: &beyond})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	if !events.Snapshot.Resync {
		t.Error("the snapshot does not say resync")
	}
	// The same behind a loss: an event says it, with the sessions as they stand.
	events.mutex.Lock()
	events.last = beyond
	connection := events.live
	events.mutex.Unlock()
	connection.close()
	event := next(t, events, EventResync)
	if len(event.Sessions) != 1 || event.Sessions[0].State != "authenticated" || event.Sequence >= beyond {
		t.Errorf("resync says %+v", event)
	}
	if _, err := c.AccessToken(limit(t), TokenOptions{ForceRefresh: true}); err != nil {
		t.Fatal(err)
	}
	if event := next(t, events, "tokenRefreshed"); event.Sequence >= beyond {
		t.Error("the event is beyond")
	}
}

func TestASubscriptionThatIsClosedEnds(t *testing.T) {
	newSandbox(t, "")
	c := registered(t)
	events, err := c.Subscribe(limit(t), SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Events that are not read are no obstacle.
	for index := 0; index < 3; index++ {
		if _, err := c.AccessToken(limit(t), TokenOptions{ForceRefresh: true}); err != nil {
			t.Fatal(err)
		}
	}
	events.Close()
	events.Close()
	_, err = events.Next(limit(t))
	for err == nil {
		_, err = events.Next(limit(t))
	}
	wantKind(t, err, KindInvalidRequest)
	var status struct {
		Subscriptions int `json:"subscriptions"`
	}
	await(t, func() bool { return c.Call(limit(t), "getStatus", nil, &status) == nil && status.Subscriptions == 0 })
}

func TestPatienceHasAnEnd(t *testing.T) {
	s := newSandbox(t, "")
	c := New(Location{Socket: s.state + "/run/broker.sock"})
	registered(t)
	events, err := c.Subscribe(limit(t), SubscribeOptions{Patience: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	s.kill(t)
	_, err = events.Next(limit(t))
	wantKind(t, err, KindNoBroker)
}
