#include "net/http/http_threads.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/batch_queue.h"
#include "net/http/far_request.h"

namespace duewheel {
namespace {

// What an I/O thread passes to the owner's.
struct FarEvent {
    std::shared_ptr<FarRequest> request;
    bool is_gone = false;  // its client; otherwise it is new
};
using FarEvents = BatchQueue<FarEvent>;

HttpLimits divided(HttpLimits limits, std::size_t parts) {
    limits.connections_max = (limits.connections_max + parts - 1) / parts;
    limits.unfinished_bytes_max /= parts;
    limits.unsent_bytes_max /= parts;
    return limits;
}

}  // namespace

// The members are of the thread, except the loop's post() and those said to be shared.
struct HttpThreads::Thread final : AfterTurn {
    Thread(Parts& owner, const HttpLimits& limits, HttpErrorFormatter format_error, HttpRouter router);
    ~Thread();

    void end();
    void set_gatekeeper(bool is_running);
    void pass(const HttpRequest& request, HttpReply reply);
    bool after_turn() override;
    HttpCounters counters();

    Parts& owner;
    EventLoop loop;
    std::shared_ptr<FarRequest::Replies> replies;  // shared with the requests that have no response
    std::shared_ptr<FarEvents> events;
    HttpServer server;
    std::mutex mutex;
    HttpCounters published;                 // guarded by mutex
    std::atomic<std::uint64_t> open{0};     // connections at the end of the last iteration
    std::atomic<std::uint64_t> adopted{0};  // clients since the start
    std::uint64_t dealt = 0;                // clients; of the first thread
    std::shared_ptr<void> runs;             // of the owner; null: it does not run
};

struct HttpThreads::Parts {
    Parts(EventLoop& of, StartThread with, const HttpLimits& of_all, HttpHandler to)
        : loop(of), start(std::move(with)), limits(of_all), handler(std::move(to)) {}

    ~Parts();

    std::function<void(int)> next_taker();
    void take(FarEvent&& event);
    void decide(Thread& thread, const HttpRequest& request, std::function<void(HttpAdmission)> admit);
    // Calls it with each server, on the server's thread: at once or, if that runs, later.
    void with_servers(const std::function<void(HttpServer&)>& call);
    // Runs it on the owner's thread, at once or later.
    void run(std::function<void()> function);

