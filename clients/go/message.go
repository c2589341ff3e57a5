package authbroker

import (
	"bufio"
	"encoding/json"
	"errors"
)

// longestMessage bounds one message of the broker: four times what it queues for a client that reads.
const longestMessage = 16 << 20

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

// answer is what a response says.
func (m *message) answer() answer {
	switch {
	case m.Error != nil:
		return answer{failure: m.Error.read()}
	case m.Result == nil:
		return answer{failure: unexpectedAnswer("a response has neither result nor error")}
	}
	return answer{result: m.Result}
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
