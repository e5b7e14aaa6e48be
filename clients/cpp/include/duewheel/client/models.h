// Options and answers of calls. Written by generate.py from the OpenAPI document of the server: do not change it by
// hand.
//
// Members that are empty, false or without a value are absent. The members of options are in the order in which a
// designated initializer names them. An answer keeps the object that the server sent in `raw`, with members that are
// newer than this client.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "duewheel/client/content.h"

namespace duewheel::client {

// How failed attempts of a message are repeated.
struct RetryRule {
    // Deliveries before it becomes a dead letter; 1: no retries.
    std::optional<std::int64_t> attempts{};
    // Backoff after the first failure.
    std::optional<Duration> first{};
    // Factor by which the backoff grows with each failure: 2 doubles it.
    std::optional<double> factor{};
    // Maximum backoff.
    std::optional<Duration> max{};
    // Random variation of the backoff: 0.2 makes it up to 20 % shorter or longer.
    std::optional<double> jitter{};
};

// Makes a message recurring.
struct Repeat {
    // Make it a recurring message, with this interval.
    std::optional<Duration> every{};
    // Number of occurrences.
    std::optional<std::int64_t> times{};
    // Factor by which the interval grows each time: 2 doubles it.
    std::optional<double> factor{};
    // Maximum interval.
    std::optional<Duration> max{};
    std::optional<Instant> until{};
};

// When and where the server asks what became of a prepared message.
struct CheckBack {
    // Queue for check messages, which ask for the outcome when that time is over; without it, none are sent.
    std::string queue{};
    // Time to respond with `commit` or `rollback`, before and after each check.
    std::optional<Duration> after{};
    // Number of check messages.
    std::optional<std::int64_t> times{};
};

// Makes a message prepared: it is delivered after a commit.
struct Transaction {
    std::optional<CheckBack> check_back{};
    // Outcome without a response: rollback (default) or commit.
    std::string otherwise{};
};

// Members of a put besides its data.
struct PutOptions {
    std::optional<Duration> delay{};
    std::optional<Instant> due{};
    // Expires if it has not been leased within this time: 250ms, 10m, PT1H.
    std::optional<Duration> expires_in{};
    std::optional<Instant> expires{};
    // Messages with the same order key are delivered one after the other.
    std::string order_key{};
    // Groups of a queue are served in turns, within the limits that each has.
    std::string group{};
    // Due messages with smaller values are delivered first.
    std::optional<std::int64_t> priority{};
    std::optional<Repeat> repeat{};
    std::optional<RetryRule> retry{};
    std::optional<Transaction> transaction{};
    // Hold the message at once: it is not delivered until `kick`.
    bool held = false;
    Headers headers{};
    Json kafka{};
    std::string content_type{};
    // Idempotency key: repeating the same request with the same key puts one message.
    std::string key{};
    // What happens if the queue has an unfinished message with the key: `once` reports a repeated put, and refuses
    // another one; `keep` leaves the message as it is; `replace` puts this one in its place.
    std::string on_key{};
    // With `replace`: it is due at the latest this long after the first of the puts that it joins.
    std::optional<Duration> within{};
    Json imported{};
};

// Settings of a queue.
struct QueueSettings {
    // The receiver of its messages.
    Json target{};
    // Pause the queue: deliver nothing.
    bool paused = false;
    // Default duration of leases.
    std::optional<Duration> lease{};
    std::optional<RetryRule> retry{};
    Json rate{};
    Json limits{};
    Json groups{};
};

// Settings of a schedule besides the data of its messages.
struct ScheduleSettings {
    std::string queue{};
    // A cron expression of 5 fields, of 6 fields that begin with seconds, or in Quartz syntax; or a macro such as
    // @daily.
    std::string cron{};
    // A fixed interval: 10s, 1h.
    std::optional<Duration> every{};
    // An ISO 8601 repeating interval, such as R5/2027-01-01T09:00:00/P1M.
    std::string iso{};
    // One time: an instant, or a local time in its zone: 2027-01-01T06:00.
    std::string at{};
    // Its time zone, of the IANA database, such as Europe/Oslo.
    std::string zone{};
    // Only for cron: a local time that a clock change skips fires at the end of the gap (shift, the default), or not at
    // all (skip).
    std::string dst{};
    // Only for cron: a local time that a clock change repeats fires at its first occurrence (first, the default), or at
    // both.
    std::string dst_repeat{};
    // Days without a run, such as 'SAT SUN 12-25 2026-12-28..2026-12-31'.
    std::string closed{};
    // No run before this time.
    std::optional<Instant> start{};
    // No run after this time.
    std::optional<Instant> end{};
    // Total number of nominal times.
    std::optional<std::int64_t> times{};
    // Delay each run by a random time up to this.
    std::optional<Duration> jitter{};
    // How many runs are created for missed times: one for all of them (once, the default), one for each (all), or none
    // (skip).
    std::string misfire{};
    // Maximum age of a missed time that is made up for.
    std::optional<Duration> misfire_window{};
    // What happens to a run while the previous one is unfinished: allow (default), skip, or queue_one.
    std::string overlap{};
    // Pause the schedule: it creates no runs until it is resumed.
    bool paused = false;
    Headers headers{};
    Json kafka{};
    std::string content_type{};
    // Due messages with smaller values are delivered first.
    std::optional<std::int64_t> priority{};
    // Messages with the same order key are delivered one after the other.
    std::string order_key{};
    // Groups of a queue are served in turns, within the limits that each has.
    std::string group{};
    // A message expires if it has not been leased within this time.
    std::optional<Duration> expires_in{};
    std::optional<RetryRule> retry{};
};

// Settings of a watchdog besides the data of its message.
struct WatchdogSettings {
    std::string queue{};
    // It fires this long after its last feed: 30s, 25h; required for a new watchdog.
    std::optional<Duration> timeout{};
    // It fires this long after its first feed at the latest.
    std::optional<Duration> max{};
    // It fires again at this interval until it is fed.
    std::optional<Duration> repeat_every{};
    // Feed a watchdog that exists already.
    bool feed = false;
    Headers headers{};
    Json kafka{};
    std::string content_type{};
    // Due messages with smaller values are delivered first.
    std::optional<std::int64_t> priority{};
    // Messages with the same order key are delivered one after the other.
    std::string order_key{};
    // Groups of a queue are served in turns, within the limits that each has.
    std::string group{};
    // A message expires if it has not been leased within this time.
    std::optional<Duration> expires_in{};
    std::optional<RetryRule> retry{};
};

// One attempt in the timeline of a message.
struct Attempt {
    std::int64_t attempt = 0;
    std::optional<Instant> started{};
    std::optional<Instant> ended{};
    std::string outcome{};
    // The reason of a failure, shortened to 256 bytes.
    std::string reason{};
    std::string worker{};
    std::string raw{};
};

// What a check message asks about.
struct Check {
    std::string message{};
    std::int64_t number = 0;
    std::int64_t times = 0;
    std::string otherwise{};
    std::string raw{};
};

// The response to a put.
struct Receipt {
    std::string id{};
    std::string state{};
    std::optional<Instant> due{};
    // The message of the key was there, and is as it was.
    bool kept = false;
    // The message of the key was there, and is that of this put now.
    bool replaced = false;
    // The message of the key has ended, and nothing was put.
    bool ended = false;
    std::string hint{};
    std::string raw{};
};

// A message as it is shown.
struct Message {
    std::string id{};
    std::string in_namespace{};
    std::string queue{};
    std::string state{};
    std::optional<Instant> due{};
    std::optional<Instant> answer_by{};
    std::int64_t checks = 0;
    std::optional<Instant> nominal_due{};
    std::optional<Instant> expires{};
    std::string order_key{};
    std::string group{};
    std::string key{};
    std::int64_t priority = 0;
    std::int64_t attempts = 0;
    bool maybe_delivered = false;
    // For a recurring message: the number of the occurrence that is due at `due`.
    std::int64_t next_occurrence = 0;
    std::string blocked_by{};
    // Absent members are inherited from the queue, or else from the server's configuration.
    Json retry{};
    // Makes a recurring message.
    Json repeat{};
    // For a recurring message: how long after its due time each occurrence expires, in milliseconds.
    Duration expires_in{};
    // The message is prepared, and is delivered only after a commit.
    Json transaction{};
    std::optional<Check> check{};
    std::string parent{};
    std::string schedule{};
    std::string watchdog{};
    std::optional<Instant> last_fed{};
    // For an occurrence: its number in the recurring message `parent`.
    std::int64_t occurrence = 0;
    std::optional<Instant> put{};
    std::optional<Instant> lease_until{};
    bool cancel_requested = false;
    std::optional<Instant> delivered{};
    std::string worker{};
    Json progress{};
    Json checkpoint{};
    std::vector<Attempt> timeline{};
    std::optional<Instant> ended{};
    // Why it is a dead letter.
    std::string reason{};
    // The result that its acknowledgement gave, as it was sent.
    Json result{};
    std::string content_type{};
    Headers headers{};
    Json kafka{};
    std::string traceparent{};
    std::string raw{};
    Content content{};
};

// A message that this consumer has until its lease ends.
struct Lease {
    std::string id{};
    std::string queue{};
    std::string token{};
    std::optional<Instant> lease_until{};
    std::string group{};
    std::string key{};
    Json checkpoint{};
    std::string content_type{};
    Headers headers{};
    Json kafka{};
    std::string traceparent{};
    std::optional<Check> check{};
    std::string parent{};
    std::string schedule{};
    std::string watchdog{};
    std::optional<Instant> last_fed{};
    std::int64_t occurrence = 0;
    std::optional<Instant> due{};
    std::optional<Instant> delivered{};
    Duration lateness{};
    Duration wait{};
    std::int64_t attempt = 0;
    bool maybe_delivered = false;
    std::string raw{};
    Content content{};
};

// The state of a queue.
struct QueueState {
    std::string in_namespace{};
    std::string queue{};
    bool paused = false;
    // Present if the target of its webhook answered 410 Gone.
    std::string paused_by{};
    std::int64_t pending = 0;
    std::int64_t scheduled = 0;
    std::int64_t prepared = 0;
    std::int64_t ready = 0;
    std::int64_t leased = 0;
    std::int64_t held = 0;
    std::int64_t dead = 0;
    std::int64_t waiters = 0;
    bool backlog_on_disk = false;
    // Present while one is in progress.
    Json purge{};
    // Present while one is in progress.
    Json discard{};
    // State of the webhook target, if the queue has one.
    Json webhook{};
    // State of the Kafka target, if the queue has one.
    Json kafka{};
    Json settings{};
    // Only in the state of one queue: what applies to it, from its settings and, where they lack a member, from those
    // of the server.
    Json in_force{};
    std::string raw{};
};

}  // namespace duewheel::client
