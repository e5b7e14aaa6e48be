// A worker: it leases the messages of queues, and calls handlers.
//
//     Worker worker(client);
//     worker.handle<Email>("mail", [](Job<Email>& job) -> Outcome {
//         if (job.data.to.empty()) return dead("there is no address");
//         return done(send(job.data));
//     }, {.concurrency = 5});
//     worker.run().value();
//
// Each call of a handler has a thread of the worker, or runs on an executor (WorkerOptions). One more thread for each
// queue leases messages, one extends their leases at a third of their length, which a busy handler cannot hold up, and
// two report outcomes, many with one request.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "duewheel/client/client.h"

namespace duewheel::client {

// What becomes of a message when its handler returns. A handler may also return a value, which is the result of the
// message, or nothing. What it throws fails the attempt, and the message is delivered again by its retry rule.
struct Outcome {
    enum class Kind { done, failed, retry, snoozed, dead };

    Kind kind = Kind::done;
    Json result{};         // of done: any JSON of up to 64 KiB, which the producer gets with wait()
    std::string reason{};  // of the others but snoozed
    Duration after{};      // until a retry or the end of a snooze; a negative one fails the attempt
};

// The message is done, with a result of any type that has a Codec.
inline Outcome done() {
    return {};
}
template <class T>
Outcome done(const T& result) {
    return {.kind = Outcome::Kind::done, .result = to_json(result)};
}
// The attempt has failed, and the next one follows by the retry rule.
inline Outcome failed(std::string reason) {
    return {.kind = Outcome::Kind::failed, .reason = std::move(reason)};
}
// The attempt has failed, and the next one follows after this time instead of the backoff.
inline Outcome retry_after(Duration after, std::string reason = "the handler asked for another attempt") {
    return {.kind = Outcome::Kind::retry, .reason = std::move(reason), .after = after};
}
// Not now: the message returns after this time, and the attempt does not count.
inline Outcome snooze(Duration delay) {
    return {.kind = Outcome::Kind::snoozed, .after = delay};
}
// No attempt will succeed: the message is a dead letter at once.
inline Outcome dead(std::string reason) {
    return {.kind = Outcome::Kind::dead, .reason = std::move(reason)};
}

// Why the stop of a handler was requested.
enum class StopReason {
    none,              // it was not
    lease_lost,        // another delivery may have begun, and what the handler returns changes nothing
    cancel_requested,  // a cancel of the running work was requested
    stopping,          // the time of the worker's stop is over; a handler that throws now has its message released
};

namespace detail {

struct Work;  // a leased message in a worker

// What the functions of all jobs have in common.
class JobOfAnyType {
  public:
    explicit JobOfAnyType(Work& work) : work_(work) {}

    // The message: id, group, attempt, due, lateness, headers ...
    const Lease& lease() const;
    // A stop is requested when the lease is lost, a cancel of the running work is requested, or the time of a stop is
    // over.
    std::stop_token stop_token() const;
    StopReason stop_reason() const;
    // Until when the lease lasts unless it is extended, by the clock of this machine.
    std::chrono::steady_clock::time_point deadline() const;

    // Says how far the work is: 0 to 1, or any JSON of up to 1 KiB. The checkpoint is what the next attempt gets if
    // this one does not end. Both are sent soon, by another thread, and only the newest ones; before a failure, at the
    // latest. On any thread.
    template <class P>
    void progress(const P& progress) {
        say(to_json(progress), {});
    }
    template <class P, class C>
    void progress(const P& progress, const C& checkpoint) {
        say(to_json(progress), to_json(checkpoint));
    }
    // What an earlier attempt said last; nothing if none said anything. Throws what the codec throws.
    template <class C>
    std::optional<C> checkpoint() const {
        if (lease().checkpoint.text.empty()) return {};
        return Codec<C>::decode(Content::json(lease().checkpoint.text));
    }

  private:
    void say(Json progress, Json checkpoint);

    Work& work_;
};

}  // namespace detail

// A message that a handler works on. It is valid until the handler returns.
template <class T>
struct Job : detail::JobOfAnyType {
    // Throws what data_of() throws.
    explicit Job(detail::Work& work) : JobOfAnyType(work), data(data_of<T>(lease())) {}

