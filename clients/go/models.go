// Options and answers of calls. Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel

import (
	"encoding/json"
	"time"
)

// RetryRule: how failed attempts of a message are repeated. Fields that are zero are absent.
type RetryRule struct {
	Attempts *int64        `json:"attempts"` // Deliveries before it becomes a dead letter; 1: no retries.
	First    time.Duration `json:"first"`    // Backoff after the first failure.
	Factor   *float64      `json:"factor"`   // Factor by which the backoff grows with each failure: 2 doubles it.
	Max      time.Duration `json:"max"`      // Maximum backoff.
	Jitter   *float64      `json:"jitter"`   // Random variation of the backoff: 0.2 makes it up to 20 % shorter or longer.
}

// Repeat: makes a message recurring. Fields that are zero are absent.
type Repeat struct {
	Every  time.Duration `json:"every"`  // Make it a recurring message, with this interval.
	Times  *int64        `json:"times"`  // Number of occurrences.
	Factor *float64      `json:"factor"` // Factor by which the interval grows each time: 2 doubles it.
	Max    time.Duration `json:"max"`    // Maximum interval.
	Until  time.Time     `json:"until"`
}

// CheckBack: when and where the server asks what became of a prepared message. Fields that are zero are absent.
type CheckBack struct {
	Queue string        `json:"queue"` // Queue for check messages, which ask for the outcome when that time is over; without it, none are sent.
	After time.Duration `json:"after"` // Time to respond with `commit` or `rollback`, before and after each check.
	Times *int64        `json:"times"` // Number of check messages.
}

// Transaction: makes a message prepared: it is delivered after a commit. Fields that are zero are absent.
type Transaction struct {
	CheckBack *CheckBack `json:"check_back"`
	Otherwise string     `json:"otherwise"` // Outcome without a response: rollback (default) or commit.
}

// PutOptions: members of a put besides its data. Fields that are zero are absent.
type PutOptions struct {
	Delay       time.Duration     `json:"delay"`
	Due         time.Time         `json:"due"`
	ExpiresIn   time.Duration     `json:"expires_in"` // Expires if it has not been leased within this time: 250ms, 10m, PT1H.
	Expires     time.Time         `json:"expires"`
	OrderKey    string            `json:"order_key"` // Messages with the same order key are delivered one after the other.
	Group       string            `json:"group"`     // Groups of a queue are served in turns, within the limits that each has.
	Priority    *int64            `json:"priority"`  // Due messages with smaller values are delivered first.
	Repeat      *Repeat           `json:"repeat"`
	Retry       *RetryRule        `json:"retry"`
	Transaction *Transaction      `json:"transaction"`
	Held        bool              `json:"held"` // Hold the message at once: it is not delivered until `kick`.
	Headers     map[string]string `json:"headers"`
	Kafka       any               `json:"kafka"`
	ContentType string            `json:"content_type"`
	Key         string            `json:"key"`    // Idempotency key: repeating the same request with the same key puts one message.
	OnKey       string            `json:"on_key"` // What happens if the queue has an unfinished message with the key: `once` reports a repeated put, and refuses another one; `keep` leaves the message as it is; `replace` puts this one in its place.
	Within      time.Duration     `json:"within"` // With `replace`: it is due at the latest this long after the first of the puts that it joins.
	Imported    any               `json:"imported"`
}

// QueueSettings: settings of a queue. Fields that are zero are absent.
type QueueSettings struct {
	Target any           `json:"target"` // The receiver of its messages.
	Paused bool          `json:"paused"` // Pause the queue: deliver nothing.
	Lease  time.Duration `json:"lease"`  // Default duration of leases.
	Retry  *RetryRule    `json:"retry"`
	Rate   any           `json:"rate"`
	Limits any           `json:"limits"`
	Groups any           `json:"groups"`
}

