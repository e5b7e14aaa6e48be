// Keeps the TLS certificate of a running server up to date: reads its files again when they change, on SIGHUP, and once
// a day, so that the keys of session tickets last a day. Warns daily if the certificate expires within 30 days.
//
// Unusable files change nothing: the server keeps its certificate, and the log has the reason. Everything except
// reading is done on the loop's thread. Takes the time as an argument.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/log.h"
#include "net/event_loop.h"
#include "server/process/certificate_files.h"
#include "shared/instant.h"

namespace duewheel {

class CertificateWatch {
  public:
    static constexpr std::int64_t kCheckNs = 2'000'000'000;
    static constexpr std::int64_t kDayNs = 86'400'000'000'000;
    static constexpr InstantMs kWarnMs = InstantMs{30} * 86'400'000;

    using Use = std::function<void(CertificateFiles::Context)>;
    using RunOnWorker = std::function<void(std::function<void()>)>;

    // `use` takes each new certificate, the first at once. `run_on_worker` runs jobs one at a time on a thread that may
    // wait for the disk. `loop` and `log` outlive this, and neither jobs nor the loop run any more when it ends. Codes:
    // those of TlsContext::load().
    static Result<std::unique_ptr<CertificateWatch>> open(const TlsFiles& files, EventLoop& loop, LogSink& log, Use use,
                                                          RunOnWorker run_on_worker, InstantMs now_ms,
                                                          std::int64_t now_ns);

    // Call it in each iteration; returns the latest time for the next call. `now_ns` is monotonic.
    std::int64_t advance_to(InstantMs now_ms, std::int64_t now_ns);
    // Reads the files, whether they changed or not, and logs the result.
    void reload(InstantMs now_ms);

    // When the certificate in use expires.
    InstantMs expires_ms() const { return expires_ms_; }

  private:
    enum class Why { changed, requested, daily };

    CertificateWatch(CertificateFiles files, EventLoop& loop, LogSink& log, Use use, RunOnWorker run_on_worker)
        : files_(std::move(files)),
          loop_(loop),
          log_(log),
          use_(std::move(use)),
          run_on_worker_(std::move(run_on_worker)) {}

    void read(Why why, InstantMs now_ms);
    void install(const Result<CertificateFiles::Context>& loaded, Why why, InstantMs now_ms);
    void warn(InstantMs now_ms);

    CertificateFiles files_;  // of the jobs
    EventLoop& loop_;
    LogSink& log_;
    const Use use_;
    const RunOnWorker run_on_worker_;
    InstantMs expires_ms_ = 0;
    std::int64_t check_at_ns_ = 0;
    std::int64_t renew_at_ns_ = 0;
    std::int64_t warn_at_ns_ = 0;
    bool is_reading_ = false;
};

}  // namespace duewheel
