// The oracle's model of one message: the worlds that are possible after what its clients saw, and the deliveries that
// reached them.
//
// While every command is answered, there is one world. A command whose response was lost in a crash may have been
// executed or not: then there are several, and each later response and each delivery removes those that it contradicts.
// If no world is left, that is a violation.
//
// The history of worlds is ordered by (run of the process, attempts begun): the response to a change states how many
// deliveries began before it, so a delivery that is reported late is judged by the worlds of its own time.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/commands/command.h"

namespace duewheel {

// The earliest and the latest possible value of an instant.
struct DueRange {
    DueMs low = 0;
    DueMs high = 0;

    bool holds(DueMs due) const { return low <= due && due <= high; }
    bool operator==(const DueRange&) const = default;
};
// The range of an instant that becomes `limit` if it is later.
inline DueRange at_latest(DueRange instant, DueRange limit) {
    return {std::min(instant.low, limit.low), std::min(instant.high, limit.high)};
}

// For a recurring message, the due time follows from its rule for the next occurrence (RecurringModel). For a prepared
// message, it is the deadline for its commit or rollback, which moves with each check (PreparedModel).
inline constexpr DueRange kAsItsRuleSays{0, INT64_MAX};

struct World {
    enum class Phase : std::uint8_t { absent, live, held, dead, cancelled, done, expired, prepared };

    Phase phase = Phase::absent;
    DueRange due;
    DueRange nominal;
    DueRange ended;                 // when it ended
    std::uint32_t attempt = 0;      // done: of the lease that ended it
    std::uint64_t incarnation = 0;  // done
    // Cancelled, with a reply: the content of the reply.
    bool told = false;
    std::uint32_t attempts = 0;
    bool was_prepared = false;  // ended while prepared, so it was never committed

    bool is_live() const { return phase == Phase::live; }
    bool is_prepared() const { return phase == Phase::prepared; }
    bool is_unfinished() const { return phase == Phase::live || phase == Phase::held || is_prepared(); }
    // Whether it has ended permanently.
    bool is_ended() const { return phase == Phase::cancelled || phase == Phase::done || phase == Phase::expired; }
    bool operator==(const World&) const = default;
};
using Worlds = std::vector<World>;

// A point in a message's life: after this number of attempts had begun in this run of the process.
struct LifePoint {
    std::uint32_t run = 0;
    std::uint32_t attempts = 0;

    auto operator<=>(const LifePoint&) const = default;
};

struct Epoch {
    LifePoint from;
    Worlds worlds;
};

// What clients write to one place of a message: which of their texts may stand there. A command is carried out at some
// time between its submission and its reply, so a text has certainly been overwritten once another one was accepted
// that was sent after its own reply.
class WrittenText {
  public:
    void sent(std::string text, ReplyToken token, std::uint64_t step);
    void accepted(ReplyToken token, std::uint64_t step, DueMs now_ms);
    void refused(ReplyToken token);
    // The process has died: what was sent was carried out by now, or never.
    void died(std::uint64_t step);
    // `as_of`: what was read at that time, and may have been shown later.
    bool may_be(std::string_view text, DueMs as_of = INT64_MAX) const;

  private:
    static constexpr std::uint64_t kOpen = UINT64_MAX;
    struct Write {
        std::string text;
        ReplyToken token = 0;
        std::uint64_t sent = 0;
        std::uint64_t closed = 0;
    };
    std::vector<Write> writes_{Write{}};                        // at first nothing stands there
    std::vector<std::pair<std::string, DueMs>> overwritten_{};  // and by when, in this run
};

// A delivery that a client saw.
struct SeenDelivery {
    std::uint32_t run = 0;
    std::uint32_t attempt = 0;
    LeaseToken token;
    DueMs delivered_ms = 0;
    DueRange until;                     // of the lease
    std::uint32_t extends_open = 0;     // submitted, not answered
    std::uint32_t endings_open = 0;     // ack, fail, release: submitted, not answered
    std::uint32_t endings_sent = 0;     // the same since its delivery
    bool ended = false;                 // one of them was answered: it took effect
    bool expired_with_message = false;  // one was answered expired, and may have been the end of its message too
    bool may_have_ended = false;        // one of them was never answered
    bool ends_with_server = false;      // the lease does not outlive its run
    std::uint32_t kept_in = 0;          // the later run that surely has it; 0: none
    std::string worker;
    std::optional<AttemptOutcome> told_end;  // as a client has ended it, with a reply
    std::uint64_t told_end_step = 0;
};

// One line of a message's history, for the report of a violation.
struct HistoryLine {
    std::uint64_t step = 0;
    DueMs now = 0;
    std::string_view what;
    std::int64_t first = 0;
    std::int64_t second = 0;
};

// Additional knowledge about a recurring message. The due times of its occurrences are computed here from the
// documented rule, without code of the engine.
class RecurringModel {
  public:
    explicit RecurringModel(const RepeatChoice& choice) : choice_(choice) {}

