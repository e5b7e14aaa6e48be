#include "server/audit_trail.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "access/audit_files.h"
#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr std::int64_t kSyncIntervalNs = 1'000'000'000;
constexpr std::int64_t kRetryNs = 1'000'000'000;

// A client without a token counts by its address.
const std::string& party_of(const AuditEntry& entry) {
    return entry.actor == kAnonymous ? entry.address : entry.actor;
}

// About the size of its line.
std::size_t line_bytes(const AuditEntry& entry) {
    constexpr std::size_t kWithoutTexts = 280;  // the names of the members, both hashes, number and time
    return kWithoutTexts + entry.verb.size() + entry.actor.size() + entry.address.size() + entry.name_space.size() +
           entry.object.size() + entry.traceparent.size();
}

}  // namespace

AuditTrail::AuditTrail(EventLoop& loop, std::string directory, AuditBounds bounds, std::function<InstantMs()> server_ms,
                       LogSink& log)
    : loop_(loop),
      directory_(std::move(directory)),
      bounds_(bounds),
      server_ms_(std::move(server_ms)),
      log_(log),
      share_(bounds.files_max * bounds.file_bytes_max) {}

Result<std::unique_ptr<AuditTrail>> AuditTrail::open(EventLoop& loop, const std::string& data_directory,
                                                     std::uint64_t volume_bytes, std::function<InstantMs()> server_ms,
                                                     LogSink& log) {
    auto trail = std::unique_ptr<AuditTrail>(new AuditTrail(
        loop, audit_directory(data_directory), AuditBounds::of_volume(volume_bytes), std::move(server_ms), log));
    const Status opened = trail->write({}, trail->server_ms_());
    if (!opened && opened.error().code != "no_space"_code) return opened.error();
    if (!opened) trail->written(opened);
    return trail;
}

// Called on the worker's thread, and before the worker has any job.
Status AuditTrail::write(const std::vector<AuditEntry>& entries, InstantMs now) {
    if (writer_ == nullptr) {
        Result<std::unique_ptr<AuditWriter>> opened = AuditWriter::open(posix_file_system(), directory_, now, bounds_);
        if (!opened) return std::move(opened).error();
        writer_ = *std::move(opened);
        log_opened();
    }
    Status appended = writer_->append(entries);
    log_loss();
    return appended;
}

// The log has its maximum size before its lines have their age: because of much work, or to hide something.
void AuditTrail::log_loss() {
    const AuditLoss& loss = writer_->loss();
    if (loss.lines == lines_removed_early_) return;
    log_.warning(
        "audit_lines_removed_early",
        "The audit log has its maximum size, and lines were removed before they were 90 days old. It is whole "
        "from `whole_from` on. If your clients do not change settings that often, find out which one filled it.",
        {{"lines", loss.lines - lines_removed_early_}, {"whole_from", format_instant(loss.whole_from_ms)}});
    lines_removed_early_ = loss.lines;
}

void AuditTrail::log_opened() {
    if (writer_->torn_bytes() > 0) {
        log_.warning(
            "audit_log_repaired",
            "A crash left an incomplete last line in the audit log. It was replaced by a line that contains it.",
            {{"bytes", writer_->torn_bytes()}});
    }
    if (writer_->found_damage()) {
        log_.error("audit_log_damaged",
                   "The last line of the audit log is damaged, and the log continues in a new file. Run `duewheel "
                   "audit verify`.",
                   {{"directory", directory_}});
    }
}

void AuditTrail::record(AuditEntry entry, std::function<void(bool)> done) {
    if (share_.count(party_of(entry), line_bytes(entry), monotonic_now_ns())) {
        log_.warning("audit_log_filling",
                     "A client has filled a twentieth of the audit log with its changes, faster than in an hour. If it "
                     "goes on, older lines are removed before they are 90 days old. If it should not make that "
                     "number of changes, limit its token, or remove it.",
                     {{"actor", entry.actor}, {"address", entry.address}, {"verb", entry.verb}});
    }
    add(std::move(entry), std::move(done));
}

void AuditTrail::add(AuditEntry entry, std::function<void(bool)> done) {
    if (!is_available_ && done) {  // it was executed before this write
        loop_.post([done = std::move(done)] { done(false); });
        done = nullptr;
    }
    waiting_.push_back({std::move(entry), std::move(done)});
    if (retry_at_ns_ == 0) write_waiting();
}

void AuditTrail::record_limited(AuditEntry entry) {
    const std::int64_t now_ns = monotonic_now_ns();
    const RefusalLimit::Refusal refusal{.address = entry.address,
                                        .actor = entry.actor,
                                        .verb = entry.verb,
                                        .is_known = entry.actor != kAnonymous,
                                        .is_administrative = entry.verb != kAccessRefusedVerb};
    if (!is_available_) {
        limit_.suppress(refusal);
    } else if (const std::optional<std::uint64_t> suppressed = limit_.admit(refusal, now_ns)) {
        entry.suppressed = *suppressed;
        add(std::move(entry), nullptr);
    }
    if (limit_.has_suppressed() && count_at_ns_ == 0) count_at_ns_ = now_ns + RefusalLimit::kIntervalNs;
}

