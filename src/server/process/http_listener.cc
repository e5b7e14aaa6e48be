#include "server/process/http_listener.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error_codes.h"
#include "shared/system_clock.h"

namespace duewheel {

namespace {

// One processor is for the engine. With two, the other one has enough to do with commits, the index and the clients.
std::uint64_t automatic_threads() {
    constexpr std::uint64_t kMax = 8;
    const std::uint64_t processors = std::thread::hardware_concurrency();
    return processors <= 2 ? 0 : std::min(processors - 1, kMax);
}

Result<std::shared_ptr<void>> start_thread(std::size_t number, std::function<void()> run) {
    try {
        const auto thread = std::make_shared<Worker>("dw-io-" + std::to_string(number));
        thread->run(std::move(run));
        return std::shared_ptr<void>(thread);
    } catch (const std::system_error& error) {
        return Error{"io_error"_code, "cannot start I/O thread " + std::to_string(number + 1) + ": " +
                                          error.code().message() + "; lower io.threads, or raise the limit on threads"};
    }
}

}  // namespace

Status HttpListener::open() {
    http_ = std::make_unique<HttpThreads>(
        loop_, static_cast<std::size_t>(options_.io_threads.value_or(automatic_threads())), start_thread, options_.http,
        [this](const HttpRequest& request, HttpReply reply) { api_->handle(request, std::move(reply)); },
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
