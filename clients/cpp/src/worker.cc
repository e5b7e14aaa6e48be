#include "duewheel/client/worker.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <thread>
#include <utility>

#include "core.h"
#include "json_text.h"
#include "stop_signals.h"
#include "thread_pool.h"
#include "wire.h"
#include "work.h"

namespace duewheel::client {

using namespace std::chrono_literals;
using detail::Work;

namespace {

constexpr auto kPollTime = 20s;
constexpr auto kErrorPause = 1s;       // after a call that failed for another reason than that there is no message
constexpr auto kGatherTime = 5ms;      // how long to wait for more free handlers before the next lease call
constexpr auto kSaidPause = 100ms;     // between two extensions that only carry progress
constexpr auto kStoppedWithin = 1s;    // how long handlers have to notice the request of their stop
constexpr auto kReleasedWithin = 30s;  // how long it tries to release what is left
constexpr int kReporters = 2;
constexpr int kUnreportedMax = 1000;  // messages of a queue whose handler has returned, while no outcome is accepted

using SteadyClock = std::chrono::steady_clock;

// Whether the same call may have success later: when the server is back, has room, or knows the token again.
bool may_be_repeated(const Error& error) {
    return error.family == Family::unavailable || error.family == Family::throttled ||
           error.family == Family::unauthorized;
}

LogLevel level_of(const Error& error) {
    return error.family == Family::unauthorized ? LogLevel::error : LogLevel::warning;
}

}  // namespace

// A queue with its handlers.
struct Route {
    std::string queue;
    std::map<std::string, std::function<Outcome(Work&)>> handlers{};  // by kind; "": any other
    int concurrency = 1;
    Duration lease{};
    int running = 0;                           // handlers; guarded by the mutex of the worker, as the next three
    int held = 0;                              // messages that are leased and not yet reported
    bool has_said = false;                     // whether a handler has said something
    Call<std::vector<Lease>>* poll = nullptr;  // the one on its way
    std::mutex& mutex;                         // that of the worker
    std::condition_variable freed{};           // when a handler has ended, or the worker stops
    std::condition_variable said{};            // when a handler has said something, or the worker has ended

    int held_max() const { return concurrency + kUnreportedMax; }
    int room() const { return std::min(concurrency - running, held_max() - held); }
    void note_said() {
        const std::lock_guard lock(mutex);
        has_said = true;
        said.notify_one();
    }
};

namespace detail {

const Lease& JobOfAnyType::lease() const {
    return work_.lease;
}
std::stop_token JobOfAnyType::stop_token() const {
    return work_.stop.get_token();
}

StopReason JobOfAnyType::stop_reason() const {
    const std::lock_guard lock(work_.mutex);
    return work_.reason;
}

std::chrono::steady_clock::time_point JobOfAnyType::deadline() const {
    const std::lock_guard lock(work_.mutex);
    return work_.deadline;
}

void JobOfAnyType::say(Json progress, Json checkpoint) {
    {
        const std::lock_guard lock(work_.mutex);
        if (!progress.text.empty()) work_.said.progress = std::move(progress);
        if (!checkpoint.text.empty()) work_.said.checkpoint = std::move(checkpoint);
    }
    work_.route.note_said();
}

}  // namespace detail

class Worker::Parts {
    using ByVerb = std::map<std::string, std::vector<Ended>>;

  public:
    Parts(const Client& client, WorkerOptions options)
        : client_(client), poller_(client), options_(std::move(options)) {}

