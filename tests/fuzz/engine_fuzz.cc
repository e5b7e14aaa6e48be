// The engine with a script of commands, over the real journal, recent tier, sealer and compaction on a disk in memory
// that loses power: deliveries must match what clients were told.
//
// The model is deliberately small: for each message, what its client was told last. If a client was told nothing,
// because the process died first or the reply is pending, nothing is checked. The simulator (tests/simulation) checks
// more; this target finds what no workload of ours would do.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "fuzz/fuzzed_shard.h"
#include "fuzz/input_script.h"
#include "support/memory_rows.h"
#include "support/sim_disk.h"

namespace duewheel::engine_fuzz {
namespace {

constexpr DueMs kStart = 1'700'000'000'000;
constexpr std::int64_t kLeaseMs = 5'000;
constexpr int kOperationsMax = 80;
constexpr std::size_t kKnownMax = 60;  // messages and leases that the script may name
constexpr int kRoundsToDrain = 40;
constexpr std::int64_t kBeyondAllMs = 8'000'000;  // every delay and expiry that the script may ask for

// What the clients of one message were told.
struct Known {
    std::string queue, order_key, key, body;
    DueMs due_ms = 0;                              // never before it
    DueMs expires_ms = INT64_MAX;                  // never from then on
    std::optional<std::int64_t> expires_after_ms;  // counted from its first due time
    bool ended = false;                            // told so
    bool unsure = false;                           // somebody was not told what became of a command
    DueMs lease_until_ms = 0;                      // in somebody's hands until then
    std::uint32_t attempt = 0;
    DueMs told_ms = 0;  // when somebody was told of a change last
    bool seen = false;  // it was delivered at least once
};

class Trial {
  public:
    explicit Trial(std::string_view input) : script_(input) { start(); }

    void run() {
        for (int i = 0; i < kOperationsMax && !script_.at_end(); ++i) {
            operate();
            process_->engine().check();
        }
        process_->settle();
        hear();
        drain();
    }

  private:
    // A command on its way, and what its answer will mean.
    struct PendingLookup {
        enum class What { put, batch, change, lease, end, look, list } what = What::look;
        std::vector<Known> puts;
        MessageId id = 0;  // of a change, or of the lease's message
        std::uint32_t limit = 0;
        DueMs at_ms = 0;
    };

    void start() { process_ = std::make_unique<FuzzedShard>(disk_, rows_, log_, now_); }

    void operate() {
        switch (script_.below(16)) {
            case 0:
            case 1:
            case 2:
                return put();
            case 3:
                return put_batch();
            case 4:
            case 5:
                return lease();
            case 6:
            case 7:
                return end_lease();
            case 8:
            case 9:
                return change();
            case 10:
                return look();
            case 11:
                return list();
            case 12:
                return pass_time();
            case 13:
                for (unsigned steps = script_.below(5) + 1; steps > 0 && process_->step(); --steps) {
                }
                return hear();
            case 14:
                process_->engine().close_segment();
                return settle();
            default:
                if (script_.chance(3)) return die();
                return settle();
        }
    }

    void settle() {
        process_->settle();
        hear();
    }

    // What was not answered may have been done or not.
    void die() {
        for (const auto& [token, asked] : pending_lookups_) {
            if (asked.what == PendingLookup::What::put || asked.what == PendingLookup::What::batch) {
                for (const Known& put : asked.puts) bodies_untold_.insert(put.body);
            }
            if (asked.id != 0) known_.at(asked.id).unsure = true;
        }
        pending_lookups_.clear();
        process_.reset();
        Random random(script_.byte());
        disk_.crash(random);
        start();
        // Leases are gone with the process, and so is the number of an attempt that had not lasted.
        for (auto& [id, known] : known_) known.lease_until_ms = known.attempt = 0;
        leases_before_ = leases_.size();
    }

