// The end of a run, without further faults: work in progress completes, the index is rebuilt and compared, consumers
// drain the queues through all of time, and then nothing may be left. Finally a byte of the log is flipped. The file is
// long because each of these steps is.
#include <algorithm>
#include <map>

#include "base/error_codes.h"
#include "message/records/input_position.h"
#include "message/records/outcome_rows.h"
#include "message/records/subject.h"
#include "resource/queue_settings.h"
#include "simulation/simulation.h"
#include "store/index_recovery.h"
#include "store/maintenance/known_damage.h"

namespace duewheel {
namespace {

constexpr int kStepsWithoutAnswerMax = 200'000;
constexpr int kIdleRoundsMax = 12;
constexpr DueMs kLongestLeaseMs = 12LL * 3600 * 1000;

using Rows = std::map<std::string, std::string>;

// `front_gone_before`: the load cursor, where the log does not begin with its first record.
Result<Rows> all_rows(const Index& index, SortedRows& rows, std::optional<DueMs> front_gone_before) {
    Rows all;
    const DueMs now = index.retention().now_ms();
    const Status walked = rows.scan("", "\xff", ~std::size_t{0}, [&](std::string_view key, std::string_view value) {
        if (!index.retention().has_expired(ended_ms_of_row(key, value), now)) all.emplace(key, value);
        return true;
    });
    if (!walked) return walked.error();
    // Where the log began when the index was built may differ, and whether a start has proven it since.
    IndexPosition position = index.position();
    position.first_segment = 0;
    position.is_proven = false;
    if (front_gone_before) {
        // Cursors are lower bounds: the records that raised them may have left the log, and the rows below them are
        // then there once more. A relocation-done may have left it too, when a newer one is there.
        position.load_cursor_ms = 0;
        position.relocated_up_to = 0;
        position.outcomes_relocated_up_to = 0;
        all.erase(all.lower_bound(queue_cursor_bound(false)), all.lower_bound(queue_cursor_bound(true)));
        all.erase(all.lower_bound(due_bound({0, 0})), all.lower_bound(due_bound({*front_gone_before, 0})));
        // How messages ended before the front is gone with it.
        all.erase(all.lower_bound(history_bound(0)), all.lower_bound(history_bound(~Era{0})));
        all.erase(history_ledger_key());
        all.erase(outcome_ledger_key());
    }
    encode_position(all[position_key()], position);
    return all;
}

// Outcomes whose record stands in the segment that is still open, and nowhere else: the index that saw them end has
// their rows, one that is built now is told of them by the replay.
Status leave_out_relocated_last(const LocalJournal& journal, const Index& rebuilt, Rows& grown_rows, Rows& fresh_rows) {
    const IndexPosition position = rebuilt.position();
    const std::uint64_t front = journal.catalog().snapshot().front()->header().number;
    const std::uint64_t first_segment = position.segment == 0 ? front : position.first_segment;
    const Sequence from = std::max(position.totals.sequence + 1, journal.first_sequence());
    return journal.replay(from, [&](const CommitInLog& commit) -> Status {
        for (const FramedRecord& framed : commit.records) {
            if (framed.sequence < from || framed.kind != RecordKind::outcomes) continue;
            const Result<Record> record = decode_record(framed.kind, framed.body);
            if (!record) return record.error();
            const auto& outcomes = std::get<OutcomesRecord>(*record);
            if (outcomes.segment >= first_segment) continue;
            const Status walked = for_each_outcome(outcomes.rows, [&](const MessageRecord& outcome) {
                const MessageState& state = outcome.state;
                for (Rows* rows : {&grown_rows, &fresh_rows}) {
                    rows->erase(id_key(outcome.id));
                    if (!state.key.empty()) rows->erase(key_key(state.name_space, state.queue, state.key));
                }
                return Status();
            });
            if (!walked) return walked;
        }
        return {};
    });
}

std::string readable(std::string_view bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        if (value > ' ' && value < 127) {
            text += byte;
        } else {
            text += std::string("\\x") + kDigits[value >> 4] + kDigits[value & 15];
        }
    }
    return text;
}

std::string difference(const Rows& left, const Rows& right) {
    for (const auto& [key, value] : left) {
        const auto other = right.find(key);
        if (other == right.end()) return "only the grown one has " + readable(key) + " = " + readable(value);
        if (other->second != value) {
            return readable(key) + " is " + readable(value) + " grown and " + readable(other->second) + " rebuilt";
        }
    }
    for (const auto& [key, value] : right) {
        if (!left.contains(key)) return "only the rebuilt one has " + readable(key) + " = " + readable(value);
    }
    return {};
}

}  // namespace