// ScheduleSettings: settings of a schedule besides the data of its messages. Fields that are zero are absent.
type ScheduleSettings struct {
	Queue         string            `json:"queue"`
	Cron          string            `json:"cron"`           // A cron expression of 5 fields, of 6 fields that begin with seconds, or in Quartz syntax; or a macro such as @daily.
	Every         time.Duration     `json:"every"`          // A fixed interval: 10s, 1h.
	ISO           string            `json:"iso"`            // An ISO 8601 repeating interval, such as R5/2027-01-01T09:00:00/P1M.
	At            string            `json:"at"`             // One time: an instant, or a local time in its zone: 2027-01-01T06:00.
	Zone          string            `json:"zone"`           // Its time zone, of the IANA database, such as Europe/Oslo.
	DST           string            `json:"dst"`            // Only for cron: a local time that a clock change skips fires at the end of the gap (shift, the default), or not at all (skip).
	DSTRepeat     string            `json:"dst_repeat"`     // Only for cron: a local time that a clock change repeats fires at its first occurrence (first, the default), or at both.
	Closed        string            `json:"closed"`         // Days without a run, such as 'SAT SUN 12-25 2026-12-28..2026-12-31'.
	Start         time.Time         `json:"start"`          // No run before this time.
	End           time.Time         `json:"end"`            // No run after this time.
	Times         *int64            `json:"times"`          // Total number of nominal times.
	Jitter        time.Duration     `json:"jitter"`         // Delay each run by a random time up to this.
	Misfire       string            `json:"misfire"`        // How many runs are created for missed times: one for all of them (once, the default), one for each (all), or none (skip).
	MisfireWindow time.Duration     `json:"misfire_window"` // Maximum age of a missed time that is made up for.
	Overlap       string            `json:"overlap"`        // What happens to a run while the previous one is unfinished: allow (default), skip, or queue_one.
	Paused        bool              `json:"paused"`         // Pause the schedule: it creates no runs until it is resumed.
	Headers       map[string]string `json:"headers"`
	Kafka         any               `json:"kafka"`
	ContentType   string            `json:"content_type"`
	Priority      *int64            `json:"priority"`   // Due messages with smaller values are delivered first.
	OrderKey      string            `json:"order_key"`  // Messages with the same order key are delivered one after the other.
	Group         string            `json:"group"`      // Groups of a queue are served in turns, within the limits that each has.
	ExpiresIn     time.Duration     `json:"expires_in"` // A message expires if it has not been leased within this time.
	Retry         *RetryRule        `json:"retry"`
}

// WatchdogSettings: settings of a watchdog besides the data of its message. Fields that are zero are absent.
type WatchdogSettings struct {
	Queue       string            `json:"queue"`
	Timeout     time.Duration     `json:"timeout"`      // It fires this long after its last feed: 30s, 25h; required for a new watchdog.
	Max         time.Duration     `json:"max"`          // It fires this long after its first feed at the latest.
	RepeatEvery time.Duration     `json:"repeat_every"` // It fires again at this interval until it is fed.
	Feed        bool              `json:"feed"`         // Feed a watchdog that exists already.
	Headers     map[string]string `json:"headers"`
	Kafka       any               `json:"kafka"`
	ContentType string            `json:"content_type"`
	Priority    *int64            `json:"priority"`   // Due messages with smaller values are delivered first.
	OrderKey    string            `json:"order_key"`  // Messages with the same order key are delivered one after the other.
	Group       string            `json:"group"`      // Groups of a queue are served in turns, within the limits that each has.
	ExpiresIn   time.Duration     `json:"expires_in"` // A message expires if it has not been leased within this time.
	Retry       *RetryRule        `json:"retry"`
}

// Attempt: one attempt in the timeline of a message.
type Attempt struct {
	raw
	Attempt   int64  `json:"attempt"`
	StartedMS int64  `json:"started_ms"`
	EndedMS   int64  `json:"ended_ms"`
	Outcome   string `json:"outcome"`
	Reason    string `json:"reason"` // The reason of a failure, shortened to 256 bytes.
	Worker    string `json:"worker"`
}

// Started is StartedMS as an instant, zero if there is none.
func (f *Attempt) Started() time.Time { return instantOf(f.StartedMS) }

// Ended is EndedMS as an instant, zero if there is none.
func (f *Attempt) Ended() time.Time { return instantOf(f.EndedMS) }

// Check: what a check message asks about.
type Check struct {
	raw
	Message   string `json:"message"`
	Number    int64  `json:"number"`
	Times     int64  `json:"times"`
	Otherwise string `json:"otherwise"`
}

