package authbroker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// knownMethods are called one after the other; those that change something come last.
var knownMethods = []string{"getCurrentUser", "checkVault", "lock", "getAccessToken", "login", "logout"}

// counter is a fake broker that counts.
type counter struct {
	mutex       sync.Mutex
	connections int
	requests    map[string]int
}

// newCounter starts one. reply gets a method, its id and how often it was requested; empty: the connection is closed.
func newCounter(t *testing.T, reply func(method string, id int64, times int) string) *counter {
	t.Helper()
	c := &counter{requests: map[string]int{}}
	fakeBroker(t, func(connection net.Conn) {
		c.mutex.Lock()
		c.connections++
		c.mutex.Unlock()
		for lines := bufio.NewScanner(connection); lines.Scan(); {
			var asked request
			_ = json.Unmarshal(lines.Bytes(), &asked)
			c.mutex.Lock()
			c.requests[asked.Method]++
			times := c.requests[asked.Method]
			c.mutex.Unlock()
			said := reply(asked.Method, asked.ID, times)
			if said == "" {
				return
			}
			_, _ = io.WriteString(connection, said+"\n")
		}
	})
	return c
}

// outcomes calls the known methods; it returns the kind of each error, empty where there is none.
func outcomes(t *testing.T) []string {
	t.Helper()
	c := client(t)
	kinds := make([]string, len(knownMethods))
	for index, method := range knownMethods {
		kinds[index] = Kind(c.Call(limit(t), method, nil, nil))
	}
	return kinds
}

// want fails unless the kinds, and how often each method was requested over how many connections, are as they should.
func (c *counter) want(t *testing.T, kinds []string, wanted string) {
	t.Helper()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	times := make([]int, len(knownMethods))
	for index, method := range knownMethods {
		times[index] = c.requests[method]
	}
	if got := fmt.Sprintf("%q %v %d", kinds, times, c.connections); got != wanted {
		t.Errorf("it came to\n%s, not\n%s", got, wanted)
	}
}

// result is a response that every method understands.
func result(id int64) string {
	return fmt.Sprintf(
		`{"jsonrpc":"2.0","id":%d,"result":{"accessToken":"fake-token","tokenType":"Bearer","tokenId":"id1"}}`, id)
}

// ending is the refusal of a broker that is about to end.
func ending(id int64) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":1084,"message":"m","data":{"kind":"shuttingDown"}}}`, id)
}

func TestALostRequestIsRepeatedOnceWhereItChangesNothing(t *testing.T) {
	c := newCounter(t, func(string, int64, int) string { return "" })
	lost := `"connectionLost"`
	c.want(t, outcomes(t), fmt.Sprintf("[%s %s %s %s %s %s] [2 2 2 2 1 1] 10", lost, lost, lost, lost, lost, lost))
	c = newCounter(t, func(_ string, id int64, times int) string {
		if times == 1 {
			return ""
		}
		return result(id)
	})
	c.want(t, outcomes(t), fmt.Sprintf(`["" "" "" "" %s %s] [2 2 2 2 1 1] 6`, lost, lost))
}

func TestABrokerThatEndsIsFollowedByTheNext(t *testing.T) {
	c := newCounter(t, func(_ string, id int64, times int) string {
		if times < 4 {
			return ending(id)
		}
		return result(id)
	})
	// Each refusal ended the use of a connection; the last one was the last request.
	c.want(t, outcomes(t), `["" "" "" "" "shuttingDown" "shuttingDown"] [4 4 4 4 1 1] 14`)
}

func TestABrokerThatDoesNotEndIsWaitedForWithinBounds(t *testing.T) {
	c := newCounter(t, func(_ string, id int64, _ int) string { return ending(id) })
	brief, stop := context.WithTimeout(limit(t), 500*time.Millisecond)
	defer stop()
	if err := client(t).Call(brief, "lock", nil, nil); Kind(err) != "shuttingDown" {
		t.Errorf("within the time of the call: %v", err)
	}
	longest := longestEnd
	longestEnd = 500 * time.Millisecond
	defer func() { longestEnd = longest }()
	if err := client(t).Call(limit(t), "getStatus", nil, nil); Kind(err) != "shuttingDown" {
		t.Errorf("within the longest end: %v", err)
	}
	cancelled, cancel := context.WithCancel(limit(t))
	time.AfterFunc(250*time.Millisecond, cancel)
	if err := client(t).Call(cancelled, "ping", nil, nil); Kind(err) != KindCancelled {
		t.Errorf("cancelled: %v", err)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.requests["lock"] < 2 || c.requests["getStatus"] < 2 {
		t.Errorf("not asked again: %v", c.requests)
	}
}

func TestASubscriptionBeginsAtTheNextBroker(t *testing.T) {
	newCounter(t, func(_ string, id int64, times int) string {
		if times < 4 {
			return ending(id)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"subscriptionId":"s","sequence":1,"sessions":[]}}`, id)
	})
	subscription, err := client(t).Subscribe(limit(t), SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	subscription.Close()
}

func TestNoCallUnderWayIsLostWithABrokerThatEnds(t *testing.T) {
	arrived, slow := make(chan struct{}), make(chan int64, 1)
	c := newCounter(t, func(method string, id int64, times int) string {
		switch {
		case method == "slow":
			slow <- id
			close(arrived)
			return " "
		case times == 1:
			return ending(id) + "\n" + result(<-slow)
		}
		return result(id)
	})
	caller, done := client(t), make(chan error, 1)
	go func() { done <- caller.Call(limit(t), "slow", nil, nil) }()
	<-arrived
	if err := caller.Call(limit(t), "ping", nil, nil); err != nil {
		t.Error("the next broker was not asked", err)
	}
	if err := <-done; err != nil {
		t.Error("a call under way was lost", err)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.connections != 2 {
		t.Errorf("%d connections", c.connections)
	}
}

func TestATokenThatIsNotReplacedIsNotTriedAgain(t *testing.T) {
	c := newCounter(t, func(_ string, id int64, _ int) string { return result(id) })
	calls := 0
	err := client(t).WithAccessToken(limit(t), TokenOptions{}, func(context.Context, *AccessToken) error {
		calls++
		return ErrUnauthorized
	})
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err != ErrUnauthorized || calls != 1 || c.requests["reportRejected"] != 1 {
		t.Errorf("%v after %d calls and %d reports", err, calls, c.requests["reportRejected"])
	}
}

func TestWhatTheBrokerSaysIsFitForATerminal(t *testing.T) {
	newCounter(t, func(_ string, id int64, _ int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":1083,"message":"a\u001bb\u009bc\u202ed\u200be\u2028f é"}}`, id)
	})
	if err := client(t).Call(limit(t), "login", nil, nil); err == nil || err.Error() != "a?b?c?d?e?f é" {
		t.Errorf("%q", err)
	}
}