void Simulation::finish() {
    calm();
    webhooks_.calm();
    topics_.calm();
    clock_.calm();
    capacity_ = SimDisk::kDefaultCapacityBytes;
    disk().set_capacity(capacity_);
    if (!wrong()) settle();
    if (!wrong() && shard_->is_full()) {
        oracle_.violate("C11", "there is space again, but puts are still refused");
    }
    if (!wrong()) oracle_.discards_are_over();
    if (!wrong()) ask_for_all();
    if (!wrong()) ask_for_schedules();
    if (!wrong()) ask_for_tokens();
    if (!wrong()) oracle_.check_live_count(shard_->engine().counters().pending, "when all is quiet");
    if (!wrong()) rebuild_and_compare();
    // Where something is made by rules the limit of a queue goes too: recurring messages that were there before it may
    // fill it, and wait forever.
    using What = ConfigureQueueCommand::What;
    const bool fills_by_itself = options_.has(Op::loop) || options_.has(Op::schedule) || options_.has(Op::transact) ||
                                 options_.has(Op::watchdog) || options_.has(Op::group);
    if (!wrong()) end_limits();
    if (!wrong()) end_tokens();
    if (!wrong()) tell_queues(fills_by_itself ? What::set : What::resume);
    if (!wrong()) end_groups();
    if (!wrong() && options_.has(Op::loop)) end_loops(false);
    if (!wrong()) end_schedules(false);
    if (!wrong()) end_halves();
    if (!wrong()) drain();
    if (!wrong()) end_schedules(true);
    if (!wrong()) end_purges();
    if (!wrong()) ask_for_all();
    if (!wrong()) check_log_length();
    if (!wrong()) tell_queues(ConfigureQueueCommand::What::remove);
    if (!wrong()) check_emptiness();
    if (!wrong()) check_ids_of_restored();
    if (nodes_ && !wrong()) compare_standby();
    if (!wrong() && has(Fault::damage)) damage();
    if (shard_) {
        count_death();
        hash_.add(shard_->engine().totals().digest);
        hash_.add(shard_->engine().totals().sequence);
    }
}

// Until nothing is in progress and nothing waits.
void Simulation::settle() {
    shard_->rest_cleaning(true);
    settle_without_cleaning();
    if (!shard_->fatal_error()) shard_->rest_cleaning(false);
}

void Simulation::settle_without_cleaning() {
    shard_->engine().delay_batch(false);
    turn();
    // Where each segment takes one put, as many tables as puts are made, and with each of them every put with a key
    // that still waits asks the index again: the steps grow with the square of the requests, but answers keep coming.
    std::uint64_t answered = oracle_.totals().replies;
    for (int steps = 0; steps < kStepsWithoutAnswerMax; ++steps) {
        const bool answered_one = has_hooks() && webhooks_.answer_one();
        const bool sent_one = has_topics() && topics_.run_one();
        const bool stepped = shard_->run_step(random_) || answered_one || sent_one;
        if (shard_->fatal_error()) return oracle_.violate("C10", "broken at peace: " + shard_->fatal_error()->message);
        const bool is_quiet = !stepped && shard_->is_quiet() && next_wakeup() > clock_.now();
        if (is_quiet) {
            if (has_hooks()) webhooks_.check_quiet();
            return oracle_.check_all_answered();
        }
        if (!stepped) clock_.go_on_to(std::max(clock_.now() + 1, shard_->engine().now()));
        turn();
        if (wrong()) return;
        if (std::exchange(answered, oracle_.totals().replies) != oracle_.totals().replies) steps = 0;
    }
    oracle_.violate("C11", "it never comes to rest");
}

