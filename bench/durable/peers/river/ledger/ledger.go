// Package ledger is ../../ledger.mjs for many goroutines: it sees what became of every message of a run. When it was due, how often it was
// delivered and acknowledged, and how late it came. Times are whole milliseconds of this machine's clock, cut off, both for puts and
// deliveries: a delivery that counts as early is early. Both ledgers pass the cases of tests/bench/ledger_cases.json.
package ledger

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

const (
	// BodyBytes is the length of a body.
	BodyBytes = 200
	digits    = 12
)

// BodyOf returns random bytes that begin with the number: `000000000007 ...`.
func BodyOf(number int) string {
	random := make([]byte, 150)
	rand.Read(random)
	return fmt.Sprintf("%0*d %s", digits, number, base64.StdEncoding.EncodeToString(random))[:BodyBytes]
}

// NumberOf returns the number of a body.
func NumberOf(body string) int {
	number, err := strconv.Atoi(body[:digits])
	if err != nil {
		panic(err)
	}
	return number
}

// Levels returns p50, p99 and the maximum of the values, which it sorts in place. Nil without values.
func Levels(values []float64) map[string]float64 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	at := func(part float64) float64 { return values[min(len(values)-1, int(part*float64(len(values))))] }
	return map[string]float64{"p50": at(0.5), "p99": at(0.99), "max": values[len(values)-1]}
}

type entry struct {
	dueMs, lateMs                int64
	accepted, cancelled          bool
	deliveries, acknowledgements int
}

// Ledger may be used by many goroutines at once.
type Ledger struct {
	mu                                       sync.Mutex
	messages                                 map[int]*entry
	unknown                                  int
	undone                                   int // accepted, not cancelled, not acknowledged
	lastDueMs, lastEventMs, lastAcknowledged int64
}

// New returns an empty ledger.
func New() *Ledger { return &Ledger{messages: map[int]*entry{}} }

// Sent comes just before the put: nowMs plus the delay is the earliest time at which the message may come.
func (l *Ledger) Sent(number int, nowMs, delayMs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages[number] = &entry{dueMs: nowMs + delayMs}
	l.lastDueMs = max(l.lastDueMs, nowMs+delayMs)
}

// Accepted comes with the response to the put.
func (l *Ledger) Accepted(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	message := l.messages[number]
	message.accepted = true
	if message.acknowledgements == 0 {
		l.undone++
	}
}

// Cancelled comes when the server has confirmed that the message will not be delivered.
func (l *Ledger) Cancelled(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages[number].cancelled = true
	l.undone--
}

// Delivered comes with each delivery.
func (l *Ledger) Delivered(number int, nowMs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastEventMs = nowMs
	message := l.messages[number]
	if message == nil {
		l.unknown++
		return
	}
	message.deliveries++
	if message.deliveries == 1 {
		message.lateMs = nowMs - message.dueMs
	}
}

// Acknowledged comes when the server has confirmed the acknowledgement.
func (l *Ledger) Acknowledged(number int, nowMs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastEventMs, l.lastAcknowledged = nowMs, nowMs
	message := l.messages[number]
	if message == nil || message.cancelled {
		return
	}
	message.acknowledgements++
	if message.acknowledgements == 1 && message.accepted {
		l.undone--
	}
}

// Undone returns how many accepted messages are neither cancelled nor acknowledged.
func (l *Ledger) Undone() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.undone
}

// LastMs returns the later one of the last event and the last due time.
func (l *Ledger) LastMs() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.lastEventMs, l.lastDueMs)
}

// LastAcknowledgedMs returns the time of the last acknowledgement.
func (l *Ledger) LastAcknowledgedMs() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastAcknowledged
}

// Report counts messages; LateMs are the levels of their lateness.
type Report struct {
	Accepted       int                `json:"accepted"`
	Cancelled      int                `json:"cancelled"`
	Delivered      int                `json:"delivered"`
	Acknowledged   int                `json:"acknowledged"`
	Twice          int                `json:"twice"`
	Lost           int                `json:"lost"`
	Unacknowledged int                `json:"unacknowledged"`
	Early          int                `json:"early"`
	AfterCancel    int                `json:"after_cancel"`
	Unknown        int                `json:"unknown"`
	LateMs         map[string]float64 `json:"late_ms"`
}

// Report says what became of all messages so far.
func (l *Ledger) Report() *Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	report := &Report{Unknown: l.unknown}
	count := func(counter *int, holds bool) {
		if holds {
			*counter++
		}
	}
	var late []float64
	for _, message := range l.messages {
		expected, came := message.accepted && !message.cancelled, message.deliveries > 0
		count(&report.Accepted, message.accepted)
		count(&report.Cancelled, message.cancelled)
		count(&report.Delivered, came)
		count(&report.Acknowledged, message.acknowledgements > 0)
		count(&report.Lost, expected && !came)
		count(&report.Unacknowledged, expected && came && message.acknowledgements == 0)
		count(&report.Early, message.lateMs < 0)
		count(&report.AfterCancel, came && message.cancelled)
		if came {
			report.Twice += message.deliveries - 1
			late = append(late, float64(message.lateMs))
		}
	}
	report.LateMs = Levels(late)
	return report
}
