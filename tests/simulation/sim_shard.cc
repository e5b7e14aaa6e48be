#include "simulation/sim_shard.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/error_codes.h"
#include "message/records/subject.h"
#include "simulation/schedule_model.h"

namespace duewheel {

ShardOptions shard_options(const SimOptions& options, std::uint32_t zone_version) {
    ShardOptions shard;
    shard.engine = options.engine;
    shard.spare_segments = options.spare_segments;
    shard.reserve_segments = options.reserve_segments;
    shard.free_floor_bytes = options.free_floor_bytes;
    shard.identity.instance.fill(std::byte{0x5a});
    shard.identity.token_key.fill(std::byte{0xa5});
    shard.identity.shard = static_cast<std::uint16_t>(options.shard);
    shard.identity.shards = static_cast<std::uint16_t>(options.shards);
    shard.find_zone = [zone_version](std::string_view name) { return simulated_zone(zone_version, name); };
    shard.zone_data = simulated_zone_data(zone_version);
    return shard;
}

Result<std::unique_ptr<SimShard>> SimShard::open(const SimOptions& options, std::uint32_t zone_version, SimDisk& disk,
                                                 MemoryRowStorage& rows, Retention& retention, LogSink& log,
                                                 RareStates& rare, EventHash& hash, const ReplicateLog& replicate,
                                                 const std::string& directory) {
    std::unique_ptr<SimShard> shard(new SimShard(options, rare, hash));
    ShardOptions opened_as = shard_options(options, zone_version);
    opened_as.replicate = replicate;
    Result<std::unique_ptr<ShardParts>> parts = ShardParts::open(disk, directory, rows, retention, opened_as, log);
    if (!parts) return std::move(parts).error();
    shard->parts_ = *std::move(parts);
    shard->cleaning_.emplace(*shard->parts_, kCleaning);
    shard->see_space();
    return shard;
}

void SimShard::turn(DueMs now) {
    if (parts_->report_free_space()) maintenance_wanted_ = true;
    see_space();
    engine().advance_to(now);
    carry_out(engine().take_effects());
}

void SimShard::carry_out(Effects effects) {
    if (effects.fatal_error) fatal_error_ = effects.fatal_error;
    if (effects.commit) {
        count_commit(*effects.commit);
        commit_ = std::move(effects.commit);
    }
    for (Lookup& lookup : effects.lookups) {
        hash_.add(lookup.what.index());
        if (std::holds_alternative<FindMessage>(lookup.what)) rare_.met(Rare::command_asked_the_index);
        if (std::holds_alternative<ReadRecords>(lookup.what)) rare_.met(Rare::content_read_from_the_log);
        if (const auto* scan = std::get_if<ScanQueue>(&lookup.what)) {
            rare_.met(scan->until_ms == std::numeric_limits<DueMs>::max() ? Rare::purge_read_the_index
                                                                          : Rare::backlog_read);
        }
        if (std::holds_alternative<ScanOrder>(lookup.what)) rare_.met(Rare::order_key_asked_the_index);
        lookups_.push_back(std::move(lookup));
    }
    if (!effects.closed_segments.empty()) may_seal_ = maintenance_wanted_ = true;
    bool cleaning_moved = false;
    for (ReplyEffect& effect : effects.replies) {
        if (!kCleaning.owns(effect.token)) {
            replies_.push_back(std::move(effect));
            continue;
        }
        if (const auto* answer = std::get_if<RelocateAnswer>(&effect.reply)) {
            rare_.met(answer->sequence != 0 ? Rare::relocated : Rare::relocate_overtaken);
        }
        if (Status taken = cleaning_->reply(effect.reply); !taken) fatal_error_ = taken.error();
        cleaning_moved = true;
    }
    if (cleaning_moved) next_clean();
}

void SimShard::tell(const char* what, std::uint64_t first, std::uint64_t second) const {
    if (!options_.trace) return;
    std::fprintf(stderr, "      %s %lu %lu\n", what, static_cast<unsigned long>(first),
                 static_cast<unsigned long>(second));
}

void SimShard::tell(const Commit& commit) const {
    if (!options_.trace) return;
    std::fprintf(stderr, "      commit %lu%s\n", static_cast<unsigned long>(commit.totals.commit),
                 commit.closes_segment ? ", closes its segment" : "");
    std::string_view rest = commit.records;
    while (!rest.empty()) {
        const FramedRecord frame = *read_frame(rest);
        rest.remove_prefix(frame.frame_bytes);
        if (!is_of_message(frame.kind)) {
            std::fprintf(stderr, "        record %lu: kind %u", static_cast<unsigned long>(frame.sequence),
                         static_cast<unsigned>(frame.kind));
            if (frame.kind == RecordKind::rule) {
                const RuleRecord rule = *decode_rule(frame.body);
                std::fprintf(stderr, " of %s, next %lld, runs %lu, skipped %lu to %lu", std::string(rule.name).c_str(),
                             static_cast<long long>(rule.next_ms), static_cast<unsigned long>(rule.count),
                             static_cast<unsigned long>(rule.skipped_from),
                             static_cast<unsigned long>(rule.skipped_to));
            }
            std::fprintf(stderr, "\n");
            continue;
        }
        const MessageRecord record = *decode_message(frame.kind, frame.body);
        std::fprintf(stderr, "        record %lu: kind %u of %lu, %s, place %lu, due %lld, attempts %u\n",
                     static_cast<unsigned long>(frame.sequence), static_cast<unsigned>(frame.kind),
                     static_cast<unsigned long>(record.id), std::string(state_name(record.state.state)).c_str(),
                     static_cast<unsigned long>(record.log_position), static_cast<long long>(record.state.due_ms),
                     record.state.attempts);
    }
}

void SimShard::count_commit(const Commit& commit) {
    tell(commit);
    hash_.add(commit.totals.commit);
    hash_.add(commit.totals.digest);
    hash_.add(commit.count);
    hash_.add(commit.records);
    if (commit.closes_segment) {
        rare_.met(Rare::closing_commit);
        if (commit.count > 0) rare_.met(Rare::closing_commit_with_cursors);
    } else if (commit.count == 0) {
        rare_.met(Rare::confirming_commit);
    }
    if (commit.records.size() > options_.engine.segment_bytes) rare_.met(Rare::commit_larger_than_a_segment);
    if (commit.count >= 10) rare_.met(Rare::batch_of_ten_or_more);
    if (!options_.has(Op::loop) && !options_.has(Op::schedule)) return;
    occurrences_ = runs_ = 0;
    for (std::string_view rest = commit.records; !rest.empty();) {
        const FramedRecord frame = *read_frame(rest);
        rest.remove_prefix(frame.frame_bytes);
        if (frame.kind != RecordKind::spawn) continue;
        const bool is_run =
            options_.has(Op::schedule) && !decode_message(frame.kind, frame.body)->content.schedule.empty();
        ++(is_run ? runs_ : occurrences_);
    }
    if (occurrences_ > 1) rare_.met(Rare::occurrences_in_one_commit);
    if (runs_ > 1) rare_.met(Rare::runs_in_one_commit);
}

std::vector<SimShard::Choice> SimShard::choices() const {
    std::vector<Choice> choices;
    if (commit_) choices.push_back({commit_durable_ ? Step::tell_commit : Step::commit, options_.commit_weight});
    if (!lookups_.empty()) choices.push_back({Step::read, options_.read_weight});
    if (!answers_.empty()) choices.push_back({Step::tell_answer, options_.read_weight});
    if (may_seal_) choices.push_back({Step::seal, options_.seal_weight});
    if (!sealed_.empty()) choices.push_back({Step::tell_table, options_.seal_weight});
    if (maintenance_wanted_) choices.push_back({Step::maintain_spare_segments, options_.seal_weight});
    if (space_seen_) choices.push_back({Step::take_space, options_.seal_weight});
    if (clean_ != LogCleaning::Step::none && !cleaning_rests_) choices.push_back({Step::clean, options_.clean_weight});
    if (found_) choices.push_back({Step::tell_clean, options_.clean_weight});
    return choices;
}

bool SimShard::is_quiet() const {
    return choices().empty() && parts_->engine().is_idle() && parts_->engine().is_serving();
}

bool SimShard::run_step(Random& random) {
    const std::vector<Choice> open = choices();
    std::uint64_t sum = 0;
    for (const Choice& choice : open) sum += choice.weight;
    if (sum == 0) return false;
    std::uint64_t drawn = random.below(sum);
    for (const Choice& choice : open) {
        if (drawn < choice.weight) {
            run(choice.step, random);
            return true;
        }
        drawn -= choice.weight;
    }
    return false;
}

void SimShard::run(Step step, Random& random) {
    step_ = step;
    hash_.add(static_cast<std::uint64_t>(step));
    switch (step) {
        case Step::none:
            break;
        case Step::commit:
            run_commit();
            break;
        case Step::tell_commit:
            commit_durable_ = false;
            engine().committed(*std::exchange(commit_, std::nullopt));
            break;
        case Step::read:
            run_read(random);
            break;
        case Step::tell_answer: {
            const std::size_t at = options_.reads_in_order ? 0 : random.below(answers_.size());
            Answer answer = std::move(answers_[at]);
            answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(at));
            engine().answer(std::move(answer));
            if (cleaning_->waits_for_answers()) {
                rare_.met(Rare::segment_waited_for_answers);
                next_clean();
            }
            break;
        }
        case Step::seal:
            run_seal();
            break;
        case Step::tell_table:
            tell("table told", sealed_.front());
            engine().table_taken(sealed_.front());
            sealed_.pop_front();
            next_clean();
            break;
        case Step::maintain_spare_segments:
            run_tend_space();
            break;
        case Step::take_space:
            run_tell_space();
            break;
        case Step::clean:
            run_clean();
            break;
        case Step::tell_clean:
            if (found_->step == LogCleaning::Step::drop) rare_.met(Rare::segment_dropped);
            for (const RelocationCandidate& candidate : found_->cleanings.candidates)
                tell("to carry", candidate.row.id, candidate.row.log_position);
            cleaning_->done(*std::exchange(found_, std::nullopt));
            next_clean();
            break;
    }
    if (!fatal_error_) step_ = Step::none;
}