    void submit(Command command, PendingLookup asked) {
        const ReplyToken token = next_token_++;
        asked.at_ms = now_;
        pending_lookups_.emplace(token, std::move(asked));
        process_->engine().set_time(now_);
        process_->engine().submit(std::move(command), token);
        if (!script_.chance(4)) settle();
    }

    std::string draw_name(const char* prefix, unsigned count) { return prefix + std::to_string(script_.below(count)); }

    std::int64_t draw_span() { return script_.one_of<std::int64_t>({0, 1, 700, 5'000, 15'000, 40'000, 3'600'000}); }

    PutCommand draw_put() {
        PutCommand put;
        put.queue = draw_name("q", 2);
        put.when.delay_ms = draw_span();
        if (script_.chance(4)) put.expires = When{std::nullopt, put.when.delay_ms + 1 + draw_span()};
        if (script_.chance(3)) put.order_key = draw_name("o", 2);
        if (script_.chance(3)) {
            put.key = draw_name("k", 3);
            put.request_hash = 7;
        }
        put.priority = static_cast<std::int32_t>(script_.below(3)) - 1;
        put.body = std::to_string(++bodies_);
        put.body.append(script_.one_of({0, 10, 300}), 'x');
        return put;
    }

    Known known_of(const PutCommand& put) const {
        Known known;
        known.queue = put.queue;
        known.order_key = put.order_key;
        known.key = put.key;
        known.body = put.body;
        if (put.expires) known.expires_after_ms = put.expires->delay_ms - put.when.delay_ms;
        return known;
    }

    void put() {
        PutCommand put = draw_put();
        PendingLookup asked;
        asked.what = PendingLookup::What::put;
        asked.puts.push_back(known_of(put));
        submit(std::move(put), std::move(asked));
    }

    void put_batch() {
        PutBatchCommand batch;
        PendingLookup asked;
        asked.what = PendingLookup::What::batch;
        for (unsigned left = 1 + script_.below(4); left > 0; --left) {
            batch.puts.push_back(draw_put());
            asked.puts.push_back(known_of(batch.puts.back()));
        }
        submit(std::move(batch), std::move(asked));
    }

    std::optional<MessageId> draw_message() {
        if (known_.empty()) return std::nullopt;
        const std::size_t choices = std::min(known_.size(), kKnownMax);
        auto message = known_.rbegin();
        std::advance(message, script_.below(static_cast<unsigned>(choices)));
        return message->first;
    }

    // While a change is on its way, nobody knows which of two states counts.
    PendingLookup about(MessageId id, PendingLookup::What what) {
        PendingLookup asked;
        asked.what = what;
        asked.id = id;
        ++under_way_[id];
        return asked;
    }

    void change() {
        const std::optional<MessageId> id = draw_message();
        if (!id) return;
        switch (script_.below(3)) {
            case 0:
                return submit(CancelCommand{"default", *id}, about(*id, PendingLookup::What::change));
            case 1: {
                const When when{std::nullopt, draw_span()};
                return submit(RescheduleCommand{"default", *id, when}, about(*id, PendingLookup::What::change));
            }
            default:
                return submit(FireCommand{"default", *id}, about(*id, PendingLookup::What::change));
        }
    }

    void lease() {
        LeaseCommand command;
        command.queue = draw_name("q", 2);
        command.max = 1 + script_.below(4);
        command.lease_ms = kLeaseMs;
        command.wait_ms = script_.one_of<std::int64_t>({0, 0, 2'000});
        PendingLookup asked;
        asked.what = PendingLookup::What::lease;
        asked.limit = command.max;
        submit(std::move(command), std::move(asked));
    }

    void end_lease() {
        if (leases_.empty()) return;
        const std::size_t choices = std::min(leases_.size(), kKnownMax);
        const LeaseToken lease = leases_[leases_.size() - 1 - script_.below(static_cast<unsigned>(choices))];
        PendingLookup asked = about(lease.id, PendingLookup::What::end);
        switch (script_.below(5)) {
            case 0:
                return submit(FailCommand{lease, "no", draw_span()}, std::move(asked));
            case 1:
                return submit(ExtendCommand{lease, kLeaseMs}, std::move(asked));
            case 2:
                return submit(ReleaseCommand{lease, draw_span()}, std::move(asked));
            default:
                return submit(AckCommand{lease}, std::move(asked));
        }
    }

    void look() {
        const std::optional<MessageId> id = draw_message();
        if (id) submit(GetCommand{"default", *id}, {PendingLookup::What::look, {}, 0, 0, 0});
    }

    void list() {
        ListCommand command;
        command.queue = draw_name("q", 2);
        command.limit = 1 + script_.below(6);
        submit(command, {PendingLookup::What::list, {}, 0, command.limit, 0});
    }

    void pass_time() {
        now_ += draw_span();
        if (script_.chance(2)) settle();
    }

    // What clients were told since the last call.
    void hear() {
        // Puts first: a lease that waited was asked for before the message that it got.
        std::vector<std::pair<ReplyToken, Reply>> replies;
        for (auto& reply : std::exchange(process_->replies, {})) replies.push_back(std::move(reply));
        std::stable_partition(replies.begin(), replies.end(), [](const auto& reply) {
            return std::holds_alternative<PutAnswer>(reply.second) ||
                   std::holds_alternative<PutBatchAnswer>(reply.second);
        });
        for (const auto& [token, reply] : replies) {
            const auto found = pending_lookups_.find(token);
            require(found != pending_lookups_.end(), "a lookup result has no pending lookup");
            const PendingLookup asked = std::move(found->second);
            pending_lookups_.erase(found);
            if (asked.id != 0) --under_way_[asked.id];
            hear(asked, reply);
        }
    }

    void hear(const PendingLookup& asked, const Reply& reply) {
        if (const auto* error = std::get_if<Error>(&reply)) {
            require(error->code != ErrorCode::none && !error->message.empty(), "a refusal says nothing");
            return;
        }
        switch (asked.what) {
            case PendingLookup::What::put:
                return hear_put(asked.puts[0], std::get<PutAnswer>(reply));
            case PendingLookup::What::batch: {
                const auto& results = std::get<PutBatchAnswer>(reply).results;
                require(results.size() == asked.puts.size(), "a batch has not as many answers as puts");
                for (std::size_t i = 0; i < results.size(); ++i) {
                    if (const auto* one = std::get_if<PutAnswer>(&results[i])) hear_put(asked.puts[i], *one);
                }
                return;
            }
            case PendingLookup::What::change:
                return hear_change(known_.at(asked.id), std::get<ChangeAnswer>(reply));
            case PendingLookup::What::lease:
                return hear_lease(asked, std::get<LeaseAnswer>(reply));
            case PendingLookup::What::end:
                return hear_end(known_.at(asked.id), std::get<LeaseEndAnswer>(reply));
            case PendingLookup::What::look:
                return hear_look(asked, std::get<MessageAnswer>(reply));
            case PendingLookup::What::list:
                return hear_list(asked, std::get<ListAnswer>(reply));
        }
    }

    void hear_put(Known known, const PutAnswer& answer) {
        if (answer.repeated) {
            require(!known.key.empty(), "a put without a key is repeated");
            const auto first = known_.find(answer.id);
            if (first == known_.end()) return adopt(known, answer.id);
            require(first->second.key == known.key && first->second.queue == known.queue,
                    "a key names another message");
            return;
        }
        // It may have been met before its client was told, as the holder of a key.
        const auto met = known_.find(answer.id);
        require(met == known_.end() || (met->second.unsure && met->second.body.empty()), "two messages have one id");
        if (met != known_.end()) return void(met->second.body = known.body);
        for (const auto& [id, other] : known_) {
            const bool same = !known.key.empty() && other.key == known.key && other.queue == known.queue;
            require(!same || other.ended || other.unsure || other.expires_ms <= now_,
                    "a key was given to two messages");
        }
        known.due_ms = answer.due_ms;
        if (known.expires_after_ms) known.expires_ms = answer.due_ms + *known.expires_after_ms;
        known_.emplace(answer.id, std::move(known));
    }

    // Adopts a message whose put was never answered.
    void adopt(Known known, MessageId id) {
        known.unsure = true;
        known.order_key.clear();
        known.body.clear();
        known_.emplace(id, std::move(known));
    }

    // The last word counts only where no other command was in progress at the same time.
    bool is_last_word(const Known& known) const {
        for (const auto& [id, other] : known_) {
            if (&other == &known) return under_way(id) == 0;
        }
        return false;
    }
    int under_way(MessageId id) const {
        const auto found = under_way_.find(id);
        return found == under_way_.end() ? 0 : found->second;
    }

    void hear_change(Known& known, const ChangeAnswer& answer) {
        using Outcome = ChangeOutcome;
        known.told_ms = now_;
        const bool moved = answer.outcome == Outcome::rescheduled || answer.outcome == Outcome::fired;
        if (known.ended && !known.unsure) require(!moved, "what has ended was moved");
        if (!is_last_word(known)) return void(known.unsure = true);
        if (moved) known.due_ms = answer.due_ms;
        if (answer.outcome == Outcome::cancelled || answer.outcome == Outcome::delivered ||
            answer.outcome == Outcome::expired || answer.outcome == Outcome::dead) {
            known.ended = true;
        }
        const bool gone = answer.outcome == Outcome::gone;
        require(!gone || known.ended || known.unsure, "a message is gone that was accepted");
    }

    void hear_lease(const PendingLookup& asked, const LeaseAnswer& answer) {
        require(answer.messages.size() <= asked.limit, "more were handed out than asked for");
        for (const Delivered& message : answer.messages) hear_delivery(message);
    }

    void hear_delivery(const Delivered& message) {
        leases_.push_back(message.lease);
        auto found = known_.find(message.id);
        if (found == known_.end()) {
            require(told_of_no_put(message.body), "a message came that nobody put");
            Known unknown;
            unknown.unsure = true;
            unknown.body = message.body;
            found = known_.emplace(message.id, std::move(unknown)).first;
        }
        Known& known = found->second;
        known.seen = true;
        require(known.body.empty() || message.body == known.body, "a message came with another body");
        // It may be told of later than of what came after it: its content was still being read.
        if (known.unsure || under_way(message.id) > 0 || message.delivered_ms < known.told_ms) {
            known.unsure = true;
            return;
        }
        require(!known.ended, "a message came that had ended:", std::to_string(message.id));
        require(message.delivered_ms >= known.due_ms, "a message came before it was due:", std::to_string(message.id));
        require(message.delivered_ms < known.expires_ms, "a message came that had expired");
        require(message.delivered_ms >= known.lease_until_ms, "a message came to two at once");
        require(message.attempt > known.attempt || known.attempt == 0, "an attempt has the number of another");
        for (const auto& [id, other] : known_) {
            const bool same_line = !known.order_key.empty() && other.order_key == known.order_key &&
                                   other.queue == known.queue && id != message.id && !other.unsure && !other.ended;
            require(!same_line || other.lease_until_ms <= message.delivered_ms || under_way(id) > 0,
                    "two of one order key came at once");
        }
        known.attempt = message.attempt;
        known.lease_until_ms = message.lease_until_ms;
    }

    // Its put was never answered: it is still on its way, or its process died.
    bool told_of_no_put(const std::string& body) const {
        if (bodies_untold_.contains(body)) return true;
        return std::any_of(pending_lookups_.begin(), pending_lookups_.end(), [&](const auto& asked) {
            return std::any_of(asked.second.puts.begin(), asked.second.puts.end(),
                               [&](const Known& put) { return put.body == body; });
        });
    }

    void hear_end(Known& known, const LeaseEndAnswer& answer) {
        known.told_ms = now_;
        if (answer.outcome == LeaseOutcome::expired) return;
        if (!is_last_word(known)) return void(known.unsure = true);
        switch (answer.outcome) {
            case LeaseOutcome::done:
                known.ended = true;
                return;
            case LeaseOutcome::retrying:
            case LeaseOutcome::released:
                // A repeated answer tells of a lease before the one that is held now.
                known.unsure = true;
                return;
            case LeaseOutcome::extended:
                known.lease_until_ms = answer.lease_until_ms;
                return;
            default:
                known.unsure = true;
        }
    }

    void hear_look(const PendingLookup& asked, const MessageAnswer& answer) {
        const auto found = known_.find(answer.row.id);
        if (found == known_.end() || found->second.unsure || under_way(answer.row.id) > 0) return;
        const Known& known = found->second;
        // What was told since it was asked may be older or newer than this answer.
        if (known.told_ms >= asked.at_ms) return;
        const bool may_have_expired = known.expires_ms <= now_;
        require(is_ended(answer.row.state.state) == known.ended || may_have_expired || known.seen,
                "a message is said to have ended that has not, or the other way round");
        require(!answer.has_content || known.body.empty() || answer.body == known.body, "a body is another");
    }

    static void hear_list(const PendingLookup& asked, const ListAnswer& answer) {
        require(answer.listed.size() <= asked.limit, "a page is longer than asked for");
        DuePosition before{INT64_MIN, 0};
        for (const ListedMessage& listed : answer.listed) {
            const DuePosition at{listed.row.state.due_ms, listed.row.id};
            require(before < at, "a page is not in due order");
            require(!is_ended(listed.row.state.state), "a page shows what has ended");
            before = at;
        }
    }

    // Time goes on, somebody takes all that comes: in the end nothing is left.
    void drain() {
        now_ += kBeyondAllMs;
        for (int round = 0; round < kRoundsToDrain; ++round) {
            if (pending_lookups_.empty() && process_->engine().totals().live_count == 0) break;
            now_ += 20'000;
            process_->settle();
            hear();
            for (const char* queue : {"q0", "q1"}) take_all(queue);
            process_->engine().check();
        }
        require(pending_lookups_.empty(), "a command was never answered");
        require(process_->engine().totals().live_count == 0, "messages are left that never come");
        for (const auto& [id, known] : known_) {
            const bool over = known.ended || known.unsure || known.seen || known.expires_ms <= now_;
            require(over, "a message was lost:", std::to_string(id));
        }
    }

    void take_all(const char* queue) {
        const std::size_t before = leases_.size();
        LeaseCommand command;
        command.queue = queue;
        command.max = 100;
        command.lease_ms = kLeaseMs;
        pending_lookups_.emplace(next_token_, PendingLookup{PendingLookup::What::lease, {}, 0, command.max, 0});
        process_->engine().submit(std::move(command), next_token_++);
        process_->settle();
        hear();
        for (std::size_t i = before; i < leases_.size(); ++i) {
            pending_lookups_.emplace(next_token_, about(leases_[i].id, PendingLookup::What::end));
            process_->engine().submit(AckCommand{leases_[i]}, next_token_++);
        }
        process_->settle();
        hear();
    }

    InputScript script_;
    DueMs now_ = kStart;
    SimDisk disk_;
    MemoryRowStorage rows_;
    QuietLog log_;
    std::unique_ptr<FuzzedShard> process_;
    std::map<ReplyToken, PendingLookup> pending_lookups_;
    ReplyToken next_token_ = 1;
    std::map<MessageId, Known> known_;
    std::map<MessageId, int> under_way_;
    std::set<std::string> bodies_untold_;
    std::vector<LeaseToken> leases_;
    std::size_t leases_before_ = 0;
    std::uint64_t bodies_ = 0;
};

}  // namespace

void fuzz(std::string_view input) {
    Trial(input).run();
}

}  // namespace duewheel::engine_fuzz
