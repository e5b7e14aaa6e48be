#include "engine/trial/trial_engine.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "message/records/subject.h"

namespace duewheel {

TrialEngine::TrialEngine(EngineOptions options, EngineStart start, const std::function<void(TrialEngine&)>& prepare)
    : engine_(options, start, recent_), block_bytes_(start.block_bytes) {
    prepare(*this);
    turn(0);
    EXPECT_TRUE(engine_.is_serving());
}

TrialEngine::TrialEngine(const EngineOptions& options, const TrialEngine& earlier, const FindZone& zones,
                         const std::string& zone_data)
    : TrialEngine(options, earlier, 0, zones, zone_data) {}

TrialEngine::TrialEngine(const EngineOptions& options, const TrialEngine& earlier, std::int64_t later_ms,
                         const FindZone& zones, const std::string& zone_data)
    : engine_(options, start_after(earlier, zones, zone_data), replay(earlier, recent_)),
      block_bytes_(earlier.block_bytes_),
      now_(earlier.now_ + later_ms),
      log_(earlier.log_) {
    turn(0);
    EXPECT_TRUE(engine_.is_serving());
}

void TrialEngine::turn(std::int64_t step_ms) {
    now_ += step_ms;
    engine_.advance_to(now_);
    settle();
}

ReplyToken TrialEngine::submit(Command command, SharedLimits limits) {
    const ReplyToken token = next_token_++;
    engine_.submit(std::move(command), token, std::move(limits));
    return token;
}

std::optional<Reply> TrialEngine::take_reply(ReplyToken token) {
    const auto found = replies.find(token);
    if (found == replies.end()) {
        ADD_FAILURE() << "no reply yet";
        return std::nullopt;
    }
    Reply reply = std::move(found->second);
    replies.erase(found);
    return reply;
}

MessageId TrialEngine::put(std::int64_t delay_ms, std::string body, std::string queue, int priority) {
    PutCommand command;
    command.queue = std::move(queue);
    command.when.delay_ms = delay_ms;
    command.body = std::move(body);
    command.priority = priority;
    return ask<PutAnswer>(command).id;
}

std::vector<Delivered> TrialEngine::lease(std::uint32_t max, std::int64_t lease_ms) {
    return ask<LeaseAnswer>(LeaseCommand{"default", "q", max, lease_ms, 0}).messages;
}

void TrialEngine::settle() {
    for (;;) {
        Effects effects = engine_.take_effects();
        if (effects.commit && effects.commit->closes_segment) {
            largest_closing_commit =
                std::max(largest_closing_commit, commit_size_in_segment(effects.commit->records.size()));
        }
        if (effects.commit) held_ = std::move(effects.commit);
        for (ReplyEffect& effect : effects.replies) replies[effect.token] = std::move(effect.reply);
        if (hold_lookups) {
            held_lookups_.insert(held_lookups_.end(), effects.lookups.begin(), effects.lookups.end());
            effects.lookups.clear();
        }
        for (const Lookup& lookup : effects.lookups) engine_.answer(read(lookup));
        if (held_ && !hold_commits) {
            append(*held_);
            engine_.committed(*std::exchange(held_, std::nullopt));
            continue;
        }
        engine_.check();
        if (effects.lookups.empty() && !effects.commit) break;
        engine_.advance_to(now_);
    }
}

void TrialEngine::answer_lookups(Generation age) {
    for (const Lookup& lookup : std::exchange(held_lookups_, {})) {
        Answer answer = read(lookup);
        answer.generation -= age;
        engine_.answer(std::move(answer));
    }
}

void TrialEngine::move_to_index() {
    while (engine_.counters().unsealed_segments == 0) put(2'000'000, std::string(500, 'x'), "filler");
    const Sequence sealed_to = index_is_ahead ? log_.rbegin()->first : segment_ends_.back();
    for (const auto& [sequence, framed] : log_) {
        const FramedRecord frame = *read_frame(framed);
        if (!is_of_message(frame.kind) || sequence > sealed_to) continue;
        const MessageRecord record = *decode_message(frame.kind, frame.body);
        MessageRow& row = index[record.id];
        row.id = record.id;
        if (is_whole(record.kind)) {
            row.log_position = sequence;
            row.record_bytes = static_cast<std::uint32_t>(framed.size());
        }
        row.state = record.state;
        row.ended_ms = record.kind == RecordKind::end ? record.time_ms : record.ended_ms;
        row.reason = record.reason;
    }
    sealed_ = static_cast<SegmentNumber>(segment_ends_.size());
    engine_.table_taken(sealed_);
    turn();
}

std::vector<Delivered> TrialEngine::lease_after(std::int64_t step_ms) {
    turn(step_ms - 1);
    EXPECT_TRUE(lease().empty()) << "it comes early";
    turn(1);
    return lease();
}

void TrialEngine::for_each_record(const std::function<void(const Record&, const StoredAt&)>& visit) const {
    for (const auto& [sequence, framed] : log_) {
        const FramedRecord frame = *read_frame(framed);
        visit(*decode_record(frame.kind, frame.body), {sequence, static_cast<std::uint32_t>(framed.size())});
    }
}

std::vector<Record> TrialEngine::log() const {
    std::vector<Record> records;
    for_each_record([&](const Record& record, const StoredAt&) { records.push_back(record); });
    return records;
}

EngineStart TrialEngine::start_after(const TrialEngine& earlier, const FindZone& zones, const std::string& zone_data) {
    EngineStart start;
    start.zone_data = zone_data;
    start.schedules = earlier.schedules(zones);
    start.watchdogs = earlier.watchdogs();
    start.tokens = earlier.tokens();
    start.groups = earlier.groups();
    start.inputs = earlier.inputs();
    start.totals = earlier.engine_.totals();
    std::map<std::string, QueueCounts> counts;
    for (const MessageRecord& record : earlier.records<MessageRecord>()) {
        if (!changes_state(record.kind)) continue;
        if (record.previous.version != 0) counts[record.state.queue].leave(record.previous.state);
        counts[record.state.queue].enter(record.state.state);
    }
    for (const auto& [queue, of] : counts) start.queue_states.push_back({{"default", queue}, of, {}, 0, 0});
    return start;
}

TrialEngine::StoredAt TrialEngine::whole_rule(const RuleRecord& record, const StoredAt& at) {
    return record.is_whole() ? at : StoredAt{record.log_position, record.record_bytes};
}

namespace {

bool is_about(const Record& record, Subject subject) {
    return std::visit(
        [&](const auto& of) {
            if constexpr (requires { of.subject; }) return of.subject == subject;
            return false;
        },
        record);
}

}  // namespace

std::vector<ScheduleStart> TrialEngine::schedules(const FindZone& zones) const {
    std::map<std::string, ScheduleStart> by_name;
    for_each_record([&](const Record& any, const StoredAt& at) {
        if (!is_about(any, Subject::schedule)) return;
        const auto& record = std::get<RuleRecord>(any);
        ScheduleStart& start = by_name[std::string(record.name)];
        start.name_space = record.name_space;
        start.name = record.name;
        start.state = *decode_schedule(record.value);
        std::tie(start.log_position, start.record_bytes) = whole_rule(record, at);
    });
    std::vector<ScheduleStart> all;
    for (auto& [name, start] : by_name) {
        if (start.state.revision == 0) continue;
        if (Result<ScheduleTimes> times = ScheduleTimes::make(start.state.rule.times, zones)) start.times = *times;
        all.push_back(std::move(start));
    }
    return all;
}

std::vector<WatchdogStart> TrialEngine::watchdogs() const {
    std::map<std::string, WatchdogStart> by_name;
    for_each_record([&](const Record& any, const StoredAt& at) {
        if (!is_about(any, Subject::watchdog)) return;
        const auto& record = std::get<RuleRecord>(any);
        const auto [log_position, record_bytes] = whole_rule(record, at);
        by_name[std::string(record.name)] = {record.name_space, std::string(record.name),
                                             *decode_watchdog(record.value), log_position, record_bytes};
    });
    std::vector<WatchdogStart> all;
    for (auto& [name, start] : by_name) {
        if (start.state.revision != 0) all.push_back(std::move(start));
    }
    return all;
}

std::vector<StoredToken> TrialEngine::tokens() const {
    std::map<std::string, StoredToken> by_id;
    for_each_record([&](const Record& any, const StoredAt& at) {
        if (!is_about(any, Subject::token)) return;
        const auto& record = std::get<ConfRecord>(any);
        by_id[std::string(record.name)] = {std::string(record.name), std::string(record.value), at.first, at.second};
    });
    std::vector<StoredToken> all;
    for (auto& [id, stored] : by_id) {
        if (!stored.value.empty()) all.push_back(std::move(stored));
    }
    return all;
}

std::vector<GroupConfStart> TrialEngine::groups() const {
    std::map<std::string, GroupConfStart> by_name;
    for_each_record([&](const Record& any, const StoredAt& at) {
        if (!is_about(any, Subject::group)) return;
        const auto& record = std::get<ConfRecord>(any);
        const std::string name(record.name);
        by_name.erase(name);
        if (record.value.empty()) return;
        by_name[name] = {record.name_space, name, *decode_group_settings(record.value), at.first, at.second};
    });
    std::vector<GroupConfStart> all;
    for (const auto& [name, start] : by_name) all.push_back(start);
    return all;
}

std::vector<InputPosition> TrialEngine::inputs() const {
    std::map<std::string, InputPosition> by_name;
    for_each_record([&](const Record& any, const StoredAt& at) {
        if (!is_about(any, Subject::input)) return;
        const auto& record = std::get<ConfRecord>(any);
        by_name[std::string(record.name)] = {std::string(record.name), *decode_input_position(record.value), at.first,
                                             at.second};
    });
    std::vector<InputPosition> all;
    for (auto& [name, position] : by_name) all.push_back(std::move(position));
    return all;
}

RecentTier& TrialEngine::replay(const TrialEngine& earlier, RecentTier& into) {
    earlier.for_each_record(
        [&](const Record& record, const StoredAt& at) { into.apply(record, at.first, 1, at.second); });
    return into;
}

void TrialEngine::append(const Commit& commit) {
    std::string_view rest = commit.records;
    while (!rest.empty()) {
        const FramedRecord frame = *read_frame(rest);
        log_[frame.sequence] = rest.substr(0, frame.frame_bytes);
        rest.remove_prefix(frame.frame_bytes);
    }
    EXPECT_EQ(commit.totals.sequence, log_.empty() ? 0 : log_.rbegin()->first);
    segment_fill_ += commit_size_in_segment(commit.records.size(), block_bytes_);
    largest_segment = std::max(largest_segment, segment_fill_);
    if (!commit.closes_segment) return;
    segment_fill_ = kSegmentHeaderBytes;
    EXPECT_GT(commit.totals.sequence, segment_ends_.empty() ? 0 : segment_ends_.back()) << "a segment without a record";
    segment_ends_.push_back(commit.totals.sequence);
}

Answer TrialEngine::read(const Lookup& lookup) {
    Answer answer{lookup.ticket, engine_.generation().load(), {}};
    if (const auto* log_positions = std::get_if<ReadRecords>(&lookup.what)) {
        std::vector<RecordBytes> records;
        for (const Sequence log_position : log_positions->log_positions) {
            const FramedRecord frame = *read_frame(log_.at(log_position));
            records.push_back({log_position, std::string(frame.body), static_cast<std::uint8_t>(frame.kind)});
        }
        answer.what = std::move(records);
    } else if (std::holds_alternative<FindMessage>(lookup.what)) {
        const auto found = index.find(std::get<FindMessage>(lookup.what).id);
        answer.what = found == index.end() ? std::nullopt : std::optional(found->second);
    } else if (const auto* dead = std::get_if<ScanDead>(&lookup.what)) {
        answer.what = dead_rows(*dead);
    } else if (const auto* due = std::get_if<ScanDue>(&lookup.what)) {
        answer.what = fall_due(*due);
    } else if (const auto* backlog = std::get_if<ScanQueue>(&lookup.what)) {
        answer.what = walk(*backlog);
    } else if (const auto* order = std::get_if<ScanOrder>(&lookup.what)) {
        answer.what = scan(*order);
    } else if (const auto* group = std::get_if<ScanGroup>(&lookup.what)) {
        answer.what = scan(*group);
    } else if (const auto* groups = std::get_if<ScanGroups>(&lookup.what)) {
        answer.what = scan(*groups);
    } else if (const auto* wanted = std::get_if<FindKeys>(&lookup.what)) {
        std::vector<std::optional<KeyFacts>> facts;
        for (const FindKeys::Key& key : wanted->keys) facts.push_back(find_key(key));
        answer.what = std::move(facts);
    } else if (const auto* listing = std::get_if<ListQueue>(&lookup.what)) {
        answer.what = list(*listing);
    } else if (const auto* due_rows = std::get_if<ListDue>(&lookup.what)) {
        answer.what = list_due(*due_rows);
    } else if (const auto* counts = std::get_if<CountDue>(&lookup.what)) {
        answer.what = count_due(*counts);
    } else if (std::holds_alternative<ListHistory>(lookup.what)) {
        answer.what = HistoryRows{};
    } else {
        answer.what = Stretch{};
    }
    return answer;
}

// The rows of the index in [from, until), by `time_of`, which has no result for rows that do not belong.
template <class TimeOf>
TrialEngine::PlacedRows TrialEngine::placed(DuePosition from, DueMs until_ms, TimeOf&& time_of) const {
    PlacedRows rows;
    for (const auto& [id, row] : index) {
        const std::optional<DueMs> time = time_of(row);
        if (time && DuePosition{*time, id} >= from && *time < until_ms) rows[{*time, id}] = &row;
    }
    return rows;
}

Stretch TrialEngine::first_of(const PlacedRows& rows, std::uint32_t limit) {
    Stretch stretch;
    for (const auto& [at, row] : rows) {
        if (stretch.rows.size() == limit) break;
        stretch.rows.push_back(*row);
        stretch.next = {at.due_ms, at.id + 1};
    }
    stretch.complete = stretch.rows.size() < limit;
    return stretch;
}

Stretch TrialEngine::dead_rows(const ScanDead& scan) const {
    const auto time_of = [&](const MessageRow& row) {
        const bool here = row.state.queue == scan.queue && row.state.name_space == scan.name_space;
        return here && row.state.state == State::dead ? std::optional(row.ended_ms) : std::nullopt;
    };
    return first_of(placed(scan.from, scan.until_ms, time_of), scan.limit);
}

Stretch TrialEngine::fall_due(const ScanDue& scan) const {
    const auto time_of = [](const MessageRow& row) {
        return is_timed(row.state.state) ? std::optional(row.state.due_ms) : std::nullopt;
    };
    return first_of(placed(scan.from, scan.until_ms, time_of), scan.limit);
}

Stretch TrialEngine::walk(const ScanQueue& scan) const {
    const auto time_of = [&](const MessageRow& row) {
        const bool here = row.state.queue == scan.queue && row.state.name_space == scan.name_space;
        return here && !is_ended(row.state.state) ? std::optional(row.state.due_ms) : std::nullopt;
    };
    return first_of(placed(scan.from, scan.until_ms, time_of), scan.limit);
}

Stretch TrialEngine::scan(const ScanOrder& order) const {
    const auto time_of = [&](const MessageRow& row) {
        const MessageState& state = row.state;
        const bool belongs = state.order_key == order.order_key && state.queue == order.queue &&
                             state.name_space == order.name_space && !is_ended(state.state);
        return belongs ? std::optional(state.nominal_due_ms) : std::nullopt;
    };
    return first_of(placed(order.from, std::numeric_limits<DueMs>::max(), time_of), order.limit);
}

Stretch TrialEngine::scan(const ScanGroup& group) const {
    const auto time_of = [&](const MessageRow& row) {
        const MessageState& state = row.state;
        const bool belongs = state.group == group.group && state.queue == group.queue &&
                             state.name_space == group.name_space && !is_ended(state.state);
        return belongs ? std::optional(state.due_ms) : std::nullopt;
    };
    return first_of(placed(group.from, group.until_ms, time_of), group.limit);
}

GroupStarts TrialEngine::scan(const ScanGroups& groups) const {
    std::map<std::string, DuePosition> firsts;
    for (const auto& [id, row] : index) {
        const MessageState& state = row.state;
        if (state.group <= groups.after || state.queue != groups.queue || is_ended(state.state)) continue;
        const DuePosition at{state.due_ms, id};
        const auto [known, fresh] = firsts.try_emplace(state.group, at);
        if (!fresh) known->second = std::min(known->second, at);
    }
    GroupStarts starts;
    for (const auto& [group, first] : firsts) {
        starts.complete = starts.groups.size() < groups.limit;
        if (!starts.complete) break;
        starts.groups.push_back({group, first});
    }
    return starts;
}

std::optional<KeyFacts> TrialEngine::find_key(const FindKeys::Key& key) const {
    std::optional<KeyFacts> facts;
    for (const auto& [id, row] : index) {
        const MessageState& state = row.state;
        if (state.key != key.key || state.queue != key.queue || state.name_space != key.name_space) continue;
        facts =
            KeyFacts{{id, state.request_hash, state.nominal_due_ms, row.ended_ms}, state.state, state.is_recurring()};
        if (!is_ended(state.state)) facts->row.set(row);
    }
    return facts;
}

ListedRows TrialEngine::list(const ListQueue& list) const {
    const auto time_of = [&](const MessageRow& row) {
        const MessageState& state = row.state;
        const bool here = state.queue == list.queue && state.name_space == list.name_space;
        return here && list.states.contains(state.state) ? std::optional(state.due_ms) : std::nullopt;
    };
    const PlacedRows rows = placed(list.from, list.until_ms, time_of);
    ListedRows listed;
    for (const auto& [at, row] : rows) {
        listed.rows.push_back(*row);
        if (listed.rows.size() < list.limit) continue;
        listed.next = DuePosition{at.due_ms, at.id + 1};
        break;
    }
    return listed;
}

DueRows TrialEngine::list_due(const ListDue& list) const {
    const auto time_of = [&](const MessageRow& row) {
        const bool belongs = (list.queue.empty() || row.state.queue == list.queue) && !is_ended(row.state.state);
        return belongs ? std::optional(row.state.due_ms) : std::nullopt;
    };
    const PlacedRows rows = placed(list.from, list.until_ms, time_of);
    DueRows due;
    std::uint32_t walked = 0;
    for (const auto& [at, row] : rows) {
        const std::optional<FallsDue> what = falls_due(row->state.state, row->state.is_recurring());
        if (what && row->state.name_space == list.name_space) due.rows.push_back({at.due_ms, at.id, *what});
        if (++walked < list.walk_max) continue;
        due.next = DuePosition{at.due_ms, at.id + 1};
        break;
    }
    return due;
}

// From the log: `index` may end between two segments.
DueMinutes TrialEngine::count_due(const CountDue& count) const {
    DueMinutes due;
    due.segment = index_is_ahead ? segment_ends_.size() : sealed_;
    std::map<MessageId, MessageState> states;
    for_each_record([&](const Record& record, const StoredAt& at) {
        const auto* of = std::get_if<MessageRecord>(&record);
        if (of != nullptr && due.segment != 0 && at.first <= segment_ends_[due.segment - 1]) states[of->id] = of->state;
    });
    std::map<DueMs, DueCounts> minutes;
    for (const auto& [id, state] : states) {
        const DueMs start_ms = DueMinute::at(0, state.due_ms).start_ms();
        const std::optional<FallsDue> what = falls_due(state.state, state.is_recurring());
        const bool here = state.name_space == count.name_space && (count.queue.empty() || state.queue == count.queue);
        if (what && here && start_ms >= count.from_ms && start_ms < count.until_ms) ++minutes[start_ms].of(*what);
    }
    for (const auto& [start_ms, counts] : minutes) {
        due.rows.push_back({start_ms, counts});
        if (due.rows.size() < count.limit) continue;
        due.next = start_ms + DueMinute::kMs;
        break;
    }
    return due;
}

}  // namespace duewheel
