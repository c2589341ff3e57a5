package authbroker

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Event is something that happened. No token is in it.
type Event struct {
	// Sequence counts the events of the state directory; it may jump.
	Sequence uint64 `json:"sequence"`
	// Name is the event's name, such as tokenRefreshed; eventsLost says in Data which sequences were lost.
	Name string `json:"event"`
	// Profile is the profile that it is about; empty where there is none.
	Profile string `json:"profile,omitempty"`
	// Time is when it happened.
	Time time.Time `json:"time"`
	// Data is what there is to know about it (Schemas/events.json).
	Data json.RawMessage `json:"data"`
	// Sessions is where the sessions stand, at the event resync alone.
	Sessions []Session `json:"-"`
}

// EventResync is the name of an event that this package makes: the broker was restarted and no longer keeps what
// happened meanwhile. Sessions is the truth from here on.
const EventResync = "resync"

// The pauses between two tries to find the broker again.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
)

// SubscribeOptions say which events are wanted.
type SubscribeOptions struct {
	// Events are the names of the events; nil: all.
	Events []string
	// Profiles are those whose events are wanted; nil: all.
	Profiles []string
	// Since is the last sequence that was seen: what came behind it is told first. nil: from now on.
	Since *uint64
	// Patience is how long a broker that has ended is waited for; 0: without limit.
	Patience time.Duration
}

// Snapshot is where the sessions stood when a subscription began.
type Snapshot struct {
	SubscriptionID string    `json:"subscriptionId"`
	Sequence       uint64    `json:"sequence"`
	Sessions       []Session `json:"sessions"`
	// Resync tells that the events behind Since are no longer kept.
	Resync bool `json:"resync,omitempty"`
}

// Subscription is a stream of events that outlives the broker: after a loss it goes on behind the last event that was
// seen. A broker that was killed is started again where the client may do so; one that was stopped is waited for.
//
// It has a connection of its own and keeps no events: a reader that is slow slows down this connection alone, and the
// broker tells by eventsLost what it could not keep for it.
type Subscription struct {
	// Snapshot is where the sessions stood at the beginning.
	Snapshot Snapshot

	client  *Client
	options SubscribeOptions
	events  chan Event
	closing chan struct{}
	over    chan struct{}
	once    sync.Once

	mutex    sync.Mutex
	name     string
	last     uint64
	stopping bool
	live     *connection
	failure  *Error
}

// Subscribe subscribes to events. The context bounds this call alone; Close ends the subscription.
func (c *Client) Subscribe(ctx context.Context, options SubscribeOptions) (*Subscription, error) {
	s := &Subscription{client: c, options: options, events: make(chan Event), closing: make(chan struct{}),
		over: make(chan struct{})}
	var since *uint64
	if options.Since != nil {
		s.last, since = *options.Since, options.Since
	}
	ctx, stop := limited(ctx, "subscribe", nil)
	defer stop()
	again := repetition{method: "subscribe"}
	snapshot, gate, failure := s.begin(ctx, since, true)
	for failure != nil && again.follows(ctx, failure) {
		snapshot, gate, failure = s.begin(ctx, since, true)
	}
	if failure != nil {
		return nil, failure
	}
	s.Snapshot = *snapshot
	close(gate)
	go s.keep()
	return s, nil
}

// Next waits for the next event. It fails when the context ends, when the subscription is closed, or when no broker
// has come back within the subscription's patience.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	select {
	case event := <-s.events:
		return event, nil
	case <-ctx.Done():
		return Event{}, ended(ctx)
	case <-s.over:
		return Event{}, s.failure
	}
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.once.Do(func() {
		close(s.closing)
		s.mutex.Lock()
		connection, name := s.live, s.name
		s.mutex.Unlock()
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		_, _ = connection.call(ctx, "unsubscribe", object{"subscriptionId": name})
		connection.close()
	})
	<-s.over
}