    EventLoop& loop;
    const StartThread start;
    const HttpLimits limits;
    HttpHandler handler;
    HttpPreparer prepare;  // empty: nothing is prepared
    HttpGatekeeper gatekeeper;
    std::unique_ptr<HttpServer> own;  // without threads
    std::vector<std::unique_ptr<Thread>> threads;
    bool is_running = false;
    std::size_t draining = 0;  // threads
    std::function<void()> drained;
    // Posted functions check it, and do nothing.
    const std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

HttpThreads::Thread::Thread(Parts& of, const HttpLimits& limits, HttpErrorFormatter format_error, HttpRouter router)
    : owner(of),
      replies(FarRequest::Replies::open(owner.loop, loop,
                                        [](FarReply&& reply) {
                                            const std::shared_ptr<FarRequest> request = reply.request;
                                            request->carry_out(std::move(reply));
                                        })),
      events(FarEvents::open(loop, owner.loop, [this](FarEvent&& event) { owner.take(std::move(event)); })),
      server(
          loop, limits, [this](const HttpRequest& request, HttpReply reply) { pass(request, std::move(reply)); },
          std::move(format_error), std::move(router)) {
    loop.add(*this);
}

HttpThreads::Thread::~Thread() {
    events->close();
    replies->close();
    loop.remove(*this);
}

void HttpThreads::Thread::end() {
    loop.stop();
    runs = nullptr;
}

// Passes what the gatekeeper is asked to the owner.
void HttpThreads::Thread::set_gatekeeper(bool is_running) {
    const auto set = [this] {
        server.set_late_gatekeeper([this](const HttpRequest& request, std::function<void(HttpAdmission)> admit) {
            owner.decide(*this, request, std::move(admit));
        });
    };
    if (!is_running) return set();
    loop.post(set);
}

void HttpThreads::Thread::pass(const HttpRequest& request, HttpReply reply) {
    const auto far = std::make_shared<FarRequest>(request, std::move(reply), owner.limits.stream_bytes_max, replies);
    far->watch([this](std::shared_ptr<FarRequest> gone) { events->send({std::move(gone), true}); });
    if (owner.prepare) far->copy().set_prepared(owner.prepare(request));
    events->send({far});
}

bool HttpThreads::Thread::after_turn() {
    open.store(server.counters().connections_open, std::memory_order_relaxed);
    const std::lock_guard lock(mutex);
    published = server.counters();
    return false;
}

HttpCounters HttpThreads::Thread::counters() {
    const std::lock_guard lock(mutex);
    return published;
}

// The threads use each other and all members, so they end first.
HttpThreads::Parts::~Parts() {
    for (const auto& thread : threads) thread->end();
}

// The thread with the fewest connections, with those that are on their way to it.
std::function<void(int)> HttpThreads::Parts::next_taker() {
    const auto load = [](const std::unique_ptr<Thread>& thread) {
        return thread->open.load(std::memory_order_relaxed) + thread->dealt -
               thread->adopted.load(std::memory_order_relaxed);
    };
    Thread& thread = **std::min_element(threads.begin(), threads.end(),
                                        [&](const auto& left, const auto& right) { return load(left) < load(right); });
    if (&thread == threads.front().get()) return nullptr;
    ++thread.dealt;
    return [&thread](int socket) {
        thread.loop.post([&thread, socket] {
            thread.server.adopt(socket);
            thread.adopted.fetch_add(1, std::memory_order_relaxed);
        });
    };
}

void HttpThreads::Parts::take(FarEvent&& event) {
    FarRequest& request = *event.request;
    if (event.is_gone) return request.tell_gone();
    HttpRequestCopy& copy = request.copy();
    handler(copy.request(), HttpReply(event.request, 0));
    copy.clear();
}

void HttpThreads::Parts::decide(Thread& thread, const HttpRequest& request, std::function<void(HttpAdmission)> admit) {
    // Shared, because a std::function is copyable.
    loop.post([this, &thread, head = std::make_shared<HttpRequestCopy>(request), admit = std::move(admit),
               here = std::weak_ptr(alive)] {
        if (here.expired()) return;
        thread.loop.post([admit, admission = gatekeeper(head->request())] { admit(admission); });
    });
}

void HttpThreads::Parts::with_servers(const std::function<void(HttpServer&)>& call) {
    if (own) return call(*own);
    for (const auto& thread : threads) {
        if (!is_running) {
            call(thread->server);
        } else {
            thread->loop.post([call, &server = thread->server] { call(server); });
        }
    }
}

void HttpThreads::Parts::run(std::function<void()> function) {
    if (own) return function();
    loop.post([function = std::move(function), here = std::weak_ptr(alive)] {
        if (!here.expired()) function();
    });
}

HttpThreads::HttpThreads(EventLoop& loop, std::size_t threads, StartThread start, const HttpLimits& limits,
                         HttpHandler handler, HttpErrorFormatter format_error, HttpRouter router)
    : parts_(std::make_unique<Parts>(loop, std::move(start), limits, std::move(handler))) {
    if (threads == 0) {
        parts_->own =
            std::make_unique<HttpServer>(loop, limits, parts_->handler, std::move(format_error), std::move(router));
        return;
    }
    const HttpLimits part = divided(limits, threads);
    while (parts_->threads.size() < threads) {
        parts_->threads.push_back(std::make_unique<Thread>(*parts_, part, format_error, router));
    }
    if (threads > 1) parts_->threads.front()->server.deal([parts = parts_.get()] { return parts->next_taker(); });
}

HttpThreads::~HttpThreads() = default;

Result<BoundAddress> HttpThreads::listen(std::string_view address) {
    const Result<BoundAddress> bound = bind(address);
    if (!bound) return bound;
    if (Status accepting = start_accepting(); !accepting) return std::move(accepting).error();
    return bound;
}

Result<BoundAddress> HttpThreads::bind(std::string_view address) {
    return parts_->own ? parts_->own->bind(address) : parts_->threads.front()->server.bind(address);
}

Status HttpThreads::start_accepting() {
    if (parts_->own) return parts_->own->start_accepting();
    if (std::exchange(parts_->is_running, true)) return {};
    if (Status accepting = parts_->threads.front()->server.start_accepting(); !accepting) return accepting;
    for (std::size_t number = 0; number < parts_->threads.size(); ++number) {
        Thread& thread = *parts_->threads[number];
        Result<std::shared_ptr<void>> started = parts_->start(number, [&thread] { thread.loop.run(); });
        if (!started) return std::move(started).error();
        thread.runs = *std::move(started);
    }
    return {};
}

void HttpThreads::drain(std::chrono::milliseconds deadline, std::function<void()> drained) {
    Parts& parts = *parts_;
    parts.draining = std::max<std::size_t>(parts.threads.size(), 1);
    parts.drained = std::move(drained);
    const auto end = [&parts] {
        if (--parts.draining == 0) parts.drained();
    };
    parts.with_servers(
        [&parts, deadline, end](HttpServer& server) { server.drain(deadline, [&parts, end] { parts.run(end); }); });
}

void HttpThreads::set_gatekeeper(HttpGatekeeper gatekeeper) {
    if (parts_->own) return parts_->own->set_gatekeeper(std::move(gatekeeper));
    parts_->gatekeeper = std::move(gatekeeper);
    for (const auto& thread : parts_->threads) thread->set_gatekeeper(parts_->is_running);
}

void HttpThreads::set_preparer(HttpPreparer prepare) {
    parts_->prepare = std::move(prepare);
}

void HttpThreads::set_clock(const std::function<InstantMs()>& now_ms) {
    parts_->with_servers([now_ms](HttpServer& server) { server.set_clock(now_ms); });
}

void HttpThreads::on_refusal(std::function<void(int, ErrorCode)> handler) {
    const auto tell = [parts = parts_.get(), handler = std::move(handler)](int status, ErrorCode code) {
        parts->run([handler, status, code] { handler(status, code); });
    };
    parts_->with_servers([tell](HttpServer& server) { server.on_refusal(tell); });
}

void HttpThreads::on_handshake_failure(std::function<void(const TlsFailure&)> handler) {
    const auto tell = [parts = parts_.get(), handler = std::move(handler)](const TlsFailure& failure) {
        parts->run([handler, failure] { handler(failure); });
    };
    parts_->with_servers([tell](HttpServer& server) { server.on_handshake_failure(tell); });
}

void HttpThreads::use_tls(const std::shared_ptr<const TlsContext>& context) {
    parts_->with_servers([context](HttpServer& server) { server.use_tls(context); });
}

HttpCounters HttpThreads::counters() const {
    if (parts_->own) return parts_->own->counters();
    HttpCounters sum;
    for (const auto& thread : parts_->threads) sum += thread->counters();
    return sum;
}

}  // namespace duewheel
