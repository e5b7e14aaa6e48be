// Readers of the log beside the running server: an export, and a backup with a server on the restored directory.
#include <algorithm>
#include <array>

#include "simulation/beside_server.h"
#include "simulation/simulation.h"
#include "store/log_view.h"
#include "store/maintenance/backup.h"
#include "transfer/export.h"
#include "transfer/export_reader.h"

namespace duewheel {
namespace {

constexpr const char* kBackup = "/backup";
constexpr const char* kRestored = "/restored";
constexpr int kStepsOfRestored = 5'000;
constexpr std::size_t kOldLeasesTried = 20;

// What an export says, line by line, and read as `duewheel import` reads it.
Result<ExportedLines> exported(const LogView& view) {
    ExportReader reader;
    ExportedLines lines;
    const LineSink sink = [&](std::string_view line) -> Status {
        Result<ExportLine> read = reader.read(line.substr(0, line.size() - 1));
        if (!read) return std::move(read).error();
        if (auto* message = std::get_if<MessageLine>(&*read)) lines.messages.push_back(std::move(*message));
        if (auto* settings = std::get_if<SettingsLine>(&*read)) lines.settings.push_back(std::move(*settings));
        return {};
    };
    const Result<ExportReport> written = write_export(view, {.with_dead = true}, sink);
    if (!written) return written.error();
    if (Status whole = reader.finish(); !whole) return std::move(whole).error();
    lines.header = *reader.header();
    lines.purged = written->end.purged;
    return lines;
}

}  // namespace

// What goes wrong with the disk is the server's.
bool Simulation::may_read_the_log() const {
    return !shard_->fatal_error() && !cut_off_ && !has(Fault::failed_read);
}

// A power cut waits until they are done: then it would be theirs too.
std::function<void()> Simulation::others_go_on() {
    return [this] {
        if (!random_.chance(200'000)) return;
        for (std::uint64_t left = random_.below(8); left > 0 && !shard_->fatal_error(); --left) {
            if (shard_->run_step(random_)) rare_.met(Rare::log_went_on_while_viewed);
        }
    };
}

// What is on disk may be ahead of what was answered, by the commits that are in progress, and is never behind it.
void Simulation::view_log() {
    if (!may_read_the_log()) return;
    disk().set_hook({});
    look_at_view();
    watch_disk();
}

void Simulation::look_at_view() {
    const Totals before = shard_->engine().totals();
    MemoryRowStorage rows;
    SimDisk none;
    BesideServer files(disk(), SimShard::kDirectory, none, others_go_on());
    const Result<std::unique_ptr<LogView>> view = LogView::open(files, SimShard::kDirectory, rows);
    if (shard_->fatal_error()) return;
    if (!view) return oracle_.violate("C10", "the log cannot be read beside its server: " + view.error().message);
    const Totals seen = (*view)->totals();
    const Totals& applied = shard_->engine().totals();
    rare_.met(seen.commit > applied.commit ? Rare::log_viewed_ahead_of_answers : Rare::log_viewed);
    hash_.add(seen.digest);
    const bool is_of_its_time = seen.commit >= before.commit && seen.commit <= applied.commit + 1;
    const bool is_as_applied =
        seen.commit != applied.commit || (seen.digest == applied.digest && seen.live_count == applied.live_count);
    if (!is_of_its_time || !is_as_applied) {
        return oracle_.violate("C1", "a view of the log is not of what was applied last");
    }
    const FindRow find = [&](MessageId id) { return *(*view)->index().find(id, seen.server_time_ms); };
    oracle_.viewed(find);
    if (wrong()) return;
    const Result<ExportedLines> lines = exported(**view);
    if (!lines) return oracle_.violate("C10", "the log cannot be exported: " + lines.error().message);
    if (lines->header.sequence != seen.sequence || lines->header.pending != seen.live_count) {
        return oracle_.violate("C1", "an export is of another instant than its view");
    }
    oracle_.exported(*lines, find);
}

void Simulation::back_up() {
    if (!may_read_the_log()) return;
    disk().set_hook({});
    const Totals before = shard_->engine().totals();
    const Sequence front = shard_->parts().journal().first_sequence();
    SimDisk own(options_.seed);
    BesideServer files(disk(), SimShard::kDirectory, own, others_go_on());
    const Result<BackupReport> made = make_backup(files, SimShard::kDirectory, kBackup);
    watch_disk();
    if (shard_->fatal_error()) return;
    if (!made) return oracle_.violate("C10", "no backup can be made beside the server: " + made.error().message);
    rare_.met(Rare::backed_up);
    if (shard_->parts().journal().first_sequence() != front) rare_.met(Rare::backed_up_while_cleaning);
    hash_.add(made->mark.sequence);
    const bool is_of_its_time = made->mark.sequence >= before.sequence;
    if (!is_of_its_time) return oracle_.violate("C1", "a backup lacks what was applied before it");
    const std::array<std::byte, 16> salt{std::byte{0x5a}};
    const Result<BackupReport> restored = restore_backup(own, kBackup, kRestored, clock_.now(), salt);
    if (!restored) return oracle_.violate("C10", "a backup cannot be restored: " + restored.error().message);
    MemoryRowStorage rows;
    const Result<std::unique_ptr<LogView>> view = LogView::open(own, kRestored, rows);
    if (!view) return oracle_.violate("C10", "what is restored cannot be read: " + view.error().message);
    const Totals seen = (*view)->totals();
    if (seen.sequence != made->mark.sequence || seen.live_count != made->mark.pending) {
        return oracle_.violate("C1", "what is restored is not what the backup said");
    }
    oracle_.viewed([&](MessageId id) { return *(*view)->index().find(id, seen.server_time_ms); });
    if (!wrong()) look_at_restored(own);
}

// A server that starts on it takes no lease of the original, delivers what that may have delivered as such, and gives
// out none of its ids.
void Simulation::look_at_restored(SimDisk& disk) {
    MemoryRowStorage rows;
    Retention retention(options_.keep_ms, options_.history);
    RareStates unused;
    EventHash hash;
    OperatorLog log(unused, verbose_);
    const auto opened =
        SimShard::open(options_, zone_version_, disk, rows, retention, log, unused, hash, {}, kRestored);
    if (!opened) return oracle_.violate("C10", "no server starts on what is restored: " + opened.error().message);
    SimShard& shard = **opened;
    rare_.met(Rare::restored);
    oracle_.tokens_found(shard.engine().tokens(), false);
    if (!wrong()) oracle_.inputs_found(shard.engine().inputs(), false);
    ReplyToken token = 0;
    for (const MessageModel& about : oracle_.messages()) {
        if (about.deliveries.empty() || token == kOldLeasesTried) continue;
        shard.submit(AckCommand{about.deliveries.back().token}, ++token);
    }
    for (std::uint32_t i = 0; i < options_.queues; ++i) {
        const Workload::QueueOf queue = Workload::queue_name(options_, i);
        shard.submit(LeaseCommand{queue.name_space, queue.queue, 100, options_.lease_scale_ms, 0}, ++token);
    }
    const Workload::QueueOf first = Workload::queue_name(options_, 0);
    PutCommand put{.name_space = first.name_space, .queue = first.queue};
    put.when.delay_ms = 1'000;
    shard.submit(std::move(put), ++token);
    Random random(options_.seed ^ step_);
    for (int left = kStepsOfRestored; left > 0 && !shard.fatal_error() && !wrong(); --left) {
        shard.turn(clock_.now());
        for (const ReplyEffect& effect : shard.take_replies()) {
            if (const auto* answer = std::get_if<PutAnswer>(&effect.reply)) ids_of_restored_.insert(answer->id);
            const auto* lease = std::get_if<LeaseAnswer>(&effect.reply);
            if (lease == nullptr) continue;
            for (const Delivered& delivered : lease->messages) look_at_handed_out(delivered);
        }
        if (!shard.run_step(random)) break;
    }
    if (shard.fatal_error())
        oracle_.violate("C10", "a server on what is restored breaks: " + shard.fatal_error()->message);
}

// All of it is from before the restore, or made of what was due by then: a half that is committed now may have been
// committed by the original, and an occurrence or a run has another id here than there.
void Simulation::look_at_handed_out(const Delivered& delivered) {
    const Oracle::Messages& all = oracle_.messages();
    const bool is_known =
        std::any_of(all.begin(), all.end(), [&](const MessageModel& about) { return about.id == delivered.id; });
    rare_.met(is_known ? Rare::restored_message_handed_out : Rare::made_by_restored_and_handed_out);
    if (delivered.maybe_delivered) return;
    const char* as_new = "handed out by a server on what is restored as if it were new";
    if (is_known) return oracle_.violate_delivery("C5", delivered.id, as_new);
    oracle_.violate("C5", "a message that it has made is " + std::string(as_new));
}

// At the end.
void Simulation::check_ids_of_restored() {
    for (const MessageModel& about : oracle_.messages()) {
        if (!ids_of_restored_.contains(about.id)) continue;
        return oracle_.violate_delivery("C9", about.id, "a server on what was restored has given out its id, too");
    }
}

}  // namespace duewheel