// A full disk is waited out: nothing was written, and the same commit is tried again.
void SimShard::run_commit() {
    const Status done = parts_->commit(*commit_);
    if (done) {
        commit_durable_ = true;
        commit_waits_ = false;
    } else if (done.error().code == "no_space"_code) {
        commit_waits_ = true;
        rare_.met(Rare::no_space_for_a_segment);
    } else {
        fatal_error_ = done.error();
    }
}

void SimShard::run_read(Random& random) {
    const std::size_t at = options_.reads_in_order ? 0 : random.below(lookups_.size());
    const Lookup lookup = std::move(lookups_[at]);
    lookups_.erase(lookups_.begin() + static_cast<std::ptrdiff_t>(at));
    Result<Answer> answer = parts_->read(lookup);
    if (!answer) {
        fatal_error_ = answer.error();
        return;
    }
    const auto* found = std::get_if<Stretch>(&answer->what);
    if (std::holds_alternative<ScanOrder>(lookup.what) && found != nullptr && !found->rows.empty()) {
        rare_.met(Rare::order_key_found_on_disk);
    }
    answers_.push_back(*std::move(answer));
}

void SimShard::run_seal() {
    const std::uint64_t spares = parts_->journal().bytes_on_disk() - parts_->journal().catalog().bytes();
    const Result<SegmentNumber> sealed = parts_->seal_next();
    const std::uint64_t left = parts_->journal().bytes_on_disk() - parts_->journal().catalog().bytes();
    if (left < spares) rare_.met(Rare::spare_given_up_for_a_table);
    if (!sealed && sealed.error().code == "no_space"_code) {
        rare_.met(Rare::table_refused);
    } else if (!sealed) {
        fatal_error_ = sealed.error();
    } else if (*sealed == 0) {
        may_seal_ = false;
    } else {
        tell("sealed segment", *sealed, parts_->index().position().totals.sequence);
        sealed_.push_back(*sealed);
    }
}

