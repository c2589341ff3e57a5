package authbroker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"
)

// longestMessage bounds one message of the broker: four times what it queues for a client that reads.
const longestMessage = 16 << 20

// mostInFlight bounds the requests of a connection that wait for answers: the broker's own bound is 64.
const mostInFlight = 60

// answer is a response, or why there is none.
type answer struct {
	result  json.RawMessage
	failure *Error
}

// request is what is sent (JSON-RPC 2.0, section 4); without an id it is a notification.
type request struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// message is what is read: a response or a notification.
type message struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *wireError      `json:"error"`
}

// connection is one connection to the broker, on which any number of calls wait at the same time.
type connection struct {
	socket net.Conn
	// writing is held by who writes; a channel, so that waiting for it ends with a context.
	writing chan struct{}
	// places are taken by requests in flight.
	places chan struct{}
	// notify is called on the reading goroutine for each event; nil where there are no subscriptions.
	notify func(params json.RawMessage)
	// done is closed when the connection has ended.
	done chan struct{}

	mutex   sync.Mutex
	lastID  int64
	waiting map[int64]chan answer
	failure *Error
}

// newConnection begins to read.
func newConnection(socket net.Conn, notify func(json.RawMessage)) *connection {
	c := &connection{socket: socket, writing: make(chan struct{}, 1), notify: notify, done: make(chan struct{}),
		places: make(chan struct{}, mostInFlight), waiting: map[int64]chan answer{}}
	go c.read()
	return c
}

// close ends the connection; calls that wait fail with connectionLost.
func (c *connection) close() { c.end(connectionLost()) }

// hasEnded tells whether no call can be made any more.
func (c *connection) hasEnded() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// end ends the connection, once: every call that waits gets the reason.
func (c *connection) end(reason *Error) {
	c.mutex.Lock()
	waiting := c.waiting
	if c.failure == nil {
		c.failure = reason
		close(c.done)
	}
	reason, c.waiting = c.failure, nil
	c.mutex.Unlock()
	_ = c.socket.Close()
	for _, channel := range waiting {
		channel <- answer{failure: reason}
	}
}

// call sends a request and waits for its answer; the broker is told when the context is done first.
func (c *connection) call(ctx context.Context, method string, params any) (json.RawMessage, *Error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-c.done:
		return nil, c.failure
	case <-ctx.Done():
		return nil, ended(ctx)
	}
	channel := make(chan answer, 1)
	c.mutex.Lock()
	if c.failure != nil {
		defer c.mutex.Unlock()
		return nil, c.failure
	}
	c.lastID++
	id := c.lastID
	c.waiting[id] = channel
	c.mutex.Unlock()
	if failure := c.send(ctx, request{Version: "2.0", ID: id, Method: method, Params: params}); failure != nil {
		c.forget(id)
		return nil, failure
	}
	select {
	case answer := <-channel:
		return answer.result, answer.failure
	case <-ctx.Done():
		c.forget(id)
		c.cancel(id)
		return nil, ended(ctx)
	}
}

// forget gives up waiting for an answer.
func (c *connection) forget(id int64) {
	c.mutex.Lock()
	delete(c.waiting, id)
	c.mutex.Unlock()
}

// cancel tells the broker that an answer is no longer wanted; in the background, for its caller has no time left.
func (c *connection) cancel(id int64) {
	go func() {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		_ = c.send(ctx, request{Version: "2.0", Method: "$/cancelRequest", Params: map[string]int64{"id": id}})
	}()
}

// send writes one message. One that was cut short ends the connection: what follows could not be told from it.
func (c *connection) send(ctx context.Context, message request) *Error {
	line, err := json.Marshal(message)
	if err != nil {
		return invalidRequest("the parameters of " + message.Method + " cannot be written as JSON")
	}
	line = append(line, '\n')
	select {
	case c.writing <- struct{}{}:
	case <-c.done:
		return c.failure
	case <-ctx.Done():
		return ended(ctx)
	}
	defer func() { <-c.writing }()
	stop := make(chan struct{})
	stopped := make(chan struct{})
	if ctx.Done() == nil {
		close(stopped)
	} else {
		go func() {
			defer close(stopped)
			select {
			case <-ctx.Done():
				_ = c.socket.SetWriteDeadline(time.Unix(1, 0))
			case <-stop:
			}
		}()
	}
	count, err := c.socket.Write(line)
	close(stop)
	<-stopped
	_ = c.socket.SetWriteDeadline(time.Time{})
	if err == nil || count == 0 && ctx.Err() != nil {
		if err != nil {
			return ended(ctx)
		}
		return nil
	}
	c.end(connectionLost())
	if ctx.Err() != nil {
		return ended(ctx)
	}
	return c.failure
}

// read takes messages until the connection ends.
func (c *connection) read() {
	reader := bufio.NewReaderSize(c.socket, 16<<10)
	for {
		line, failure := readLine(reader)
		if failure == nil {
			failure = c.take(line)
		}
		if failure != nil {
			c.end(failure)
			return
		}
	}
}

// readLine reads one line of a bounded length.
func readLine(reader *bufio.Reader) ([]byte, *Error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		if len(line)+len(part) > longestMessage {
			return nil, unexpectedAnswer("a message is too long")
		}
		// What the reader lends is valid until the next read only, and results are kept.
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, connectionLost()
		}
	}
}

// take gives a message to whom it is for.
func (c *connection) take(line []byte) *Error {
	var got message
	if len(line) <= 1 {
		return nil
	}
	if json.Unmarshal(line, &got) != nil {
		return unexpectedAnswer("a message is no JSON-RPC")
	}
	if got.Method != "" {
		if got.Method == "event" && c.notify != nil {
			c.notify(got.Params)
		}
		return nil
	}
	response := answer{result: got.Result}
	if got.Error != nil {
		response.failure = got.Error.read()
	}
	if got.ID == nil {
		if response.failure != nil {
			// The broker could not make out which request it refuses.
			return response.failure
		}
		return unexpectedAnswer("a response has no id")
	}
	if response.failure == nil && response.result == nil {
		response.failure = unexpectedAnswer("a response has neither result nor error")
	}
	c.mutex.Lock()
	channel := c.waiting[*got.ID]
	delete(c.waiting, *got.ID)
	c.mutex.Unlock()
	if channel != nil {
		channel <- response
	}
	return nil
}
