#include "server/beanstalk.h"

#include <charconv>
#include <chrono>
#include <utility>

#include <grp.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "base/version.h"
#include "beanstalk/beanstalk_session.h"
#include "server/limits/options_check.h"
#include "server/process/io_thread.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

std::int64_t us_of(const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
}

std::int64_t monotonic_now_ms() {
    return monotonic_now_ns() / 1'000'000;
}

BeanstalkProcess this_process() {
    rusage usage{};
    static_cast<void>(::getrusage(RUSAGE_SELF, &usage));
    return {.pid = static_cast<std::uint64_t>(::getpid()),
            .user_us = us_of(usage.ru_utime),
            .system_us = us_of(usage.ru_stime)};
}

BeanstalkOptions session_options(const BeanstalkSettings& settings, const HttpLimits& limits,
                                 const std::string& instance) {
    BeanstalkOptions options;
    options.job_bytes_max = settings.job_bytes_max;
    options.unfinished_bytes_max = limits.unfinished_bytes_max;
    options.job_deadline_ms = limits.body_deadline.count();
    options.process = this_process;
    options.version = std::string("duewheel ") + kVersion;
    options.instance = instance.substr(0, 16);
    utsname system{};
    if (::uname(&system) == 0) {
        options.hostname = system.nodename;
        options.os = system.version;
        options.platform = system.machine;
    }
    return options;
}

// None if the setting is empty.
Result<std::optional<gid_t>> socket_group(const BeanstalkSettings& settings) {
    if (settings.socket_group.empty()) return std::optional<gid_t>();
    const group* found = ::getgrnam(settings.socket_group.c_str());
    if (found != nullptr) return std::optional(found->gr_gid);
    return Error{"bad_beanstalk_group"_code,
                 "this machine has no group \"" + settings.socket_group +
                     "\", which the setting beanstalk.socket_group names: create it, or correct the name"};
}

}  // namespace

Status check_beanstalk_settings(const BeanstalkSettings& settings, bool unsafe) {
    if (!settings.socket_group.empty() && !settings.listen.starts_with("unix:")) {
        return Error{"bad_beanstalk_group"_code,
                     "beanstalk.socket_group is set, and the setting beanstalk.listen is no Unix socket: set it to "
                     "unix:PATH, or remove the group"};
    }
    if (const Result<std::optional<gid_t>> group = socket_group(settings); !group) return group.error();
    if (settings.listen.empty() || settings.listen.starts_with("unix:")) return {};
    if (Status address = check_listen_address(settings.listen); !address) {
        return Error{"bad_beanstalk_address"_code, "beanstalk.listen: " + address.error().message};
    }
    if (unsafe || is_loopback(settings.listen)) return {};
    return Error{"unsafe_beanstalk_listen"_code,
                 settings.listen +
                     " in the setting beanstalk.listen is not a loopback address, and the protocol of "
                     "beanstalkd has no authentication. Listen on 127.0.0.1 or on unix:PATH, or set "
                     "unsafe_plain_listen = true (--unsafe-plain-listen) in a trusted network"};
}

// A test clock is followed by what the protocol times itself, too: the TTR, pauses and timeouts.
Beanstalk::Beanstalk(EventLoop& loop, CommandPort& port, AuditPort* audit, BeanstalkOptions options,
                     std::size_t connections_max, bool has_own_thread)
    : engine_loop_(loop),
      own_loop_(has_own_thread ? std::make_unique<EventLoop>() : nullptr),
      near_port_(port, audit),
      far_port_(has_own_thread ? std::make_unique<BeanstalkFarPort>(near_port_, engine_loop_, *own_loop_) : nullptr),
      has_test_clock_(port.clock().state == ClockState::test),
      now_ms_(has_test_clock_ ? std::function<std::int64_t()>([this] { return sessions_port().server_ms(); })
                              : monotonic_now_ms),
      service_(sessions_port(), std::move(options), now_ms_),
      server_(own_loop_ ? *own_loop_ : engine_loop_, {.connections_max = connections_max},
              [this](StreamClient& client) { return service_.open(client); }) {}

// The thread uses all members, so it ends first.
Beanstalk::~Beanstalk() {
    if (!own_loop_) return;
    own_loop_->stop();
    running_ = nullptr;
}

Result<std::unique_ptr<Beanstalk>> Beanstalk::open(EventLoop& loop, CommandPort& port,
                                                   const BeanstalkSettings& settings, const HttpLimits& limits,
                                                   const std::string& instance, AuditPort* audit, bool has_own_thread) {
    const Result<std::optional<gid_t>> group = socket_group(settings);
    if (!group) return group.error();
    auto opened = std::unique_ptr<Beanstalk>(new Beanstalk(
        loop, port, audit, session_options(settings, limits, instance), limits.connections_max, has_own_thread));
    Result<std::string> address = opened->server_.listen(settings.listen, *group);
    if (!address) return std::move(address).error();
    opened->address_ = *std::move(address);
    if (!has_own_thread) return opened;
    Result<std::shared_ptr<void>> started = start_io_thread("dw-beanstalk", [of = opened.get()] {
        of->own_loop_->run([of] {
            const EventLoop::TimePoint next = of->end_due();
            of->publish();
            return next;
        });
    });
    if (!started) return std::move(started).error();
    opened->running_ = *std::move(started);
    return opened;
}

std::optional<BoundAddress> Beanstalk::bound() const {
    if (address_.starts_with("unix:")) return std::nullopt;
    const std::size_t colon = address_.rfind(':');
    BoundAddress bound{.host = address_.substr(0, colon)};
    std::from_chars(address_.data() + colon + 1, address_.data() + address_.size(), bound.port);
    return bound;
}

EventLoop::TimePoint Beanstalk::run_due() {
    if (!far_port_) return end_due();
    if (far_port_->publish() && has_test_clock_) own_loop_->post([this] { service_.run_due(); });
    return EventLoop::kOnEvents;
}

EventLoop::TimePoint Beanstalk::end_due() {
    const std::int64_t at_ms = service_.run_due();
    if (at_ms == BeanstalkService::kNever) return EventLoop::kOnEvents;
    return EventLoop::TimePoint(std::chrono::milliseconds(monotonic_now_ms() + at_ms - now_ms_() + 1));
}

void Beanstalk::publish() {
    const bool is_over = is_stopped_ && server_.connections() == 0;
    const std::lock_guard lock(mutex_);
    published_.counters = service_.counters();
    published_.connections = server_.connections();
    // The engine's loop may be waiting for nothing else.
    if (is_over && !std::exchange(published_.is_over, true)) engine_loop_.post([] {});
}

Beanstalk::State Beanstalk::state() const {
    if (!own_loop_) return {service_.counters(), server_.connections(), is_stopped_ && server_.connections() == 0};
    const std::lock_guard lock(mutex_);
    return published_;
}

void Beanstalk::run(std::function<void()> function) {
    if (!own_loop_) return function();
    own_loop_->post(std::move(function));
}

void Beanstalk::drain() {
    run([this] { service_.drain(); });
}

void Beanstalk::stop() {
    run([this] {
        server_.stop_accepting();
        service_.stop();
        is_stopped_ = true;
    });
}

}  // namespace duewheel