void SimShard::run_tend_space() {
    maintenance_wanted_ = false;
    Result<SpaceReading> seen = parts_->maintain_spare_segments();
    if (!seen) {
        fatal_error_ = seen.error();
        return;
    }
    if (seen->spares_refused) rare_.met(Rare::no_space_for_a_spare);
    space_seen_ = *seen;
}

bool SimShard::save_clock_mark(const ClockMark& mark) {
    const Status marked = parts_->save_clock_mark(mark);
    if (!marked && marked.error().code != "no_space"_code) fatal_error_ = marked.error();
    return marked.ok();
}

bool SimShard::save_end() {
    const Status saved = parts_->save_end(true);
    if (!saved && saved.error().code != "no_space"_code) fatal_error_ = saved.error();
    return saved.ok();
}

void SimShard::run_tell_space() {
    const bool full_before = is_full();
    parts_->take_space(*std::exchange(space_seen_, std::nullopt));
    const bool full = is_full();
    tell("space told, full", full);
    if (full && !full_before) rare_.met(Rare::store_full);
    if (!full && full_before) rare_.met(Rare::puts_taken_again);
    see_space();
    if (parts_->space().is_close()) maintenance_wanted_ = true;
    next_clean();
}

void SimShard::see_space() {
    const LogSpace space = parts_->log_space();
    if (space == LogSpace::reserve || space == LogSpace::cleaning) rare_.met(Rare::only_the_reserve_left);
    least_space_ = std::max(least_space_, space);
}

void SimShard::next_clean() {
    const LogCleaning::Step next = cleaning_->next();
    if (next == LogCleaning::Step::none) return;
    clean_ = next;
}

void SimShard::run_clean() {
    Result<LogCleaning::Found> found = cleaning_->run(clean_);
    clean_ = LogCleaning::Step::none;
    if (found) {
        found_ = *std::move(found);
        for (const RelocationCandidate& candidate : found_->cleanings.candidates) {
            if (candidate.subject == Subject::schedule) rare_.met(Rare::schedule_relocated);
            if (candidate.subject == Subject::watchdog) rare_.met(Rare::watchdog_relocated);
            if (candidate.subject == Subject::input) rare_.met(Rare::input_relocated);
            if (candidate.is_settings()) rare_.met(Rare::settings_relocated);
        }
        if (found_->cleanings.outcomes.count > 0) rare_.met(Rare::outcomes_relocated);
        tell("cleaning: step, front now", static_cast<std::uint64_t>(found_->step), parts_->journal().first_sequence());
    } else {
        fatal_error_ = found.error();
    }
}

}  // namespace duewheel