// Receipt: the response to a put.
type Receipt struct {
	raw
	ID       ID     `json:"id"`
	State    string `json:"state"`
	DueMS    int64  `json:"due_ms"`
	Kept     bool   `json:"kept"`     // The message of the key was there, and is as it was.
	Replaced bool   `json:"replaced"` // The message of the key was there, and is that of this put now.
	Ended    bool   `json:"ended"`    // The message of the key has ended, and nothing was put.
	Hint     string `json:"hint"`
}

// Due is DueMS as an instant, zero if there is none.
func (f *Receipt) Due() time.Time { return instantOf(f.DueMS) }

// Message: a message as it is shown.
type Message struct {
	content
	raw
	ID              ID                `json:"id"`
	Namespace       string            `json:"namespace"`
	Queue           string            `json:"queue"`
	State           string            `json:"state"`
	DueMS           int64             `json:"due_ms"`
	AnswerByMS      int64             `json:"answer_by_ms"`
	Checks          int64             `json:"checks"`
	NominalDueMS    int64             `json:"nominal_due_ms"`
	ExpiresMS       int64             `json:"expires_ms"`
	OrderKey        string            `json:"order_key"`
	Group           string            `json:"group"`
	Key             string            `json:"key"`
	Priority        int64             `json:"priority"`
	Attempts        int64             `json:"attempts"`
	MaybeDelivered  bool              `json:"maybe_delivered"`
	NextOccurrence  int64             `json:"next_occurrence"` // For a recurring message: the number of the occurrence that is due at `due`.
	BlockedBy       string            `json:"blocked_by"`
	Retry           json.RawMessage   `json:"retry"`         // Absent members are inherited from the queue, or else from the server's configuration.
	Repeat          json.RawMessage   `json:"repeat"`        // Makes a recurring message.
	ExpiresInMS     int64             `json:"expires_in_ms"` // For a recurring message: how long after its due time each occurrence expires, in milliseconds.
	Transaction     json.RawMessage   `json:"transaction"`   // The message is prepared, and is delivered only after a commit.
	Check           *Check            `json:"check"`
	Parent          string            `json:"parent"`
	Schedule        string            `json:"schedule"`
	Watchdog        string            `json:"watchdog"`
	LastFedMS       int64             `json:"last_fed_ms"`
	Occurrence      int64             `json:"occurrence"` // For an occurrence: its number in the recurring message `parent`.
	PutMS           int64             `json:"put_ms"`
	LeaseUntilMS    int64             `json:"lease_until_ms"`
	CancelRequested bool              `json:"cancel_requested"`
	DeliveredMS     int64             `json:"delivered_ms"`
	Worker          string            `json:"worker"`
	Progress        json.RawMessage   `json:"progress"`
	Checkpoint      json.RawMessage   `json:"checkpoint"`
	Timeline        []Attempt         `json:"timeline"`
	EndedMS         int64             `json:"ended_ms"`
	Reason          string            `json:"reason"` // Why it is a dead letter.
	Result          json.RawMessage   `json:"result"` // The result that its acknowledgement gave, as it was sent.
	ContentType     string            `json:"content_type"`
	Headers         map[string]string `json:"headers"`
	Kafka           json.RawMessage   `json:"kafka"`
	Traceparent     string            `json:"traceparent"`
}

// Due is DueMS as an instant, zero if there is none.
func (f *Message) Due() time.Time { return instantOf(f.DueMS) }

// AnswerBy is AnswerByMS as an instant, zero if there is none.
func (f *Message) AnswerBy() time.Time { return instantOf(f.AnswerByMS) }

// NominalDue is NominalDueMS as an instant, zero if there is none.
func (f *Message) NominalDue() time.Time { return instantOf(f.NominalDueMS) }

// Expires is ExpiresMS as an instant, zero if there is none.
func (f *Message) Expires() time.Time { return instantOf(f.ExpiresMS) }

// ExpiresIn is ExpiresInMS as a duration. For a recurring message: how long after its due time each occurrence expires, in milliseconds.
func (f *Message) ExpiresIn() time.Duration { return time.Duration(f.ExpiresInMS) * time.Millisecond }

