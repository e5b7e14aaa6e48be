// Writes the audit log of a server on a separate thread, so that the loop never waits for the disk.
//
// Lines that arrive together are written together. They are synced at most once a second, and at the end: a crash of
// the machine can lose the lines of the last second, a crash of the process loses none. If a write fails, it is tried
// again every second, and until it succeeds is_available() is false. After a failed sync it is unknown what is on disk,
// so the log stays unavailable until the server is restarted.
//
// For the loop's thread, unless stated otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "access/audit_port.h"
#include "access/audit_share.h"
#include "access/audit_writer.h"
#include "access/refusal_limit.h"
#include "base/log.h"
#include "net/event_loop.h"
#include "server/shard/worker.h"

namespace duewheel {

struct AuditCounters {
    std::uint64_t lines = 0;
    std::uint64_t refusals_suppressed = 0;
    std::uint64_t lines_removed_early = 0;
    std::optional<bool> is_available;  // nothing: there is no audit log
};

class AuditTrail final : public AuditPort {
  public:
    // Opens the log, or creates one, with a size that suits the volume (base/volume_size.h; 0: unknown). A full disk is
    // no error: the log is then unavailable until there is space. Codes: those of AuditWriter::open(). Reads the disk.
    // Loop and log outlive it.
    static Result<std::unique_ptr<AuditTrail>> open(EventLoop& loop, const std::string& data_directory,
                                                    std::uint64_t volume_bytes, std::function<InstantMs()> server_ms,
                                                    LogSink& log);

    bool is_available() const override { return is_available_; }
    void record(AuditEntry entry, std::function<void(bool)> done) override;
    void record_limited(AuditEntry entry) override;

    // Does what is due: syncs, retries, writes counts of refusals. Returns when to call it again.
    EventLoop::TimePoint run_due(std::int64_t now_ns);

    // The last lines and a sync are queued, and written before the destructor returns. Nothing is recorded after this.
    void finish();

    AuditCounters counters() const { return {lines_, limit_.suppressed_total(), lines_removed_early_, is_available_}; }

  private:
    struct Waiting {
        AuditEntry entry;
        std::function<void(bool)> done;  // empty: the request has its response
    };

    AuditTrail(EventLoop& loop, std::string directory, AuditBounds bounds, std::function<InstantMs()> server_ms,
               LogSink& log);

    void add(AuditEntry entry, std::function<void(bool)> done);
    Status write(const std::vector<AuditEntry>& entries, InstantMs now);
    void write_waiting();
    void written(const Status& result);
    void start_write();
    void sync_failed(const Error& error);
    void sync();
    void record_suppressed(const std::vector<RefusalLimit::Suppressed>& all);
    void log_opened();
    void log_loss();

    EventLoop& loop_;
    const std::string directory_;
    const AuditBounds bounds_;
    const std::function<InstantMs()> server_ms_;
    LogSink& log_;
    RefusalLimit limit_;
    AuditShare share_;
    std::vector<Waiting> waiting_;  // not written yet, in their order
    std::size_t writing_ = 0;       // the number of them, from the first on, that are being written
    bool is_writing_ = false;
    bool is_available_ = true;
    bool has_failed_ = false;  // a sync has failed: permanent
    bool is_finished_ = false;
    std::int64_t retry_at_ns_ = 0;  // 0: nothing to try again
    std::int64_t sync_at_ns_ = 0;   // 0: all is synced
    std::int64_t count_at_ns_ = 0;  // 0: no refusal is suppressed
    std::uint64_t lines_ = 0;
    std::atomic<std::uint64_t> lines_removed_early_{0};  // written by the worker

    std::unique_ptr<AuditWriter> writer_;  // of the worker's thread; null until the log is open
    Worker worker_{"dw-audit"};            // last: its jobs use the rest
};

}  // namespace duewheel