    ~Parts() {
        stop(Duration::zero());
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] {
            return std::all_of(routes_.begin(), routes_.end(),
                               [](const auto& each) { return each.second->running == 0; });
        });
    }

    Route& route(const std::string& queue);
    Result<Nothing> start();
    void stop(Duration timeout);
    // A stop waits for handlers no longer.
    void hurry() {
        const std::lock_guard lock(mutex_);
        hurried_ = true;
        changed_.notify_all();
    }

    Client client_;
    AsyncClient poller_;
    const WorkerOptions options_;
    std::map<std::string, std::unique_ptr<Route>> routes_;
    std::vector<std::pair<std::string, ScheduleSettings>> schedules_;
    std::vector<Middleware> around_;

  private:
    void poll(Route& route);
    void begin(Route& route, Lease lease, SteadyClock::time_point leased);
    // The number of free handlers, when there are some; 0 when the worker stops.
    int wait_for_room(Route& route);
    Ending run(Work& work);
    Outcome call(Work& work, std::size_t depth);
    void finish(const std::shared_ptr<Work>& work, Ending ending);
    void forget(const std::shared_ptr<Work>& work);

    void beat(Route& route);
    void extend(Route& route, bool all);
    bool say(const std::shared_ptr<Work>& work, const Client& client);
    void extended(const std::shared_ptr<Work>& work, const Result<Answer>& result, SteadyClock::time_point sent);

    void report_all();
    void report(const std::string& verb, const std::vector<Ended>& all, ByVerb& again);

    // What it holds, of one queue or of all.
    Works held(const Route* route = nullptr);
    void wait_until_reported(Duration timeout, bool may_hurry);
    // Waits for a time; false if it ends early because of the condition, whose variables mutex_ guards.
    template <class Condition>
    bool pause(Duration time, Condition condition) {
        std::unique_lock lock(mutex_);
        return !changed_.wait_for(lock, time, condition);
    }
    void log(LogLevel level, const std::string& text) const;

    std::mutex lifecycle_;  // held while it starts or stops
    std::mutex mutex_;
    std::condition_variable changed_;  // when one of the next four has changed, and at the end of handlers after that
    std::set<std::shared_ptr<Work>> held_;  // leased and not yet reported; guarded by mutex_, as the next three
    bool stopping_ = false;                 // it leases no more
    bool hurried_ = false;
    bool ended_ = false;  // nothing is left to do
    Outbox outbox_;
    Executor executor_;
    std::unique_ptr<ThreadPool> pool_;
    std::vector<std::thread> pollers_;
    std::vector<std::thread> others_;  // that beat and report
};

Route& Worker::Parts::route(const std::string& queue) {
    std::unique_ptr<Route>& found = routes_[queue];
    if (!found) {
        found.reset(new Route{.queue = queue, .mutex = mutex_});
    }
    return *found;
}

Result<Nothing> Worker::Parts::start() {
    const std::lock_guard lifecycle(lifecycle_);
    {
        const std::lock_guard lock(mutex_);
        if (stopping_ || !pollers_.empty()) return Nothing{};
    }
    for (const auto& [name, settings] : schedules_) {
        if (const Result<Json> set = client_.set_schedule(name, Content{}, settings); !set) return set.error();
    }
    std::size_t handlers = 0;
    for (const auto& [queue, route] : routes_) handlers += static_cast<std::size_t>(route->concurrency);
    executor_ = options_.executor;
    if (!executor_) {
        pool_ = std::make_unique<ThreadPool>(handlers);
        executor_ = [pool = pool_.get()](std::function<void()> function) { pool->post(std::move(function)); };
    }
    for (const auto& [queue, each] : routes_) {
        pollers_.emplace_back([this, route = each.get()] { poll(*route); });
        others_.emplace_back([this, route = each.get()] { beat(*route); });
    }
    for (int i = 0; i < kReporters; ++i) others_.emplace_back([this] { report_all(); });
    return Nothing{};
}

void Worker::Parts::stop(Duration timeout) {
    const std::lock_guard lifecycle(lifecycle_);
    {
        const std::lock_guard lock(mutex_);
        if (ended_) return;
        stopping_ = true;
        for (const auto& [queue, route] : routes_) {
            if (route->poll != nullptr) route->poll->cancel();
            route->freed.notify_one();
        }
        changed_.notify_all();
    }
    for (std::thread& poller : pollers_) poller.join();  // for a message that came at the last moment
    wait_until_reported(timeout, true);
    for (const auto& work : held()) work->request_stop(StopReason::stopping);
    if (timeout > Duration::zero()) wait_until_reported(kStoppedWithin, true);
    for (const auto& work : held()) {
        if (work->disown()) outbox_.add({work, Ending::release()});
    }
    if (!others_.empty()) wait_until_reported(kReleasedWithin, false);
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        for (const auto& [queue, route] : routes_) route->said.notify_one();
        changed_.notify_all();
    }
    outbox_.close();
    for (std::thread& other : others_) other.join();
}

void Worker::Parts::wait_until_reported(Duration timeout, bool may_hurry) {
    pause(timeout, [this, may_hurry] { return held_.empty() || (may_hurry && hurried_); });
}

Works Worker::Parts::held(const Route* route) {
    const std::lock_guard lock(mutex_);
    Works works;
    for (const auto& work : held_) {
        if (route == nullptr || &work->route == route) works.push_back(work);
    }
    return works;
}