// LastFed is LastFedMS as an instant, zero if there is none.
func (f *Message) LastFed() time.Time { return instantOf(f.LastFedMS) }

// Put is PutMS as an instant, zero if there is none.
func (f *Message) Put() time.Time { return instantOf(f.PutMS) }

// LeaseUntil is LeaseUntilMS as an instant, zero if there is none.
func (f *Message) LeaseUntil() time.Time { return instantOf(f.LeaseUntilMS) }

// Delivered is DeliveredMS as an instant, zero if there is none.
func (f *Message) Delivered() time.Time { return instantOf(f.DeliveredMS) }

// Ended is EndedMS as an instant, zero if there is none.
func (f *Message) Ended() time.Time { return instantOf(f.EndedMS) }

// Lease: a message that this consumer has until its lease ends.
type Lease struct {
	content
	raw
	ID             ID                `json:"id"`
	Queue          string            `json:"queue"`
	Token          string            `json:"lease"`
	LeaseUntilMS   int64             `json:"lease_until_ms"`
	Group          string            `json:"group"`
	Key            string            `json:"key"`
	Checkpoint     json.RawMessage   `json:"checkpoint"`
	ContentType    string            `json:"content_type"`
	Headers        map[string]string `json:"headers"`
	Kafka          json.RawMessage   `json:"kafka"`
	Traceparent    string            `json:"traceparent"`
	Check          *Check            `json:"check"`
	Parent         string            `json:"parent"`
	Schedule       string            `json:"schedule"`
	Watchdog       string            `json:"watchdog"`
	LastFedMS      int64             `json:"last_fed_ms"`
	Occurrence     int64             `json:"occurrence"`
	DueMS          int64             `json:"due_ms"`
	DeliveredMS    int64             `json:"delivered_ms"`
	LatenessMS     int64             `json:"lateness_ms"`
	WaitMS         int64             `json:"wait_ms"`
	Attempt        int64             `json:"attempt"`
	MaybeDelivered bool              `json:"maybe_delivered"`
}

// LeaseUntil is LeaseUntilMS as an instant, zero if there is none.
func (f *Lease) LeaseUntil() time.Time { return instantOf(f.LeaseUntilMS) }

// LastFed is LastFedMS as an instant, zero if there is none.
func (f *Lease) LastFed() time.Time { return instantOf(f.LastFedMS) }

// Due is DueMS as an instant, zero if there is none.
func (f *Lease) Due() time.Time { return instantOf(f.DueMS) }

// Delivered is DeliveredMS as an instant, zero if there is none.
func (f *Lease) Delivered() time.Time { return instantOf(f.DeliveredMS) }

// Lateness is LatenessMS as a duration.
func (f *Lease) Lateness() time.Duration { return time.Duration(f.LatenessMS) * time.Millisecond }

// Wait is WaitMS as a duration.
func (f *Lease) Wait() time.Duration { return time.Duration(f.WaitMS) * time.Millisecond }

// QueueState: the state of a queue.
type QueueState struct {
	raw
	Namespace     string          `json:"namespace"`
	Queue         string          `json:"queue"`
	Paused        bool            `json:"paused"`
	PausedBy      string          `json:"paused_by"` // Present if the target of its webhook answered 410 Gone.
	Pending       int64           `json:"pending"`
	Scheduled     int64           `json:"scheduled"`
	Prepared      int64           `json:"prepared"`
	Ready         int64           `json:"ready"`
	Leased        int64           `json:"leased"`
	Held          int64           `json:"held"`
	Dead          int64           `json:"dead"`
	Waiters       int64           `json:"waiters"`
	BacklogOnDisk bool            `json:"backlog_on_disk"`
	Purge         json.RawMessage `json:"purge"`   // Present while one is in progress.
	Discard       json.RawMessage `json:"discard"` // Present while one is in progress.
	Webhook       json.RawMessage `json:"webhook"` // State of the webhook target, if the queue has one.
	Kafka         json.RawMessage `json:"kafka"`   // State of the Kafka target, if the queue has one.
	Settings      json.RawMessage `json:"settings"`
	InForce       json.RawMessage `json:"in_force"` // Only in the state of one queue: what applies to it, from its settings and, where they lack a member, from those of the server.
}
