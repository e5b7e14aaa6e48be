// For the engine's tests: the owner of one engine over a log that is a vector and an index that is a map.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/core/engine.h"
#include "message/records/trial_records.h"

namespace duewheel {

inline constexpr DueMs kStart = 1'000'000;

// Owner of one engine: executes every effect at once, unless told to hold commits back.
class TrialEngine {
  public:
    // `prepare` may fill the index before the engine looks at anything.
    explicit TrialEngine(
        EngineOptions options = {}, EngineStart start = {},
        const std::function<void(TrialEngine&)>& prepare = [](TrialEngine&) {});
    // The process died, and what was durable is replayed, so much later. `zones` and `zone_data`: what schedules are
    // calculated with now.
    TrialEngine(const EngineOptions& options, const TrialEngine& earlier, std::int64_t later_ms,
                const FindZone& zones = &Zone::load, const std::string& zone_data = "unknown");
    TrialEngine(const EngineOptions& options, const TrialEngine& earlier, const FindZone& zones = &Zone::load,
                const std::string& zone_data = "unknown");

    void turn(std::int64_t step_ms = 0);
    ReplyToken submit(Command command, SharedLimits limits = nullptr);
    // Submits, lets the engine work until it has nothing to do at this instant, and returns the reply.
    template <class Answer>
    Answer ask(Command command, SharedLimits limits = nullptr) {
        const ReplyToken token = submit(std::move(command), std::move(limits));
        turn();
        return take<Answer>(token);
    }
    template <class Answer>
    Answer take(ReplyToken token) {
        std::optional<Reply> reply = take_reply(token);
        if (!reply) return {};
        if (auto* answer = std::get_if<Answer>(&*reply)) return std::move(*answer);
        const auto* error = std::get_if<Error>(&*reply);
        ADD_FAILURE() << (error != nullptr ? std::string(name_of(error->code)) + ": " + error->message
                                           : "another answer: " + std::to_string(reply->index()));
        return {};
    }
    MessageId put(std::int64_t delay_ms, std::string body = "body", std::string queue = "q", int priority = 0);
    std::vector<Delivered> lease(std::uint32_t max = 10, std::int64_t lease_ms = 30'000);
    // What is delivered `step_ms` from now, and nothing a millisecond before.
    std::vector<Delivered> lease_after(std::int64_t step_ms);
    // Carries out effects until none is left; a commit waits while `hold_commits` is set.
    void settle();

    // Answers what was held back, as of now or as of an older table.
    void answer_lookups(Generation age = 0);
    // Fills the open segment and seals it: what is neither due soon nor leased leaves the recent tier, and the
    // index has it.
    void move_to_index();

    Engine& engine() { return engine_; }
    std::vector<Record> log() const;
    template <class Of>
    std::vector<Of> records() const {
        return records_of<Of>(log());
    }
    // The newest one, of a message.
    MessageRecord last() const { return as_message(log().back()); }

    std::string record_body(Sequence log_position) const {
        return std::string(read_frame(log_.at(log_position))->body);
    }

    std::map<ReplyToken, Reply> replies;
    bool hold_commits = false;
    bool hold_lookups = false;
    // The index contains more than was reported, as with a fast sealer.
    bool index_is_ahead = false;
    std::map<MessageId, MessageRow> index;
    std::uint64_t largest_closing_commit = 0;
    std::uint64_t largest_segment = 0;

  private:
    static EngineStart start_after(const TrialEngine& earlier, const FindZone& zones, const std::string& zone_data);
    // The log position of a record, and its size with its frame.
    using StoredAt = std::pair<Sequence, std::uint32_t>;
    void for_each_record(const std::function<void(const Record&, const StoredAt&)>& visit) const;
    // The record with the content of the rule.
    static StoredAt whole_rule(const RuleRecord& record, const StoredAt& at);
    std::vector<ScheduleStart> schedules(const FindZone& zones) const;
    std::vector<WatchdogStart> watchdogs() const;
    std::vector<StoredToken> tokens() const;
    std::vector<GroupConfStart> groups() const;
    std::vector<InputPosition> inputs() const;
    static RecentTier& replay(const TrialEngine& earlier, RecentTier& into);
    void append(const Commit& commit);
    Answer read(const Lookup& lookup);

    std::optional<Reply> take_reply(ReplyToken token);

    using PlacedRows = std::map<DuePosition, const MessageRow*>;
    template <class TimeOf>
    PlacedRows placed(DuePosition from, DueMs until_ms, TimeOf&& time_of) const;
    static Stretch first_of(const PlacedRows& rows, std::uint32_t limit);
    Stretch dead_rows(const ScanDead& scan) const;
    Stretch fall_due(const ScanDue& scan) const;
    Stretch walk(const ScanQueue& scan) const;
    Stretch scan(const ScanOrder& order) const;
    Stretch scan(const ScanGroup& group) const;
    GroupStarts scan(const ScanGroups& groups) const;
    std::optional<KeyFacts> find_key(const FindKeys::Key& key) const;
    ListedRows list(const ListQueue& list) const;
    DueRows list_due(const ListDue& list) const;
    DueMinutes count_due(const CountDue& count) const;

    RecentTier recent_;
    Engine engine_;
    const std::uint32_t block_bytes_;
    std::uint64_t segment_fill_ = kSegmentHeaderBytes;
    DueMs now_ = kStart;
    SegmentNumber sealed_ = 0;
    ReplyToken next_token_ = 1;
    std::map<Sequence, std::string> log_;
    std::vector<Sequence> segment_ends_;
    std::optional<Commit> held_;
    std::vector<Lookup> held_lookups_;
};

inline State state_of(TrialEngine& shard, MessageId id) {
    return shard.ask<MessageAnswer>(GetCommand{"default", id}).row.state.state;
}

}  // namespace duewheel