    // The time from the first occurrence to the one with this number. O(numbers not requested before).
    std::int64_t offset_ms(std::uint64_t number) const;
    // The last number, if the first occurrence is due at `start_ms`; none: there is no end.
    std::optional<std::uint64_t> last(DueMs start_ms) const;
    // The number of occurrences that are due by then.
    std::uint64_t due_by(DueMs start_ms, DueMs now) const;

    DueRange start;                // when the first occurrence is due; exact once a reply has shown it
    std::uint64_t made_least = 0;  // the number of occurrences certainly created
    // The maximum: since it was cancelled, purged or has ended; and since it was held.
    std::uint64_t made_most = UINT64_MAX;
    std::uint64_t held_at = UINT64_MAX;
    std::uint64_t cancelled_step = 0;  // in which the cancel was answered first
    std::vector<std::uint64_t> seen;   // the serials of the occurrences seen, by number - 1; 0: not seen
    std::uint64_t seen_count = 0;

    bool is_exact() const { return start.low == start.high; }
    // When the occurrence is due, if known.
    DueMs due_ms(std::uint64_t number) const { return start.low + offset_ms(number); }

  private:
    RepeatChoice choice_;
    mutable std::vector<std::int64_t> offsets_{0};
    mutable std::int64_t rest_us_ = 0;  // the one before the last of them
};

// Additional knowledge about a message in a transaction. When its checks are due, and from when on its default may
// apply, is computed from its put, without code of the engine.
struct PreparedModel {
    TransactionRule rule;
    DueMs put_ms = 0;                                  // at the earliest
    DueMs settled_ms = INT64_MAX;                      // when a reply had shown that it is settled
    bool settle_lost = false;                          // the reply to a commit or a rollback was lost
    bool may_be_over = false;                          // its default may apply
    DueMs told_due_ms = 0;                             // the latest deadline that a lookup has shown
    std::uint32_t checks_told = 0;                     // and the highest number of checks
    std::optional<std::uint32_t> checks_before_alone;  // when nothing prevented its default any longer
    std::uint32_t ends_asked = 0;                      // commits, rollbacks and cancels that were sent
    std::uint64_t leases_lost_before = 0;              // of the queue of its checks, when it was put
    std::map<std::uint64_t, std::uint64_t> checks;     // serials of those seen, by number

    // Each interval counts from the previous check, so none is shorter.
    DueMs earliest_ms(std::uint64_t number) const { return put_ms + static_cast<DueMs>(number) * rule.check_after_ms; }
    DueMs default_ms() const { return earliest_ms(std::uint64_t{rule.check_times} + 1); }
    // Its possible worlds if its default applies.
    World defaulted(const World& half) const;
};

struct MessageModel {
    std::uint64_t serial = 0;  // of its put; contained in its body, and in those of its occurrences
    MessageId id = 0;          // 0: no client knows it
    PutCommand put;
    DueMs first_put_ms = 0;  // when it was first sent
    DueRange carried_out;    // when its put was, if it was; `high` 0: not known
    // A put that keeps or replaces it was sent, so its key may be that of another message by now.
    bool was_put_otherwise = false;
    WrittenText body;       // of puts that replace it; empty: that of its own put
    DueMs replaced_ms = 0;  // when the last answer to such a put came: a delivery that began before may be told later
    bool answered = false;  // the put was accepted, and its client received the reply
    std::optional<DueRange> expires;
    // Its retry rule: exact if known, otherwise bounds of what it allows.
    std::optional<RetryRule> rule;
    std::uint32_t attempts_least = 0;
    std::uint32_t attempts_most = 0;
    std::int64_t rest_most_ms = 0;  // after a failure, the jitter included
    std::size_t lost_batch = 0;     // the number of its request of puts whose reply was lost; 0: none
    DueMs told_ms = 0;              // when a client last received a reply about it, except deliveries
    std::uint64_t told_step = 0;    // likewise
    void was_told(DueMs now, std::uint64_t step) { told_ms = now, told_step = step; }

    std::vector<Epoch> epochs;
    std::vector<SeenDelivery> deliveries;  // in the order in which they were reported
    std::vector<ReplyToken> open;          // commands that change it, not answered
    std::uint64_t leases_lost_before = 0;  // unseen leases of its queue when it was put
    // The number of its attempts that do not count against its rule: bounds.
    std::uint32_t forgiven_low = 0;
    std::uint64_t forgiven_high = 0;
    std::uint32_t returns_open = 0;  // kicks and redrives without a reply: more may stop counting at any moment
    DueMs redriven_ms = 0;           // when the last redrive that may have returned it was answered
    LifePoint recorded;              // the last attempt that a reply has shown to be durable
    bool may_be_back = false;        // from the dead letters: then it no longer has an expiry
    // Whether a purge of its queue applies to it, or a cancel that was requested while it was leased. If so, it may
    // have ended as cancelled at any time since.
    enum class Purge : std::uint8_t { no, maybe, surely } purge = Purge::no;
    std::uint64_t submitted_step = 0;
    std::uint64_t answered_step = 0;
    std::vector<HistoryLine> history;