// The process ends; its index, brought up to date, must be what the log adds up to when it is read from the beginning.
void Simulation::rebuild_and_compare() {
    settle();
    if (wrong()) return;
    count_death();
    process_ends();
    oracle_.died(step_);
    auto rebuilt_rows = std::make_unique<MemoryRowStorage>();
    {
        const ShardOptions shard = shard_options(options_, zone_version_);
        JournalOptions journal_options;
        journal_options.segment_bytes = shard.engine.segment_bytes;
        journal_options.spare_count = shard.spare_segments;
        journal_options.reserve_count = shard.reserve_segments;
        journal_options.identity = shard.identity;
        auto journal = LocalJournal::open(disk(), std::string(SimShard::kDirectory) + "/journal", journal_options);
        if (!journal) return oracle_.violate("C10", journal.error().message);
        retention_.set_now((*journal)->totals().server_time_ms);
        auto grown = open_index(rows(), retention_, (*journal)->catalog());
        if (!grown) return oracle_.violate("C10", grown.error().message);
        auto rebuilt = open_index(*rebuilt_rows, retention_, (*journal)->catalog());
        if (!rebuilt) return oracle_.violate("C10", rebuilt.error().message);
        for (Index* index : {grown->index.get(), rebuilt->index.get()}) {
            if (Status sealed = seal_missing((*journal)->catalog(), *index); !sealed) {
                return oracle_.violate("C10", sealed.error().message);
            }
        }
        std::optional<DueMs> front;
        if ((*journal)->first_sequence() > 1) front = grown->index->position().load_cursor_ms;
        auto grown_rows = all_rows(*grown->index, grown->index->rows(), front);
        auto fresh_rows = all_rows(*rebuilt->index, rebuilt->index->rows(), front);
        if (!grown_rows || !fresh_rows) return oracle_.violate("C10", "an index cannot be read");
        if (Status left_out = leave_out_relocated_last(**journal, *rebuilt->index, *grown_rows, *fresh_rows);
            !left_out) {
            return oracle_.violate("C10", left_out.error().message);
        }
        const std::string differs = difference(*grown_rows, *fresh_rows);
        if (!differs.empty()) return oracle_.violate("C3", "a rebuilt index is another one: " + differs);
    }
    if (random_.chance(500'000)) storage_.rows = std::move(rebuilt_rows);
    start();
}

void Simulation::tell_queues(ConfigureQueueCommand::What what) {
    for (std::uint32_t number = 0; number < options_.queues && !wrong(); ++number) {
        const Workload::QueueOf queue = Workload::queue_name(options_, number);
        settle();  // or it may be refused because too much waits
        if (wrong()) return;
        ConfigureQueueCommand command{queue.name_space, queue.queue, what, {}, {}};
        const QueueSettings* settings = oracle_.certain_settings(queue.name_space, queue.queue);
        const bool stays = has_hooks() && settings != nullptr && settings->webhook && random_.chance(700'000);
        if (stays) {  // and drains it; at a target that does not rest, as fast as may be
            WebhookTarget& webhook = command.settings.webhook.emplace();
            const bool is_first = settings->webhook->url == SimWebhooks::url_of(0);
            webhook.url = SimWebhooks::url_of(is_first ? 1 : 0);
        }
        const bool keeps_topic = has_topics() && settings != nullptr && settings->kafka && random_.chance(700'000);
        if (keeps_topic) command.settings.kafka = settings->kafka;
        submit(std::move(command));
        settle();
    }
}

// Consumers drain the queues without limits.
void Simulation::end_groups() {
    if (!options_.has(Op::group)) return;
    for (std::uint32_t number = 0; number < options_.queues; ++number) {
        const Workload::QueueOf queue = Workload::queue_name(options_, number);
        for (const std::string& group : Workload::groups()) {
            settle();
            if (wrong()) return;
            ChangeGroupCommand command{queue.name_space, queue.queue, group};
            command.change = [](GroupSettings& settings, DueMs) {
                settings = {.revision = settings.revision};
                return Status();
            };
            submit(std::move(command));
            settle();
            if (wrong()) return;
        }
    }
}

void Simulation::end_limits() {
    if (!options_.has(Op::limit)) return;
    for (const std::string& name_space : options_.name_spaces) {
        settle();
        if (wrong()) return;
        submit(ConfigureNamespaceCommand{name_space, true, {}});
        settle();
        if (wrong()) return;
    }
}

void Simulation::ask_for_tokens() {
    for (const auto& [id, model] : oracle_.tokens()) {
        if (wrong()) return;
        submit(DescribeTokenCommand{id});
        settle();
    }
}

void Simulation::end_tokens() {
    for (const auto& [id, model] : oracle_.tokens()) {
        settle();  // or it may be refused because too much waits
        if (wrong()) return;
        submit(
            ChangeTokenCommand{id, [](const AccessToken*, DueMs) { return Result<TokenState>(std::nullopt); }, false});
        settle();
    }
}

// What is purged and leased ends with its lease, and a purge that nothing holds up any more ends by itself.
void Simulation::end_purges() {
    clock_.go_on_by(kLongestLeaseMs);
    turn();
    settle();
    oracle_.purges_are_over();
}

// The newest segments aside, of whatever size: the open one, and what waits until that is full.
bool Simulation::log_is_short() const {
    constexpr std::size_t kNewest = 3;
    const ShardParts& parts = shard_->parts();
    const std::vector<SegmentSummary> segments = parts.journal().catalog().list();
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i + kNewest < segments.size(); ++i) bytes += segments[i].bytes;
    const std::uint64_t needed = parts.engine().totals().needed_bytes + parts.index().outcome_bytes();
    return bytes <= 2 * needed + LogCleaning::kSegmentsLeft * options_.engine.segment_bytes;
}

// Nobody asks for anything any more; time alone goes on, and with it the log has to come back to its bound.
void Simulation::check_log_length() {
    constexpr int kTends = 60;
    constexpr std::uint64_t kSegmentBytesOfSense = 32'768;
    for (int i = 0; i < kTends && !wrong(); ++i) {
        // An index that never saw the log's front does not count all that is needed; and in small segments a batch that
        // has to be whole leaves half of one empty.
        const bool may_rest = shard_->parts().index().position().first_segment > 1 ||
                              options_.engine.segment_bytes < kSegmentBytesOfSense;
        if (log_is_short() || (may_rest && shard_->cleaning().is_backing_off())) return;
        shard_->tend();
        clock_.go_on_to(std::max(clock_.now(), shard_->engine().now()) + LogCleaning::kWaitForSegmentMs);
        turn();
        if (!wrong()) settle_without_cleaning();
    }
    if (wrong()) return;
    oracle_.violate("C11", "the log stays " + std::to_string(shard_->parts().journal().catalog().bytes()) +
                               " bytes long, of which " + std::to_string(shard_->engine().totals().needed_bytes) +
                               " are needed and " + std::to_string(shard_->parts().index().outcome_bytes()) +
                               " are of outcomes");
}

// Cancels those without an end, and some others.
void Simulation::end_loops(bool endless_only) {
    std::vector<Command> commands;
    for (const MessageModel* loop : oracle_.loops_left()) {
        const bool has_end = loop->put.repeat->times || loop->put.repeat->until_ms;
        if (has_end && (endless_only || random_.chance(600'000))) continue;
        commands.emplace_back(CancelCommand{loop->put.name_space, loop->id});
    }
    for (std::size_t i = 0; i < commands.size() && !wrong(); ++i) {
        submit(commands[i]);
        if (i % 16 == 15) settle();
    }
    if (!wrong() && !commands.empty()) settle();
}

// Commits some, and rolls some back; of the others the default will hold.
void Simulation::end_halves() {
    std::vector<Command> commands;
    for (const MessageModel* half : oracle_.halves_left()) {
        if (random_.chance(400'000)) continue;
        commands.emplace_back(SettleCommand{half->put.name_space, half->id, random_.chance(500'000)});
    }
    for (std::size_t i = 0; i < commands.size() && !wrong(); ++i) {
        submit(commands[i]);
        if (i % 16 == 15) settle();
    }
    if (!wrong() && !commands.empty()) settle();
    oracle_.leave_halves_alone();
    look_at_halves();
}

// One by one: of many at a time some would be refused as too many where little may wait, and from nothing else is known
// when a prepared message is asked for next.
void Simulation::look_at_halves() {
    for (const MessageModel* half : oracle_.halves_left()) {
        if (wrong()) return;
        submit(GetCommand{half->put.name_space, half->id});
        settle();
    }
}

void Simulation::ask_for_schedules() {
    std::vector<Command> looks;
    for (const auto& [name, model] : oracle_.schedules()) {
        looks.emplace_back(DescribeScheduleCommand{name.first, name.second});
    }
    for (const auto& [name, model] : oracle_.watchdogs()) {
        looks.emplace_back(DescribeWatchdogCommand{name.first, name.second});
    }
    for (std::size_t i = 0; i < looks.size() && !wrong(); ++i) {
        submit(looks[i]);
        settle();
    }
}

// Removes those without an end, and some others; what is left goes on.
void Simulation::end_schedules(bool all) {
    using What = ControlScheduleCommand::What;
    std::vector<Command> commands;
    for (const auto& [name, model] : oracle_.schedules()) {
        const ScheduleState* state = model.surely();
        const bool may_be_there = model.there != ScheduleModel::There::no || model.is_blurred;
        if (!may_be_there) continue;
        const bool goes_on_for_ever =
            state == nullptr || (state->rule.times.times == 0 && state->rule.times.end_ms == 0 &&
                                 state->rule.times.kind != TimesKind::at && !state->rule.times.text.starts_with("R1"));
        if (all || goes_on_for_ever || random_.chance(400'000)) {
            commands.emplace_back(ControlScheduleCommand{name.first, name.second, What::remove});
        } else if (state->paused) {
            commands.emplace_back(ControlScheduleCommand{name.first, name.second, What::resume});
        }
    }
    for (const auto& [name, model] : oracle_.watchdogs()) {
        const WatchdogState* state = model.surely();
        const bool goes_on_for_ever = state == nullptr || state->rule.repeat_every_ms != 0;
        if (!model.may_be_there() || !(all || goes_on_for_ever || random_.chance(400'000))) continue;
        commands.emplace_back(RemoveWatchdogCommand{name.first, name.second});
    }
    for (std::size_t i = 0; i < commands.size() && !wrong(); ++i) {
        submit(commands[i]);
        settle();
    }
}

// ---- the drain

// Where few may wait, what stands behind them would be refused each time (seed 20117).
std::size_t Simulation::asked_at_once() const {
    return options_.engine.commands_waiting_max <= 16 ? 1 : 16;
}

// What is dead or held, so that it can be drained too.
void Simulation::bring_back() {
    for (std::uint32_t number = 0; number < options_.queues; ++number) {
        const Workload::QueueOf queue = Workload::queue_name(options_, number);
        if (!oracle_.may_hold_dead(queue.name_space, queue.queue)) continue;
        submit(RedriveCommand{queue.name_space, queue.queue, std::nullopt});
        settle();
        if (wrong()) return;
    }
    std::vector<Command> kicks;
    for (const MessageModel* message : oracle_.maybe_held()) {
        if (message->id != 0) {
            kicks.emplace_back(KickCommand{message->put.name_space, message->id});
        } else if (!message->has_expired(clock())) {  // its put was not answered: asked again, it says what to kick
            kicks.emplace_back(message->put);
        }
    }
    for (std::size_t i = 0; i < kicks.size() && !wrong(); ++i) {
        submit(kicks[i]);
        if ((i + 1) % asked_at_once() == 0) settle();
    }
    if (!wrong() && !kicks.empty()) settle();
    // Nobody is told that a default holds, or that a recurring message has made its last occurrence.
    if (!wrong()) look_at_halves();
    if (wrong()) return;
    std::vector<Command> looks;
    for (const MessageModel* loop : oracle_.loops_left())
        looks.emplace_back(GetCommand{loop->put.name_space, loop->id});
    for (std::size_t i = 0; i < looks.size() && !wrong(); ++i) {
        submit(looks[i]);
        if ((i + 1) % asked_at_once() == 0) settle();
    }
    if (!wrong() && !looks.empty()) settle();
    if (!wrong()) ask_for_schedules();
}

void Simulation::drain_round(std::uint64_t& progress) {
    drained_.clear();
    for (std::uint32_t number = 0; number < options_.queues && !wrong(); ++number) {
        const Workload::QueueOf queue = Workload::queue_name(options_, number);
        const QueueSettings* settings = oracle_.certain_settings(queue.name_space, queue.queue);
        if (settings != nullptr && has_target(*settings)) continue;  // its target is its consumer
        LeaseCommand lease;
        lease.name_space = queue.name_space;
        lease.queue = queue.queue;
        lease.max = 100;
        lease.lease_ms = kLongestLeaseMs;
        submit(lease);
    }
    settle();
    if (wrong()) return;
    progress = drained_.size() + webhooks_.take_taken() + topics_.take_taken();
    const std::vector<LeaseToken> held = std::exchange(drained_, {});
    for (const LeaseToken& token : held) submit(AckCommand{token});
    if (!held.empty()) settle();
}

// Consumers take and acknowledge all there is; then time goes on to one of the next dues, until no message is left that
// may come. Where nothing comes although something is due, what may be dead is returned and old leases are waited
// for, and then it is a loss.
void Simulation::drain() {
    draining_ = true;
    clock_.go_on_to(shard_->engine().now());
    turn();
    int idle_rounds = 0;
    while (!wrong() && idle_rounds < kIdleRoundsMax) {
        std::uint64_t progress = 0;
        drain_round(progress);
        if (!wrong() && options_.has(Op::loop)) end_loops(true);
        if (wrong()) return;
        if (progress > 0) {
            idle_rounds = 0;
            continue;
        }
        const EngineCounters counters = shard_->engine().counters();
        counters.ready != 0 && counters.leased != 0 ? oracle_.leases_are_in_use() : oracle_.queues_are_drained();
        // Who may be dead for long enough to be gone may as well be dead still: all of them are returned once.
        const bool all_ended = oracle_.all_ended();
        if (all_ended && idle_rounds > 0) return;
        const std::vector<DueMs> dues = oracle_.dues_ahead();
        if (!dues.empty() && !all_ended) {
            const std::size_t ahead =
                random_.chance(250'000) ? 0 : random_.below(std::min<std::size_t>(dues.size(), 40));
            clock_.go_on_to(dues[ahead]);
        } else {
            ++idle_rounds;
            // A target gets no more than so many a second, or rests: it is waited for first, as whoever may be dead has
            // one more possible world with each redrive.
            const DueMs wakeup = next_target_wakeup();
            const bool awaits_target = wakeup != Engine::kNoWakeup && idle_rounds == 1 && !all_ended;
            if (!awaits_target) bring_back();
            if (wrong()) return;
            clock_.go_on_by(idle_rounds < 4 ? 1 : kLongestLeaseMs);
            if (wakeup != Engine::kNoWakeup) clock_.go_on_to(wakeup);
        }
        turn();
        oracle_.time_leapt();
        if (!wrong()) settle();
    }
    if (!wrong()) ask_for_schedules();
    if (!wrong()) oracle_.check_schedules();
    if (!wrong()) oracle_.check_watchdogs();
    if (!wrong()) oracle_.check_nothing_lost();
    if (!wrong()) oracle_.check_lost_batches();
}

void Simulation::ask_for_all() {
    const std::size_t count = oracle_.messages().size();
    for (std::size_t i = 0; i < count && !wrong(); ++i) {
        const MessageModel& message = oracle_.messages()[i];
        if (message.id != 0) submit(GetCommand{message.put.name_space, message.id});
        if (i % 16 == 15) settle();
    }
    if (!wrong()) settle();
}

void Simulation::check_emptiness() {
    shard_->engine().check();
    const Totals& totals = shard_->engine().totals();
    oracle_.check_live_count(totals.live_count, "after the drain", true);
    // The positions of inputs stay.
    std::uint64_t digest = 0;
    std::uint64_t needed_bytes = 0;
    for (const auto& [name, input] : shard_->engine().inputs()) {
        digest += subject_term(Subject::input, kDefaultNamespace, name, encode_input_position(input.offset));
        needed_bytes += input.record_bytes;
    }
    if (totals.live_count == 0 && (totals.digest != digest || totals.needed_bytes != needed_bytes)) {
        oracle_.violate("C3", "nothing is unfinished, but the digest is " + std::to_string(totals.digest) + " and " +
                                  std::to_string(totals.needed_bytes) + " bytes are needed");
    }
}

// ---- damage

// One byte of the log is turned, or the end of it becomes zeros after a clean stop. That is found at the next start
// and, because it is remembered, at the one after it, until the bytes are as they were; or they were ones that mean
// nothing.
void Simulation::damage() {
    clock_.go_on_to(std::max(clock_.now(), shard_->engine().now()) + 10);  // until the last commit is confirmed
    turn();
    settle();
    const Totals before = shard_->engine().totals();
    const bool end_is_known = shard_->save_end();
    count_death();
    process_ends();
    oracle_.died(step_);
    const std::string journal = std::string(SimShard::kDirectory) + "/journal";
    const auto names = disk().list(journal);
    std::vector<std::string> segments;
    for (const std::string& name : *names) {
        if (name.rfind("seg-", 0) == 0) segments.push_back(journal + "/" + name);
    }
    const bool loses_end = end_is_known && random_.chance(300'000);
    const std::string& path = loses_end ? segments.back() : segments[random_.below(segments.size())];
    std::string bytes;
    {
        auto file = disk().open(path, OpenMode::read);
        bytes.resize(*(*file)->size());
        static_cast<void>((*file)->read_at(0, std::as_writable_bytes(std::span(bytes))));
    }
    const auto write = [&](std::string_view content) {
        auto file = disk().open(path, OpenMode::read_write);
        static_cast<void>((*file)->write_at(0, std::as_bytes(std::span(content))));
        static_cast<void>((*file)->sync_data());
    };
    std::string damaged = bytes;
    const std::uint64_t at = random_.below(bytes.size());
    if (loses_end) {
        const std::uint64_t from = std::max<std::uint64_t>(at, kSegmentHeaderBytes);
        damaged.replace(from, bytes.size() - from, bytes.size() - from, '\0');
    } else {
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << random_.below(8)));
    }
    write(damaged);
    MemoryRowStorage fresh;  // so that all of the log has to be read
    const auto open = [&] {
        return SimShard::open(options_, zone_version_, disk(), fresh, retention_, log_, rare_, hash_);
    };
    const auto adds_up = [&](SimShard& shard) {
        const Totals after = shard.engine().totals();
        // The last commit may go: it was an empty one that confirmed the one before it, or one that closed a segment.
        return after.digest == before.digest && after.live_count == before.live_count &&
               after.needed_bytes == before.needed_bytes && after.id_counter == before.id_counter &&
               after.commit + 1 >= before.commit;
    };
    auto opened = open();
    if (opened) {
        rare_.met(Rare::damage_harmless);
        if (!adds_up(**opened)) oracle_.violate("C10", "a damaged log opens and adds up to something else");
        return;
    }
    rare_.met(loses_end ? Rare::lost_end_refused : Rare::damage_refused);
    if (const auto code = opened.error().code; code != "damaged_log"_code && code != "newer_format"_code) {
        return oracle_.violate("C10",
                               "damage is met with " + std::string(name_of(code)) + ": " + opened.error().message);
    }
    static_cast<void>(remember_damage(disk(), SimShard::kDirectory, opened.error()));
    opened = open();
    if (opened) return oracle_.violate("C10", "the second start on a damaged log succeeds");
    write(bytes);
    opened = open();
    if (!opened) return oracle_.violate("C10", "a log that is whole again is refused: " + opened.error().message);
    if (!adds_up(**opened)) oracle_.violate("C10", "a log that is whole again adds up to something else");
}

}  // namespace duewheel