void AuditTrail::record_suppressed(const std::vector<RefusalLimit::Suppressed>& all) {
    for (const RefusalLimit::Suppressed& each : all) {
        AuditEntry entry;
        entry.time_ms = server_ms_();
        entry.verb = each.like.verb.empty() ? std::string(kAccessRefusedVerb) : each.like.verb;
        entry.actor = each.like.actor;
        entry.address = each.like.address;
        entry.suppressed = each.refusals;
        add(std::move(entry), nullptr);
    }
}

void AuditTrail::write_waiting() {
    if (!waiting_.empty() && !is_writing_ && !has_failed_) start_write();
}

// Writes all entries that wait; without any it only opens the log.
void AuditTrail::start_write() {
    is_writing_ = true;
    writing_ = waiting_.size();
    retry_at_ns_ = 0;
    std::vector<AuditEntry> entries;
    entries.reserve(writing_);
    for (const Waiting& each : waiting_) entries.push_back(each.entry);
    worker_.run([this, entries = std::move(entries), now = server_ms_()] {
        const Status result = write(entries, now);
        loop_.post([this, result] { written(result); });
    });
}

void AuditTrail::written(const Status& result) {
    is_writing_ = false;
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::exchange(writing_, 0));
    std::vector<std::function<void(bool)>> done;
    for (auto each = waiting_.begin(); each != end; ++each) {
        if (each->done) done.push_back(std::exchange(each->done, nullptr));
    }
    const std::int64_t now_ns = monotonic_now_ns();
    if (result) {
        lines_ += static_cast<std::uint64_t>(end - waiting_.begin());
        waiting_.erase(waiting_.begin(), end);
        if (sync_at_ns_ == 0) sync_at_ns_ = now_ns + kSyncIntervalNs;
        if (!has_failed_ && !std::exchange(is_available_, true)) {
            log_.info("audit_log_available", "The audit log is written again. Administrative requests are accepted.");
        }
    } else {
        retry_at_ns_ = now_ns + kRetryNs;
        if (std::exchange(is_available_, false)) {
            log_.error("audit_log_unavailable",
                       "The audit log cannot be written: administrative requests are refused until it can be written "
                       "again. Messages are not affected.",
                       {{"error", result.error().message}});
        }
    }
    for (const auto& each : done) each(result.ok());
    if (result) write_waiting();
}

void AuditTrail::sync() {
    sync_at_ns_ = 0;
    worker_.run([this] {
        const Status synced = writer_->sync();
        if (!synced) loop_.post([this, error = synced.error()] { sync_failed(error); });
    });
}

void AuditTrail::sync_failed(const Error& error) {
    has_failed_ = true;
    is_available_ = false;
    log_.error("audit_log_failed",
               "The audit log could not be synced to disk: administrative requests are refused until the server is "
               "restarted. Messages are not affected.",
               {{"error", error.message}});
    for (std::size_t i = writing_; i < waiting_.size(); ++i) {
        if (const auto done = std::exchange(waiting_[i].done, nullptr)) done(false);
    }
}

EventLoop::TimePoint AuditTrail::run_due(std::int64_t now_ns) {
    if (retry_at_ns_ != 0 && retry_at_ns_ <= now_ns && !has_failed_) start_write();
    if (sync_at_ns_ != 0 && sync_at_ns_ <= now_ns && !has_failed_) sync();
    if (count_at_ns_ != 0 && count_at_ns_ <= now_ns) {
        if (is_available_) record_suppressed(limit_.take_due(now_ns));
        count_at_ns_ = limit_.has_suppressed() ? now_ns + RefusalLimit::kIntervalNs : 0;
    }
    std::int64_t next_ns = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t at_ns : {retry_at_ns_, sync_at_ns_, count_at_ns_}) {
        if (at_ns != 0) next_ns = std::min(next_ns, at_ns);
    }
    return EventLoop::TimePoint(std::chrono::nanoseconds(next_ns));
}

void AuditTrail::finish() {
    if (std::exchange(is_finished_, true) || has_failed_) return;
    record_suppressed(limit_.take_all());
    std::vector<AuditEntry> rest;
    std::vector<std::function<void(bool)>> done;
    // Entries that are being written now are written before this job, and the others by this job alone.
    for (auto each = waiting_.begin() + static_cast<std::ptrdiff_t>(writing_); each != waiting_.end(); ++each) {
        rest.push_back(std::move(each->entry));
        if (each->done) done.push_back(std::move(each->done));
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(writing_), waiting_.end());
    worker_.run([this, rest = std::move(rest), done = std::move(done), now = server_ms_()] {
        const Status written = write(rest, now);
        if (written) static_cast<void>(writer_->sync());
        loop_.post([done, is_written = written.ok()] {
            for (const auto& each : done) each(is_written);
        });
    });
}

}  // namespace duewheel