    DueMs purged_ms = 0;  // at the earliest
    // Cancels with `running` that were sent; and in which attempt and step the first one was answered cancelling.
    std::uint32_t stops_sent = 0;
    std::optional<std::uint32_t> stopped_in;
    std::uint64_t stopped_step = 0;

    WrittenText checkpoint;
    std::optional<RecurringModel> loop;
    bool may_have_made_all = false;     // a recurring message: it would be done then
    std::uint64_t parent = 0;           // serial of the recurring message, or of a check's prepared message
    std::uint64_t occurrence = 0;       // and its number
    std::optional<PreparedModel> half;  // it was put in a transaction
    bool is_check = false;
    std::uint32_t records = 0;        // of inputs, that have this put
    bool is_record_in_doubt = false;  // a crash left it open whether one of them was taken
    std::uint64_t schedule_put = 0;   // a run of a schedule: the serial of the put that has its content
    std::uint64_t watchdog_put = 0;   // a message of a watchdog: likewise
    DueMs unended_ms = 0;             // a run: until then nothing had ended it, not even temporarily
    // Given by the ends of leases: all that it may have had; the current one; and how many commands may change it.
    std::vector<std::int32_t> later_priorities{};
    std::optional<std::int32_t> later_priority{};
    std::uint32_t priorities_open = 0;
    bool is_priority_in_doubt = false;

    // If it is certain.
    std::optional<std::int32_t> priority() const {
        if (is_priority_in_doubt || priorities_open > 0 || was_put_otherwise) return std::nullopt;
        return later_priority.value_or(put.priority);
    }
    // A command that gives it this priority was sent.
    void may_get_priority(std::int32_t value) {
        later_priorities.push_back(value);
        ++priorities_open;
    }
    bool may_have_had_priority(std::int32_t value) const {
        return value == put.priority ||
               std::find(later_priorities.begin(), later_priorities.end(), value) != later_priorities.end();
    }
    bool may_have_content(const Content& content, DueMs as_of = INT64_MAX) const;
    const Worlds& worlds() const { return epochs.back().worlds; }
    bool may_be_unfinished() const;
    bool is_surely_unfinished() const;
    bool may_be(World::Phase phase) const;
    // Whether it may have expired, and whether it certainly has.
    bool may_have_expired(DueMs now) const { return expires && expires->low <= now; }
    bool has_expired(DueMs now) const { return expires && !may_be_back && expires->high <= now; }
    bool shares_order_key(const MessageModel& other) const;
    // The world, if there is only one.
    const World* certain() const { return worlds().size() == 1 ? &worlds().front() : nullptr; }
    void set(LifePoint from, Worlds worlds);
    // Replaces the possible worlds.
    void replace(Worlds worlds);
    bool is_recurring() const { return loop.has_value(); }
    bool is_run() const { return schedule_put != 0; }
    bool is_firing() const { return watchdog_put != 0; }
    // Put by a client, or created by a recurring message or for a prepared message, with this due time.
    World fresh(DueRange due) const {
        if (half) return {World::Phase::prepared, kAsItsRuleSays, due, {}};
        const DueRange when = is_recurring() ? kAsItsRuleSays : due;
        return {put.is_held ? World::Phase::held : World::Phase::live, when, when, {}};
    }
    // Ended by a purge, at some time from then on.
    static World purged_world(DueMs from) { return {World::Phase::cancelled, {}, {}, {from, from}}; }
    // A prepared message that is committed, or ends while prepared, at some time in this range.
    static World committed(const World& prepared, DueRange now) {
        const DueRange due{std::max(prepared.nominal.low, now.low), std::max(prepared.nominal.high, now.high)};
        return {World::Phase::live, due, prepared.nominal, {}};
    }
    static World ended_half(World::Phase phase, DueRange now) {
        World ended{phase, {}, {}, now};
        ended.was_prepared = true;
        return ended;
    }
    // Deliveries seen that began before this point; all of them for an attempt beyond every other.
    std::uint32_t seen_before(LifePoint point) const;
    // The delivery of a lease; null if no client saw it.
    SeenDelivery* delivery_of(const LeaseToken& token);
    const SeenDelivery* delivery_of(const LeaseToken& token) const;
};

void add_world(Worlds& worlds, const World& world);
// Worlds that differ only in when the message is due or ended become one that spans them: the oracle then allows more
// than is possible.
void merge_alike(Worlds& worlds);
std::string describe(const Worlds& worlds);

}  // namespace duewheel