void Worker::Parts::poll(Route& route) {
    while (const int room = wait_for_room(route)) {
        const auto asked = SteadyClock::now();
        Call<std::vector<Lease>> call = poller_.lease(route.queue, {.max = std::min<std::int64_t>(room, kManyMax),
                                                                    .lease = route.lease,
                                                                    .wait = kPollTime,
                                                                    .worker = options_.name});
        {
            const std::lock_guard lock(mutex_);
            route.poll = &call;
            if (stopping_) call.cancel();
        }
        Result<std::vector<Lease>> leases = call.get();
        bool is_stopping = false;
        {
            const std::lock_guard lock(mutex_);
            route.poll = nullptr;
            is_stopping = stopping_;
        }
        if (!leases && !is_stopping) {
            log(level_of(leases.error()), "no messages were leased from " + route.queue + ": " + leases.error().text());
            pause(kErrorPause, [this] { return stopping_; });
        }
        if (!leases) continue;
        for (Lease& lease : std::move(leases).value()) begin(route, std::move(lease), asked);
    }
}

void Worker::Parts::begin(Route& route, Lease lease, SteadyClock::time_point leased) {
    // Shared by the thread of the handler, the one that extends and the one that reports.
    const auto work = std::make_shared<Work>(std::move(lease), route);
    work->deadline = leased + std::chrono::duration_cast<SteadyClock::duration>(route.lease);
    bool is_late = false;
    {
        const std::lock_guard lock(mutex_);
        held_.insert(work);
        ++route.running;
        ++route.held;
        is_late = stopping_;
    }
    if (is_late) return finish(work, Ending::release());
    executor_([this, work] { finish(work, run(*work)); });
}

int Worker::Parts::wait_for_room(Route& route) {
    std::unique_lock lock(mutex_);
    route.freed.wait(lock, [&] { return stopping_ || route.room() > 0; });
    route.freed.wait_for(lock, kGatherTime, [&] { return stopping_ || 2 * route.room() >= route.concurrency; });
    return stopping_ ? 0 : route.room();
}

Ending Worker::Parts::run(Work& work) {
    Outcome outcome;
    try {
        outcome = call(work, 0);
        if (!outcome.result.text.empty()) outcome.result = to_json(outcome.result);  // it may be no JSON
    } catch (const std::exception& thrown) {
        outcome = failed(thrown.what());
    } catch (...) {
        outcome = failed("the handler threw something that is no std::exception");
    }
    if (outcome.after < Duration::zero())
        outcome = failed("the time until a retry or the end of a snooze is negative: " + duration_text(outcome.after));
    switch (outcome.kind) {
        case Outcome::Kind::done:
            return Ending::ack(outcome.result);
        case Outcome::Kind::snoozed:
            return Ending::release(outcome.after);
        case Outcome::Kind::retry:
            return Ending::fail(outcome.reason, {.retry_in = outcome.after});
        case Outcome::Kind::dead:
            return Ending::fail(outcome.reason, {.dead = true});
        case Outcome::Kind::failed:
            break;
    }
    {
        const std::lock_guard lock(work.mutex);
        if (work.reason == StopReason::stopping) return Ending::release();
    }
    log(LogLevel::warning, "a handler of " + work.route.queue + " failed at attempt " +
                               std::to_string(work.lease.attempt) + " of message " + work.lease.id + ": " +
                               outcome.reason);
    return Ending::fail(outcome.reason);
}

Outcome Worker::Parts::call(Work& work, std::size_t depth) {
    if (depth < around_.size()) return around_[depth](work.lease, [&] { return call(work, depth + 1); });
    const auto& handlers = work.route.handlers;
    const auto header = work.lease.headers.find("kind");
    const std::string kind = header == work.lease.headers.end() ? "" : header->second;
    auto found = handlers.find(kind);
    if (found == handlers.end()) found = handlers.find("");
    if (found == handlers.end())
        return failed("this worker has no handler for the kind `" + kind + "` of queue " + work.route.queue);
    return found->second(work);
}

// Makes room for another message. The outcome is reported by another thread.
void Worker::Parts::finish(const std::shared_ptr<Work>& work, Ending ending) {
    if (work->disown()) outbox_.add({work, std::move(ending)});
    const std::lock_guard lock(mutex_);
    Route& route = work->route;
    const int room = route.concurrency - --route.running;
    // What wait_for_room() waits for has come true, and not what it has seen before.
    if (room == 1 || (2 * room >= route.concurrency && 2 * (room - 1) < route.concurrency)) route.freed.notify_one();
    if (stopping_) changed_.notify_all();
}

