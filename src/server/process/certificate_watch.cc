#include "server/process/certificate_watch.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"
#include "calendar/instant_text.h"

namespace duewheel {

Result<std::unique_ptr<CertificateWatch>> CertificateWatch::open(const TlsFiles& files, EventLoop& loop, LogSink& log,
                                                                 Use use, RunOnWorker run_on_worker, InstantMs now_ms,
                                                                 std::int64_t now_ns) {
    CertificateFiles on_disk(files);
    Result<CertificateFiles::Context> loaded = on_disk.load(now_ms);
    if (!loaded) return std::move(loaded).error();
    std::unique_ptr<CertificateWatch> watch(
        new CertificateWatch(std::move(on_disk), loop, log, std::move(use), std::move(run_on_worker)));
    watch->check_at_ns_ = now_ns + kCheckNs;
    watch->renew_at_ns_ = now_ns + kDayNs;
    watch->warn_at_ns_ = now_ns;
    watch->expires_ms_ = (*loaded)->expires_ms();
    watch->use_(*loaded);
    return watch;
}

std::int64_t CertificateWatch::advance_to(InstantMs now_ms, std::int64_t now_ns) {
    if (now_ns >= warn_at_ns_) {
        warn_at_ns_ = now_ns + kDayNs;
        warn(now_ms);
    }
    if (now_ns >= renew_at_ns_) {
        renew_at_ns_ = now_ns + kDayNs;
        read(Why::daily, now_ms);
    }
    if (now_ns >= check_at_ns_) {
        check_at_ns_ = now_ns + kCheckNs;
        if (!is_reading_) read(Why::changed, now_ms);  // a hanging disk does not accumulate jobs
    }
    return std::min({warn_at_ns_, renew_at_ns_, check_at_ns_});
}

void CertificateWatch::reload(InstantMs now_ms) {
    read(Why::requested, now_ms);
}

void CertificateWatch::read(Why why, InstantMs now_ms) {
    is_reading_ = true;
    run_on_worker_([this, why, now_ms] {
        std::optional<Result<CertificateFiles::Context>> loaded;
        if (why == Why::changed) {
            loaded = files_.check(now_ms);
        } else {
            loaded = files_.load(now_ms);
        }
        loop_.post([this, loaded = std::move(loaded), why, now_ms] {
            is_reading_ = false;
            if (loaded) install(*loaded, why, now_ms);
        });
    });
}

void CertificateWatch::install(const Result<CertificateFiles::Context>& loaded, Why why, InstantMs now_ms) {
    if (!loaded) {
        if (why == Why::daily) return;  // it was logged when the files changed
        log_.warning("tls_reload_failed",
                     "The TLS certificate cannot be reloaded. The server continues with the one that it has.",
                     {{"code", name_of(loaded.error().code)}, {"error", loaded.error().message}});
        return;
    }
    use_(*loaded);
    expires_ms_ = (*loaded)->expires_ms();
    if (why == Why::daily) return;
    log_.info("tls_reloaded", "The TLS certificate was reloaded. New connections use it.",
              {{"expires", format_instant(expires_ms_)}});
    warn(now_ms);
}

void CertificateWatch::warn(InstantMs now_ms) {
    if (expires_ms_ - now_ms >= kWarnMs) return;
    log_.warning("tls_certificate_expires",
                 expires_ms_ > now_ms
                     ? "The TLS certificate expires in less than 30 days. Install a new one in its place: the server "
                       "reloads it."
                     : "The TLS certificate has expired, and clients refuse it. Install a new one in its place: the "
                       "server reloads it.",
                 {{"expires", format_instant(expires_ms_)}});
}

}  // namespace duewheel
