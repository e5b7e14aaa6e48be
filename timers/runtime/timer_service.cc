#include <algorithm>
#include <stdexcept>
#include <string>

#include "runtime/node_pool.h"
#include "runtime/timer_core.h"
#include <duewheel/timer_service.h>

namespace duewheel {
namespace {

Error full_error(std::size_t max_pending) {
    return Error{ErrorCode::timers_full,
                 "The timer service holds " + std::to_string(max_pending) +
                     " timers, as many as TimerOptions::max_pending allows. Schedule again when some have "
                     "fired or been cancelled, or allow more."};
}

Error stopped_error() {
    return Error{ErrorCode::timers_stopped,
                 "The timer service has been stopped or shut down, and takes no more timers."};
}

TimerOptions checked(TimerOptions options) {
    const auto refuse = [](const char* setting, std::chrono::nanoseconds value, const char* remedy) {
        throw std::invalid_argument("TimerService: TimerOptions::" + std::string(setting) + " is " +
                                    std::to_string(value.count()) + " ns. " + remedy);
    };
    if (options.tick.count() <= 0) refuse("tick", options.tick, "Give it at least 1 ns.");
    if (options.slow_task.count() < 0) refuse("slow_task", options.slow_task, "Give it 0 to measure nothing, or more.");
    return options;
}

[[noreturn]] void refuse_period(const char* what, std::chrono::nanoseconds value, const std::string& remedy) {
    throw std::invalid_argument("TimerService: " + std::string(what) + " of " + std::to_string(value.count()) +
                                " ns. " + remedy);
}

}  // namespace

TimerService::TimerService(TimerOptions options, const TimerClock& clock)
    : clock_(clock), tick_(options.tick), core_(std::make_unique<TimerCore>(checked(std::move(options)), clock)) {}

TimerService::~TimerService() {
    stop();
}

// ---- schedule ----

TimerService::NewNode::NewNode(TimerService& service) : service_(service), node_(&take_node()) {}

TimerService::NewNode::~NewNode() {
    if (node_ == nullptr) return;
    node_->task.reset();
    delete std::exchange(node_->repeat, nullptr);
    give_node(*node_);
}

Result<Timeout> TimerService::NewNode::arm(Tick deadline, std::uint32_t flags) && {
    const TimerCore::Refusal refusal = service_.core_->arm(*node_, deadline, 2, flags);
    if (refusal == TimerCore::Refusal::none) [[likely]]
        return Timeout(*std::exchange(node_, nullptr), Timeout::Adopt{});
    node_->word.store(0, std::memory_order_relaxed);
    return refusal == TimerCore::Refusal::full ? full_error(service_.core_->max_pending()) : stopped_error();
}

Result<Timeout> TimerService::repeat(TimerRepeat&& repeat, TimerTask&& task) {
    if (!task) refuse_empty_task();
    if (repeat.is_at_wall()) core_->watch_wall();
    const Tick deadline = repeat.is_at_wall() ? core_->tick_of_wall(repeat) : core_->tick_of(repeat.nominal);
    NewNode node(*this);
    node.task() = std::move(task);
    node.node_->repeat = new TimerRepeat(std::move(repeat));
    const bool at_wall = node.node_->repeat->is_at_wall();
    return std::move(node).arm(deadline, TimerNode::kRepeats | (at_wall ? TimerNode::kAtWall : 0));
}

Result<Timeout> TimerService::schedule_at(Instant wall, TimerTask task) {
    TimerRepeat once;
    once.kind = TimerRepeat::Kind::wall;
    once.wall = wall;
    return repeat(std::move(once), std::move(task));
}

Result<Timeout> TimerService::schedule_at_wall(Instant wall, TimerTask task) {
    TimerRepeat exact;
    exact.kind = TimerRepeat::Kind::wall;
    exact.wall = wall;
    exact.keeps_to_wall = true;
    return repeat(std::move(exact), std::move(task));
}

void TimerService::again_at(Instant wall) {
    RunningTask::innermost()->repeat->next = wall;
}

void TimerService::again_after(std::chrono::nanoseconds delay) {
    RunningTask::innermost()->repeat->period = delay;
}

Result<Timeout> TimerService::schedule_at_fixed_rate(std::chrono::nanoseconds first_after,
                                                     std::chrono::nanoseconds period, TimerTask task,
                                                     MissedPeriods missed) {
    if (period < tick_) {
        refuse_period("a fixed rate with a period", period,
                      "Take at least a tick, which is " + std::to_string(tick_.count()) +
                          " ns, or give the service a shorter one in TimerOptions::tick.");
    }
    TimerRepeat rate;
    rate.kind = TimerRepeat::Kind::rate;
    rate.missed = missed;
    rate.period = period;
    rate.nominal = instant_after(clock_.now(), std::max(first_after, std::chrono::nanoseconds(0)));
    return repeat(std::move(rate), std::move(task));
}

Result<Timeout> TimerService::schedule_with_fixed_delay(std::chrono::nanoseconds first_after,
                                                        std::chrono::nanoseconds delay, TimerTask task) {
    if (delay.count() <= 0) {
        refuse_period("a fixed delay", delay, "Take at least 1 ns, which ends at the next tick.");
    }
    TimerRepeat rest;
    rest.kind = TimerRepeat::Kind::delay;
    rest.period = delay;
    rest.nominal = instant_after(clock_.now(), std::max(first_after, std::chrono::nanoseconds(0)));
    return repeat(std::move(rest), std::move(task));
}

Result<Timeout> TimerService::schedule_cron(CronSchedule schedule, TimerTask task) {
    const std::optional<Instant> first = schedule.next(clock_.wall_now());
    if (!first) {
        return Error{ErrorCode::never_fires,
                     "The schedule '" + schedule.rule().text() +
                         "' has no firing left. Look at its fields with CronSchedule::upcoming()."};
    }
    TimerRepeat cron;
    cron.kind = TimerRepeat::Kind::cron;
    cron.wall = *first;
    cron.schedule = std::move(schedule);
    return repeat(std::move(cron), std::move(task));
}

Timeout TimerService::current() {
    TimerNode* const node = RunningTask::shown();
    if (node == nullptr) return {};
    const Timeout borrowed(*node, Timeout::Adopt{});
    Timeout copy = borrowed;
    const_cast<Timeout&>(borrowed).node_ = nullptr;
    return copy;
}

void TimerService::dispatch(TimerTask task) {
    if (!task) refuse_empty_task();
    core_->dispatch(std::move(task));
}

Tick TimerService::tick_of(TimerInstant deadline) const {
    return core_->tick_of(deadline);
}

Tick TimerService::tick_after_now(std::chrono::nanoseconds delay) const {
    return core_->tick_after_now(delay);
}

// ---- drive, end, figures ----

std::size_t TimerService::advance(TimerInstant now) {
    return core_->advance(now);
}

TimerInstant TimerService::next_expiry() {
    return core_->next_expiry();
}

void TimerService::set_alarm(TimerAlarm* alarm) {
    core_->set_alarm(alarm);
}

TimerInstant TimerService::rest() {
    return core_->rest();
}

void TimerService::wake_driver() {
    core_->wake_driver();
}

std::size_t TimerService::shutdown() {
    return core_->shutdown();
}

std::vector<Timeout> TimerService::stop() {
    return core_->stop();
}

bool TimerService::stopped() const {
    return core_->stopped();
}

std::size_t TimerService::pending() {
    return core_->pending();
}

TimerStatistics TimerService::statistics() {
    return core_->statistics();
}

void TimerService::before_fork() {
    core_->before_fork();
}

void TimerService::after_fork() {
    core_->after_fork();
}

}  // namespace duewheel