void Worker::Parts::forget(const std::shared_ptr<Work>& work) {
    const std::lock_guard lock(mutex_);
    held_.erase(work);
    if (Route& route = work->route; route.held-- >= route.held_max()) route.freed.notify_one();
    if (held_.empty()) changed_.notify_all();
}

// While an outcome cannot be reported, its lease is extended as soon as that works again, so it is not given up until
// the worker ends.
void Worker::Parts::report_all() {
    for (std::vector<Ended> taken = outbox_.take(); !taken.empty(); taken = outbox_.take()) {
        ByVerb left{{taken.front().ending.verb, taken}};
        do {
            for (const auto& [verb, all] : std::exchange(left, {})) report(verb, all, left);
        } while (!left.empty() && pause(kErrorPause, [this] { return ended_; }));
        for (const Ended& ended : taken) forget(ended.work);
    }
}

// Tells the server endings of one verb, and appends those to be told again.
void Worker::Parts::report(const std::string& verb, const std::vector<Ended>& all, ByVerb& again) {
    // The next attempts get the last checkpoints; no outcome waits for a server that cannot be reached.
    for (const Ended& ended : all) {
        if (verb == "ack" || !say(ended.work, client_)) break;
    }
    Json body{"{\"leases\":["};
    for (const Ended& ended : all) {
        body.text += (&ended == &all.front() ? "{\"token\":" : ",{\"token\":");
        append_quoted(body.text, ended.work->lease.token);
        (body.text += ended.ending.members) += '}';
    }
    body.text += "]}";
    const Result<Json> answer = client_.call("POST", "/leases:" + verb, body);
    if (!answer && may_be_repeated(answer.error())) {
        log(level_of(answer.error()),
            verb + " of " + std::to_string(all.size()) + " messages is not reported yet: " + answer.error().text());
        again[verb].insert(again[verb].end(), all.begin(), all.end());
        return;
    }
    if (!answer && all.size() > 1) {  // one of them is the reason
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
        report(verb, {all.begin(), middle}, again);
        return report(verb, {middle, all.end()}, again);
    }
    const std::vector<std::string_view> results =
        answer ? elements_of(member_of(answer->text, "results")) : std::vector<std::string_view>();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::optional<Error> refusal = !answer              ? answer.error()
                                             : i < results.size() ? problem_of(results[i])
                                                                  : std::nullopt;
        if (!refusal) continue;
        const std::string which = "the " + verb + " of message " + all[i].work->lease.id;
        if (may_be_repeated(*refusal)) {
            log(level_of(*refusal), which + " is not reported yet: " + refusal->text());
            again[verb].push_back(all[i]);
        } else if (refusal->code == "lease_ended") {
            log(LogLevel::warning, which + " came too late, its lease had ended: " + refusal->text());
        } else {
            log(LogLevel::error, which + " was refused: " + refusal->text());
            // A result that is too large, for example, fails visibly, instead of being repeated for ever.
            if (!all[i].ending.is_last) report("fail", {{all[i].work, Ending::refused(verb, *refusal)}}, again);
        }
    }
}

// Extends the leases of a queue at a third of their length, and at once those of handlers that have said something.
void Worker::Parts::beat(Route& route) {
    const Duration period = std::max<Duration>(route.lease / 3, 1ms);
    auto due = SteadyClock::now() + period;
    while (true) {
        bool is_due = false;
        {
            std::unique_lock lock(mutex_);
            is_due = !route.said.wait_until(lock, due, [&] { return ended_ || route.has_said; });
            if (ended_) return;
            if (!is_due) route.has_said = false;
        }
        if (is_due) due = std::max(due, SteadyClock::now()) + period;
        extend(route, is_due);
        if (!is_due) pause(std::min<Duration>(kSaidPause, due - SteadyClock::now()), [this] { return ended_; });
    }
}

// Sends what handlers have said one by one, and, if all are due, extends all other leases with one request.
void Worker::Parts::extend(Route& route, bool all) {
    const Duration third = std::max<Duration>(route.lease / 3, 1s);  // then the next beat is due
    const Client client = client_.with_timeout(std::min(third, client_.timeout()));
    Works silent;
    for (const auto& work : held(&route)) {
        if (work->has_said()) {
            say(work, client);
        } else {
            silent.push_back(work);
        }
    }
    for (std::size_t begin = 0; all && begin < silent.size(); begin += kManyMax) {
        const std::size_t end = std::min(silent.size(), begin + kManyMax);
        std::vector<std::string> tokens;
        for (std::size_t i = begin; i < end; ++i) tokens.push_back(silent[i]->lease.token);
        const auto sent = SteadyClock::now();
        const auto results = client.extend_many(tokens, {.lease = route.lease});
        if (!results) {
            log(LogLevel::warning, "the leases of " + std::to_string(tokens.size()) + " messages of " + route.queue +
                                       " were not extended: " + results.error().text());
            continue;
        }
        for (std::size_t i = 0; i < std::min(tokens.size(), results->size()); ++i)
            extended(silent[begin + i], (*results)[i], sent);
    }
}

