package authbroker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// mostInFlight bounds the requests of a connection that wait for answers: the broker's own bound is 64.
const mostInFlight = 60

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
	retired bool
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

// isRefusing tells whether no call can be made any more.
func (c *connection) isRefusing() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.failure != nil || c.retired
}

// retire takes no more calls; the connection ends with the last one that is under way.
func (c *connection) retire() {
	c.mutex.Lock()
	c.retired = true
	isOver := len(c.waiting) == 0
	c.mutex.Unlock()
	if isOver {
		c.close()
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
		return nil, c.refusal()
	case <-ctx.Done():
		return nil, ended(ctx)
	}
	id, channel, failure := c.register()
	if failure != nil {
		return nil, failure
	}
	defer c.forget(id)
	if failure := c.send(ctx, request{Version: "2.0", ID: id, Method: method, Params: params}); failure != nil {
		return nil, failure
	}
	select {
	case answer := <-channel:
		return answer.result, answer.failure
	case <-ctx.Done():
		c.cancel(id)
		return nil, ended(ctx)
	}
}

// refusal is why a connection takes no request: a loss is told as one that the request did not meet.
func (c *connection) refusal() *Error {
	if c.failure == nil || c.failure.Kind == KindConnectionLost {
		return unsent()
	}
	return c.failure
}

// register gives a request its id, and the channel on which its answer comes.
func (c *connection) register() (int64, chan answer, *Error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.failure != nil || c.retired {
		return 0, nil, c.refusal()
	}
	channel := make(chan answer, 1)
	c.lastID++
	c.waiting[c.lastID] = channel
	return c.lastID, channel, nil
}

// forget waits no longer for an answer. The last one ends a connection that takes no more calls.
func (c *connection) forget(id int64) {
	c.mutex.Lock()
	delete(c.waiting, id)
	isOver := c.retired && len(c.waiting) == 0
	c.mutex.Unlock()
	if isOver {
		c.close()
	}
}

// cancel tells the broker that an answer is no longer wanted; in the background, for its caller has no time left.
func (c *connection) cancel(id int64) {
	go func() {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		_ = c.send(ctx, request{Version: "2.0", Method: "$/cancelRequest", Params: map[string]int64{"id": id}})
	}()
}

// send writes one message.
func (c *connection) send(ctx context.Context, message request) *Error {
	line, err := json.Marshal(message)
	if err != nil {
		return invalidRequest("the parameters of " + message.Method + " cannot be written as JSON")
	}
	select {
	case c.writing <- struct{}{}:
	case <-c.done:
		return c.refusal()
	case <-ctx.Done():
		return ended(ctx)
	}
	defer func() { <-c.writing }()
	count, err := c.write(ctx, append(line, '\n'))
	switch {
	case err == nil:
		return nil
	case count == 0 && ctx.Err() != nil:
		return ended(ctx)
	}
	// A message that was cut short ends the connection: what follows could not be told from it.
	c.end(connectionLost())
	switch {
	case ctx.Err() != nil:
		return ended(ctx)
	case count == 0 && errors.Is(err, syscall.EPIPE):
		return unsent()
	}
	return c.failure
}

// write writes bytes until the context ends; returns how many were written.
func (c *connection) write(ctx context.Context, line []byte) (int, error) {
	if ctx.Done() == nil {
		return c.socket.Write(line)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ctx.Done():
			_ = c.socket.SetWriteDeadline(time.Unix(1, 0))
		case <-stop:
		}
	}()
	count, err := c.socket.Write(line)
	close(stop)
	<-stopped
	_ = c.socket.SetWriteDeadline(time.Time{})
	return count, err
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

// take hands a message to the call that waits for it, or an event to the subscription.
func (c *connection) take(line []byte) *Error {
	var got message
	if len(bytes.TrimSpace(line)) == 0 {
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
	response := got.answer()
	switch {
	case got.ID != nil:
		c.settle(*got.ID, response)
		return nil
	case got.Error != nil:
		// The broker could not make out which request it refuses.
		return response.failure
	}
	return unexpectedAnswer("a response has no id")
}

// settle ends the wait of a call.
func (c *connection) settle(id int64, response answer) {
	c.mutex.Lock()
	channel := c.waiting[id]
	delete(c.waiting, id)
	c.mutex.Unlock()
	if channel != nil {
		channel <- response
	}
}