// begin connects and subscribes. Events wait until the gate that it returns is closed.
func (s *Subscription) begin(ctx context.Context, since *uint64, starts bool) (*Snapshot, chan struct{}, *Error) {
	ctx, stop := limited(ctx, "subscribe", nil)
	defer stop()
	socket, err := s.client.location.dial(ctx, starts)
	if err != nil {
		return nil, nil, err.(*Error)
	}
	gate := make(chan struct{})
	connection := newConnection(socket, func(params json.RawMessage) {
		select {
		case <-gate:
			s.take(params)
		case <-s.closing:
		}
	})
	snapshot := new(Snapshot)
	text, failure := connection.call(ctx, "subscribe", s.params(since))
	if failure == nil && json.Unmarshal(text, snapshot) != nil {
		failure = unexpectedAnswer("the result of subscribe")
	}
	if failure != nil {
		connection.close()
		return nil, nil, failure
	}
	s.mutex.Lock()
	s.live, s.name, s.stopping = connection, snapshot.SubscriptionID, false
	if since == nil || snapshot.Resync {
		s.last = snapshot.Sequence
	}
	s.mutex.Unlock()
	return snapshot, gate, nil
}

// params are those of subscribe.
func (s *Subscription) params(since *uint64) object {
	params := object{}.list("profiles", s.options.Profiles)
	if since != nil {
		params["since"] = *since
	}
	if s.options.Events != nil {
		// It says whether the end of a broker is wanted.
		params["events"] = append([]string{"shuttingDown"}, s.options.Events...)
		if s.wants("shuttingDown") {
			params["events"] = s.options.Events
		}
	}
	return params
}

// wants tells whether an event was asked for.
func (s *Subscription) wants(name string) bool {
	for _, wanted := range s.options.Events {
		if wanted == name {
			return true
		}
	}
	return s.options.Events == nil
}

// take delivers an event; called on the reading goroutine, which waits for the reader.
func (s *Subscription) take(params json.RawMessage) {
	var event Event
	if json.Unmarshal(params, &event) != nil || event.Name == "" {
		s.mutex.Lock()
		connection := s.live
		s.mutex.Unlock()
		connection.end(unexpectedAnswer("an event"))
		return
	}
	s.mutex.Lock()
	if event.Name == "shuttingDown" {
		s.stopping = true
	}
	s.mutex.Unlock()
	if event.Name == "shuttingDown" && !s.wants(event.Name) {
		return
	}
	s.deliver(event)
}

// deliver hands an event to the reader; only then it counts as seen.
func (s *Subscription) deliver(event Event) {
	select {
	case s.events <- event:
	case <-s.closing:
		return
	}
	s.mutex.Lock()
	if event.Sequence > s.last {
		s.last = event.Sequence
	}
	s.mutex.Unlock()
}

// keep finds another broker each time that one has ended.
func (s *Subscription) keep() {
	defer close(s.over)
	defer func() {
		// It may have been made while Close looked at the one before.
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.live.close()
	}()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		select {
		case <-s.closing:
			stop()
		case <-ctx.Done():
		}
	}()
	for {
		s.mutex.Lock()
		connection := s.live
		s.mutex.Unlock()
		select {
		case <-s.closing:
			s.failure = invalidRequest("the subscription is closed")
			return
		case <-connection.done:
		}
		if failure := s.resume(ctx); failure != nil {
			if ctx.Err() != nil {
				failure = invalidRequest("the subscription is closed")
			}
			s.failure = failure
			return
		}
	}
}

// resume subscribes at another broker behind the last event, with pauses that grow.
func (s *Subscription) resume(ctx context.Context) *Error {
	s.mutex.Lock()
	last, starts := s.last, !s.stopping
	s.mutex.Unlock()
	limit := ctx
	if s.options.Patience > 0 {
		bounded, stop := context.WithTimeout(ctx, s.options.Patience)
		defer stop()
		limit = bounded
	}
	for length := firstPause; ; length = shorter(2*length, longestPause) {
		// At first too: brokers that end again and again are not started without a pause.
		if err := pause(limit, length); err != nil {
			return noBroker("the broker has ended, and no other one came")
		}
		snapshot, gate, failure := s.begin(limit, &last, starts)
		if failure != nil {
			if !failure.Retryable {
				return failure
			}
			continue
		}
		if snapshot.Resync {
			s.deliver(Event{Name: EventResync, Sequence: snapshot.Sequence, Time: time.Now().UTC(), Sessions: snapshot.Sessions})
		}
		close(gate)
		return nil
	}
}

// shorter returns the shorter of two lengths of time.
func shorter(one, other time.Duration) time.Duration {
	if one < other {
		return one
	}
	return other
}