// Extends the lease with what its handler has said, if it has. False if the same may have success later.
bool Worker::Parts::say(const std::shared_ptr<Work>& work, const Client& client) {
    std::unique_lock saying(work->saying);
    if (!work->has_said()) return true;
    ExtendOptions said = work->take_said();
    said.lease = work->route.lease;
    const auto sent = SteadyClock::now();
    Result<Answer> result = client.extend(work->lease.token, said);
    const bool is_later = !result && may_be_repeated(result.error());
    if (is_later) work->say_again(std::move(said));
    saying.unlock();
    if (!result && !is_later && result.error().code != "lease_ended") {
        log(LogLevel::warning, "the progress or checkpoint of message " + work->lease.id + " of " + work->route.queue +
                                   " was refused, its lease is extended without: " + result.error().text());
        result = client.extend(work->lease.token, {.lease = work->route.lease});
    }
    extended(work, result, sent);
    return !is_later;
}

void Worker::Parts::extended(const std::shared_ptr<Work>& work, const Result<Answer>& result,
                             SteadyClock::time_point sent) {
    if (result) {
        {
            const std::lock_guard lock(work->mutex);
            work->deadline = sent + std::chrono::duration_cast<SteadyClock::duration>(work->route.lease);
        }
        if (result->cancel_requested) work->request_stop(StopReason::cancel_requested);
        return;
    }
    const std::string which = "message " + work->lease.id + " of " + work->route.queue + ": " + result.error().text();
    if (result.error().code != "lease_ended") return log(LogLevel::warning, "a lease was not extended, " + which);
    if (!work->disown()) return;
    log(LogLevel::warning, "a lease was lost, its handler is asked to stop, " + which);
    work->request_stop(StopReason::lease_lost);
    forget(work);
}

void Worker::Parts::log(LogLevel level, const std::string& text) const {
    if (options_.log) return options_.log(level, text);
    std::fprintf(stderr, "duewheel: %s\n", text.c_str());
}

Worker::Worker(const Client& client, WorkerOptions options)
    : parts_(std::make_unique<Parts>(client, std::move(options))) {}
Worker::~Worker() = default;

void Worker::add(const std::string& queue, HandleOptions options, Handle handle) {
    Route& route = parts_->route(queue);
    route.concurrency = std::max(route.concurrency, options.concurrency);
    route.lease = options.lease;
    route.handlers[options.kind] = std::move(handle);
}

void Worker::add_schedule(const std::string& name, ScheduleSettings settings) {
    settings.queue = name;
    parts_->schedules_.emplace_back(name, std::move(settings));
}

Outcome Worker::answer_check(const Lease& lease, Verdict verdict) const {
    if (!lease.check) return dead("this message is no check of a transaction");
    if (verdict == Verdict::unknown) return failed("what became of the transaction is not known yet");
    const std::string& id = lease.check->message;
    const Result<Answer> answer =
        verdict == Verdict::committed ? parts_->client_.commit(id) : parts_->client_.rollback(id);
    return answer ? done() : failed(answer.error().text());
}

void Worker::around(Middleware middleware) {
    parts_->around_.push_back(std::move(middleware));
}
Result<Nothing> Worker::start() {
    return parts_->start();
}
void Worker::stop(Duration timeout) {
    parts_->stop(timeout);
}
void Worker::stop() {
    parts_->stop(parts_->options_.stop_timeout);
}

Result<Nothing> Worker::run(std::stop_token stop_requested) {
    StopSignals signals;
    if (!signals.has_signals()) {
        return Error{.family = Family::conflict,
                     .code = "running",
                     .detail = "a worker of this process is in run(): start() and stop() this one"};
    }
    if (Result<Nothing> started = start(); !started) return started;
    const std::stop_callback on_stop(std::move(stop_requested), [&signals] { signals.put(StopSignals::Event::stop); });
    signals.next();
    const std::jthread stopper([&] {
        stop();
        signals.put(StopSignals::Event::stopped);
    });
    while (signals.next() == StopSignals::Event::stop) parts_->hurry();
    return Nothing{};
}

}  // namespace duewheel::client
