package authbroker

import (
	"context"
	"time"
)

// longestEnd is how long a broker that ends is waited for: it waits 25 s for requests that spend a token, and then
// saves. A variable for the tests alone.
var longestEnd = 30 * time.Second

// The pauses meanwhile.
const (
	firstEndPause   = 100 * time.Millisecond
	longestEndPause = time.Second
)

// repetition decides whether a call that has failed is made once more: a broker that is about to end is asked again
// until there is the next one, a lost connection is followed by one more try.
type repetition struct {
	method  string
	wasLost bool
	end     time.Time
	pause   time.Duration
}

// follows tells whether another try follows, and waits before it.
func (r *repetition) follows(ctx context.Context, failure *Error) bool {
	if !failure.hasEnded() || !repeatable[r.method] && !failure.unsent {
		return false
	}
	if failure.Kind != "shuttingDown" {
		isFirst := !r.wasLost
		r.wasLost = true
		return isFirst
	}
	now := time.Now()
	if r.end.IsZero() {
		r.end, r.pause = now.Add(longestEnd), firstEndPause
		if deadline, isLimited := ctx.Deadline(); isLimited && deadline.Before(r.end) {
			r.end = deadline
		}
	}
	length := r.pause
	r.pause = 2 * r.pause
	if r.pause > longestEndPause {
		r.pause = longestEndPause
	}
	if !now.Add(length).Before(r.end) {
		return false
	}
	// A context that ends meanwhile is the next try's error.
	_ = pause(ctx, length)
	return true
}
