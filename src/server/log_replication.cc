#include "server/log_replication.h"

#include <chrono>
#include <utility>

#include "replication/position_file.h"

namespace duewheel {
namespace {

constexpr std::int64_t kBeatMs = 1'000;

}  // namespace

LogReplication::LogReplication(Takeover takeover, std::string data_directory,
                               std::function<void(const Error&)> on_fatal_error)
    : takeover_(std::move(takeover)),
      data_directory_(std::move(data_directory)),
      on_fatal_error_(std::move(on_fatal_error)) {}

LogReplication::~LogReplication() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    if (beating_.joinable()) beating_.join();
}

std::unique_ptr<Journal> LogReplication::wrap(LocalJournal& local) {
    auto journal = std::make_unique<ReplicatedJournal>(
        *takeover_.client, local, PositionFile(posix_file_system(), data_directory_), std::move(takeover_.chain),
        takeover_.node, [this](std::int64_t ms) { return wait(ms); });
    journal_ = journal.get();
    return journal;
}

void LogReplication::start_beating() {
    beating_ = std::thread([this] { beat(); });
}

void LogReplication::beat() {
    std::uint64_t commits = 0;
    while (wait(kBeatMs)) {
        if (const std::uint64_t now = journal_->counters().commits; now != commits) {
            commits = now;
            continue;
        }
        const Status sent = journal_->beat();
        if (!sent && sent.error().code != "log_unavailable") return on_fatal_error_(sent.error());
    }
}

void LogReplication::release() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    if (beating_.joinable()) beating_.join();
    static_cast<void>(journal_->release());
}

bool LogReplication::wait(std::int64_t ms) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::milliseconds(ms), [this] { return is_ending_; });
}

}  // namespace duewheel