    T data;
};

// What became of a transaction.
enum class Verdict {
    unknown,      // ask again later
    committed,    // the message is delivered when it is due
    rolled_back,  // the message is not delivered
};

struct HandleOptions {
    int concurrency = 1;  // messages of the queue that are handled at once; the largest of all its handlers counts
    // How long a message waits when its worker was killed. It is extended each third of it while the handler runs.
    Duration lease = std::chrono::seconds(30);
    std::string kind{};  // only messages with this header `kind`; empty: all others
};

enum class LogLevel { warning, error };

struct WorkerOptions {
    std::string name{};                                // shown with the messages that it has
    Duration stop_timeout = std::chrono::seconds(25);  // how long running handlers have to finish when it stops
    Executor executor{};  // runs handlers; by default threads of the worker, as many as it has handlers
    std::function<void(LogLevel, const std::string&)> log{};  // on any thread; by default standard error
};

class Worker {
  public:
    // Is called in place of a handler, calls it with next, and returns what is to be its outcome: for logs, traces or
    // sessions of a database. What a handler throws passes through it.
    using Middleware = std::function<Outcome(const Lease& lease, const std::function<Outcome()>& next)>;

    // The client may wait or not (Client, AsyncClient): a worker needs only its connections.
    template <class Mode>
    explicit Worker(const BasicClient<Mode>& client, WorkerOptions options = {})
        : Worker(Client(client), std::move(options)) {}
    explicit Worker(const Client& client, WorkerOptions options = {});
    // Stops at once if it was not stopped, and waits until each handler has returned: one that ignores its stop holds
    // it up.
    ~Worker();
    Worker(const Worker&) = delete;

    // Makes a function, Outcome or any other value (Job<T>&), handle the messages of a queue. Messages whose kind has
    // no handler, and those that do not match T, fail their attempt. To be called before the worker starts, as the next
    // four.
    template <class T, class Handler>
    void handle(const std::string& queue, Handler handler, HandleOptions options = {}) {
        add(queue, std::move(options), [handler = std::move(handler)](detail::Work& work) -> Outcome {
            Job<T> job(work);
            using Returned = std::invoke_result_t<Handler&, Job<T>&>;
            if constexpr (std::is_void_v<Returned>) {
                handler(job);
                return done();
            } else if constexpr (std::same_as<Returned, Outcome>) {
                return handler(job);
            } else {
                return done(handler(job));
            }
        });
    }
    template <class T, class Mode, class Handler>
    void handle(const Queue<T, Mode>& queue, Handler handler, HandleOptions options = {}) {
        options.kind = queue.kind();
        handle<T>(queue.name(), std::move(handler), std::move(options));
    }
    // Makes a function, Verdict (Job<T>&), answer the checks of a queue: what became of a prepared message whose
    // producer did not say it. Its job has the data of that message.
    template <class T, class Handler>
    void handle_checks(const std::string& queue, Handler handler, HandleOptions options = {}) {
        handle<T>(
            queue,
            [this, handler = std::move(handler)](Job<T>& job) { return answer_check(job.lease(), handler(job)); },
            std::move(options));
    }
    // Makes a function run at the times of the settings, in one of all workers that declare it. The schedule is put by
    // this name when the worker starts, and its messages go to the queue of this name.
    template <class Handler>
    void schedule(const std::string& name, ScheduleSettings settings, Handler handler, HandleOptions options = {}) {
        add_schedule(name, std::move(settings));
        handle<Nothing>(
            name, [handler = std::move(handler)](Job<Nothing>&) { return handler(); }, std::move(options));
    }
    // Puts a middleware around all handlers. The first one is the outermost.
    void around(Middleware middleware);

    // Works until SIGTERM, SIGINT, or a request of `stop`, and then stops in order: it leases no more, waits for
    // running handlers, requests the stop of those that are late, and releases what is left without counting the
    // attempt. A second signal stops at once. Errors: that of a schedule that the server refused; `running` if another
    // worker of this process is in run().
    Result<Nothing> run(std::stop_token stop = {});
    // Puts the schedules, begins to work, and returns. A worker that was stopped does not start again.
    Result<Nothing> start();
    // Stops in order, as run() does, and returns when this worker holds no message any more.
    void stop(Duration timeout);
    void stop();

  private:
    class Parts;
    using Handle = std::function<Outcome(detail::Work&)>;

    void add(const std::string& queue, HandleOptions options, Handle handle);
    void add_schedule(const std::string& name, ScheduleSettings settings);
    Outcome answer_check(const Lease& lease, Verdict verdict) const;

    std::unique_ptr<Parts> parts_;
};

}  // namespace duewheel::client
