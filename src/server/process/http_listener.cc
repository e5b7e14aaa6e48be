#include "server/process/http_listener.h"

#include <string>
#include <utility>

#include "server/process/io_thread.h"
#include "shared/system_clock.h"

namespace duewheel {

Status HttpListener::open() {
    http_ = std::make_unique<HttpThreads>(
        loop_, io_thread_count(options_.io_threads),
        [](std::size_t number, std::function<void()> run) {
            return start_io_thread("dw-io-" + std::to_string(number), std::move(run));
        },
        options_.http, [this](const HttpRequest& request, HttpReply reply) { api_->handle(request, std::move(reply)); },
        format_http_error, classify);
    http_->on_refusal([this](int status, ErrorCode code) { api_->note_refused(status, code); });
    http_->set_preparer([this](const HttpRequest& request) { return api_->prepare(request); });
    http_->set_clock(wall_now_ms);
    http_->set_gatekeeper([this](const HttpRequest& request) { return api_->admit(request); });
    const Result<BoundAddress> address = http_->bind(options_.http_address);
    if (!address) return address.error();
    bound_ = *address;
    return open_tls();
}

Status HttpListener::open_tls() {
    http_->on_handshake_failure(
        [this](const TlsFailure& failure) { handshake_log_.failed(failure, monotonic_now_ns()); });
    if (options_.tls.certificate.empty()) return {};
    Result<std::unique_ptr<CertificateWatch>> opened = CertificateWatch::open(
        options_.tls, loop_, log_, [this](const CertificateFiles::Context& context) { http_->use_tls(context); },
        [this](std::function<void()> job) { certificate_reader_->run(std::move(job)); }, wall_now_ms(),
        monotonic_now_ns());
    if (!opened) return std::move(opened).error();
    certificate_reader_.emplace("dw-certificate");
    certificates_ = *std::move(opened);
    return {};
}

Status HttpListener::accept(HttpApi& api) {
    api_ = &api;
    return http_->start_accepting();
}

std::optional<std::int64_t> HttpListener::certificate_expires_in_ms() const {
    if (!certificates_) return std::nullopt;
    return certificates_->expires_ms() - wall_now_ms();
}

EventLoop::TimePoint HttpListener::run_due() {
    const std::int64_t now_ns = monotonic_now_ns();
    connection_watch_.check(http_->counters(), now_ns);
    if (!certificates_) return EventLoop::kOnEvents;
    return EventLoop::TimePoint(std::chrono::nanoseconds(certificates_->advance_to(wall_now_ms(), now_ns)));
}

bool HttpListener::reload() {
    if (!certificates_) return false;
    certificates_->reload(wall_now_ms());
    return true;
}

}  // namespace duewheel
