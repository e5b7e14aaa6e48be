#include "server/node/log_replication.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error_codes.h"
#include "replication/position_file.h"
#include "server/node/log_topic.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr std::int64_t kBeatMs = 1'000;
// How often the topic is compared with the local log, and, if that has not changed, asked where it begins.
constexpr std::int64_t kMaintainMs = 1'000;
constexpr std::int64_t kCheckTopicNs = 60'000'000'000;
constexpr std::int64_t kTopicTimeoutMs = 10'000;

}  // namespace

LogReplication::LogReplication(Takeover takeover, std::string data_directory, KafkaOptions options, LogSink& log,
                               std::function<void(const Error&)> on_fatal_error)
    : takeover_(std::move(takeover)),
      data_directory_(std::move(data_directory)),
      options_(std::move(options)),
      log_(log),
      on_fatal_error_(std::move(on_fatal_error)) {}

LogReplication::~LogReplication() {
    stop();
}

std::unique_ptr<Journal> LogReplication::wrap(LocalJournal& local) {
    auto journal = std::make_unique<ReplicatedJournal>(
        *takeover_.client, local, PositionFile(posix_file_system(), data_directory_), takeover_.chain, takeover_.node,
        [this](std::int64_t ms) { return wait(ms); });
    local_ = &local;
    journal_ = journal.get();
    return journal;
}

void LogReplication::start() {
    beating_ = std::thread([this] { beat(); });
    maintaining_ = std::thread([this] { maintain_topic(); });
}

void LogReplication::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    if (beating_.joinable()) beating_.join();
    if (maintaining_.joinable()) maintaining_.join();
}

void LogReplication::beat() {
    std::uint64_t commits = 0;
    while (wait(kBeatMs)) {
        if (const std::uint64_t now = journal_->counters().commits; now != commits) {
            commits = now;
            continue;
        }
        const Status sent = journal_->beat();
        if (!sent && sent.error().code != "log_unavailable"_code) return on_fatal_error_(sent.error());
    }
}

// Not on the thread of the beats, because a request that no broker answers takes seconds.
void LogReplication::maintain_topic() {
    TopicFront front(*takeover_.client, takeover_.chain.log(), PositionFile(posix_file_system(), data_directory_));
    std::uint64_t number = 0;  // of the oldest segment at the last attempt
    std::int64_t check_at_ns = 0;
    while (wait(kMaintainMs)) {
        const SegmentHeader oldest = local_->catalog().snapshot().front()->header();
        const bool is_check_due = monotonic_now_ns() >= check_at_ns;
        if (!is_check_due && oldest.number == number) continue;
        if (is_check_due) {
            check_settings();
            check_at_ns = monotonic_now_ns() + kCheckTopicNs;
        }
        number = oldest.number;
        const Result<std::int64_t> begins = front.advance_to(oldest, kTopicTimeoutMs);
        if (!begins) {
            log_.warning("log_topic_not_trimmed",
                         "Old records of the topic of the log cannot be deleted. The deletion is tried again.",
                         {{"code", name_of(begins.error().code)}, {"error", begins.error().message}});
        } else if (const std::int64_t before = first_offset_.exchange(*begins); before > 0 && before < *begins) {
            log_.info("log_topic_trimmed", "Old records of the topic of the log were deleted.",
                      {{"first_offset", *begins}});
        }
    }
}

void LogReplication::report_waiting() {
    const ReplicationCounters counters = journal_->counters();
    if (std::exchange(is_waiting_, counters.is_waiting) == counters.is_waiting) return;
    if (counters.is_waiting) {
        log_.warning("log_waits",
                     "The brokers do not acknowledge commits of the log. Changes wait or are refused, and the commit "
                     "is tried again.",
                     {{"error", counters.waiting_for}});
    } else {
        log_.info("log_written", "The brokers acknowledge commits of the log again.");
    }
}

// Reports each finding when it is new.
void LogReplication::check_settings() {
    const Result<std::vector<KafkaTopicFinding>> findings =
        check_log_topic(*takeover_.client, options_, kTopicTimeoutMs);
    if (!findings) return;  // that brokers are away is reported by the commits
    is_topic_unsafe_ = !refuse_unsafe_topic(options_, *findings).ok();
    std::vector<std::string> texts;
    for (const KafkaTopicFinding& finding : *findings) {
        texts.push_back(finding.text);
        if (std::ranges::find(findings_, finding.text) != findings_.end()) continue;
        log_.warning("unsafe_topic", finding.text, {{"topic", options_.log_topic()}});
    }
    findings_ = std::move(texts);
}

void LogReplication::release() {
    stop();
    static_cast<void>(journal_->release());
}

KafkaLogStatus LogReplication::status() const {
    if (journal_ == nullptr) return {};
    return {.is_owner = true,
            .epoch = journal_->epoch(),
            .first_offset = first_offset_,
            .counters = journal_->counters(),
            .is_topic_unsafe = is_topic_unsafe_};
}

bool LogReplication::wait(std::int64_t ms) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::milliseconds(ms), [this] { return is_ending_; });
}

}  // namespace duewheel
