// A client of Duewheel, a durable server for delayed and recurring messages.
//
//     using namespace std::chrono_literals;
//     duewheel::client::Client client("http://127.0.0.1:7420");
//     const auto mail = client.queue<std::string>("mail");
//     const auto receipt = mail.put("hello", {.delay = 10min}).value();
//     client.cancel(receipt.id).value();
//
// Client waits for each answer; the calls of AsyncClient return at once, to be awaited by coroutines (call.h). Both
// have the same calls. Every call is safe to repeat, and is repeated when its response is lost: a put without a key
// gets a random one. Each call has one deadline for all its attempts (ClientOptions). Copies of a client share its
// connections and its one thread, and may be used by several threads. Connections do not go through the proxy of the
// environment.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "duewheel/client/call.h"
#include "duewheel/client/content.h"
#include "duewheel/client/models.h"
#include "duewheel/client/result.h"

namespace duewheel::client {

class Core;
struct Request;

// Changes the bytes of payloads on their way out and in: encryption, or compression. Its functions may be called on any
// thread, and throw to refuse. If encode() does not return the same bytes for the same data, then the same put with the
// same key is a conflict.
struct PayloadCodec {
    std::string name{};  // stays with the messages: change it when old messages cannot be decoded any more
    std::function<std::string(const std::string&)> encode{};
    std::function<std::string(const std::string&)> decode{};
};

struct ClientOptions {
    std::string token{};         // an access token, "dw_..."
    std::string in_namespace{};  // the namespace of all calls; empty: `default`
    // The deadline of each call with all its attempts. A call that waits at the server has that time in addition.
    Duration timeout = std::chrono::seconds(30);
    std::string
        ca{};  // the certificate, as PEM, of the authority that signs the server's; empty: those the system trusts
    Executor executor{};  // resumes the coroutines that await calls; by default a thread of the client
    std::shared_ptr<const PayloadCodec> codec{};  // shared with calls, which may end after the client; nullptr: none
    // Called before each put, on the thread of the caller: it may change the options, to add the header of a trace for
    // example.
    std::function<void(std::string_view queue, PutOptions& options)> before_put{};
};

// Names a message: by its id, or by the key that it was put with.
struct Which {
    Which(std::string message) : id(std::move(message)) {}
    Which(const char* message) : id(message) {}
    static Which keyed(std::string queue, std::string key) {
        Which which("");
        which.queue = std::move(queue), which.key = std::move(key);
        return which;
    }

    std::string id;
    std::string queue{};
    std::string key{};
};

// What a call made of a message.
struct Answer {
    std::string outcome{};
    std::string state{};
    bool cancel_requested = false;  // the worker should stop
    std::string raw{};
};

struct LeaseOptions {
    std::int64_t max = 1;             // messages
    std::int64_t min = 1;             // how many to wait for
    std::optional<Duration> lease{};  // by default that of the queue
    Duration wait{};                  // how long to wait for messages
    std::string worker{};             // a name, which the message shows
};

struct FailOptions {
    std::optional<Duration> retry_in{};  // instead of the backoff of the retry rule
    bool dead = false;                   // no further attempt
};

struct ExtendOptions {
    std::optional<Duration> lease{};  // from now on; by default that of the queue
    Json progress{};                  // 0 to 1, or any JSON of up to 1 KiB
    Json checkpoint{};                // any JSON of up to 16 KiB, for the next attempt
};

struct ListOptions {
    std::string state{};       // "dead": the dead letters; empty: the unfinished messages
    std::int64_t limit = 100;  // of messages in a page
    std::string cursor{};      // that of the page before; empty: the first page
};

struct Page {
    std::vector<Message> messages{};  // by due time, without content
    std::string cursor{};             // of the next page; empty: this is the last one
    std::string raw{};
};

// One message of put_many().
struct Put {
    Content data{};  // encode(value)
    PutOptions options{};
};

struct Clock {
    Instant now{};
    std::string state{};  // "test": advance() moves it
    std::string raw{};
};

inline constexpr std::size_t kManyMax = 1000;  // messages or leases of one call

// How a client gives answers: see Client and AsyncClient.
struct Blocking {
    template <class T>
    using Answered = Result<T>;
    template <class T>
    static Result<T> answered(Call<T> call) {
        return call.get();
    }
};
struct Awaited {
    template <class T>
    using Answered = Call<T>;
    template <class T>
    static Call<T> answered(Call<T> call) {
        return call;
    }
};

namespace detail {

// How the calls of a client are sent.
struct Sender {
    std::shared_ptr<Core> core;         // shared by all copies of a client
    std::optional<Duration> timeout{};  // instead of that of the options

    std::shared_ptr<Pending> send(Request request) const;
};

}  // namespace detail

template <class T, class Mode>
class Queue;

// Default arguments are written as PutOptions(): GCC before 13 destroys `{}` twice in the operand of co_await.
template <class Mode>
class BasicClient {
  public:
    template <class T>
    using Answered = typename Mode::template Answered<T>;

    // The server at a URL such as http://127.0.0.1:7420. It does not connect yet. Throws Failure, `bad_url`,
    // `bad_certificate` or `bad_token`, if an argument cannot be used.
    explicit BasicClient(const std::string& url, ClientOptions options = {});
    // The same client with another way to answer.
    template <class Other>
    explicit BasicClient(const BasicClient<Other>& other) : sender_(other.sender_) {}

    // The deadline of each call.
    Duration timeout() const;
    // The same client with another one.
    BasicClient with_timeout(Duration timeout) const {
        BasicClient other = *this;
        other.sender_.timeout = timeout;
        return other;
    }

    // The queue of this name, whose messages are of the type T. It makes no call.
    template <class T>
    Queue<T, Mode> queue(std::string name) const;

    // Puts a message: a string as text, Bytes as bytes, any other type by its Codec. Error `bad_data` if it cannot be
    // encoded.
    Answered<Receipt> put(const std::string& queue, Content data, PutOptions options = PutOptions()) const;
    template <class T>
    Answered<Receipt> put(const std::string& queue, const T& data, PutOptions options = PutOptions()) const {
        return encoded<Receipt>(data,
                                [&](Content content) { return put(queue, std::move(content), std::move(options)); });
    }
    // Puts up to kManyMax messages with one request. The results are in the order of the puts.
    Answered<std::vector<Result<Receipt>>> put_many(const std::string& queue, std::vector<Put> puts) const;
    // Puts a message that is delivered only after commit(). If this process dies before it commits or rolls back, the
    // server asks with a message in `check.queue` what became of it, which Worker::handle_checks() answers; without an
    // answer the message is rolled back.
    template <class T>
    Answered<Receipt> prepare(const std::string& queue, const T& data, CheckBack check,
                              PutOptions options = PutOptions()) const {
        options.transaction = Transaction{.check_back = std::move(check), .otherwise = "rollback"};
        return put(queue, data, std::move(options));
    }
    Answered<Answer> commit(const std::string& id) const { return act(id, "commit"); }
    Answered<Answer> rollback(const std::string& id) const { return act(id, "rollback"); }

    Answered<Message> get(const Which& which) const;
    // Waits for the end of the message, and returns it with its result; after the timeout, as it is then.
    Answered<Message> wait(const Which& which, Duration timeout) const;
    Answered<Page> list(const std::string& queue, const ListOptions& options = ListOptions()) const;
    // Cancels a message that no worker has.
    Answered<Answer> cancel(const Which& which) const;
    // Cancels a message. If a worker has it, the worker is asked to stop, and the outcome is "cancelling".
    Answered<Answer> cancel_running(const Which& which) const;
    // Changes the due time of a message ("delay" or "due"), or other members of its put.
    Answered<Answer> move(const Which& which, const Changes& changes) const;
    // Makes a scheduled message due now.
    Answered<Answer> fire(const std::string& id) const { return act(id, "fire"); }
    // Holds a message until it is kicked.
    Answered<Answer> hold(const std::string& id) const { return act(id, "hold"); }
    // Returns a held message or a dead letter to its queue.
    Answered<Answer> kick(const std::string& id) const { return act(id, "kick"); }
    // Ends a held message or a dead letter for good.
    Answered<Answer> discard(const std::string& id) const { return act(id, "discard"); }

    // Leases due messages. An attempt that follows a lost one waits for the rest of the time.
    Answered<std::vector<Lease>> lease(const std::string& queue, const LeaseOptions& options = LeaseOptions()) const;
    // Ends the message as done. The result, unless it is empty, is any JSON of up to 64 KiB, which the producer gets
    // with wait().
    Answered<Answer> ack(const std::string& token, Json result = Json()) const;
    // Ends the attempt as failed: the outcome is "retrying", or "dead" after the last attempt.
    Answered<Answer> fail(const std::string& token, const std::string& reason,
                          FailOptions options = FailOptions()) const;
    // Makes the lease last from now on. The answer has cancel_requested if the worker should stop.
    Answered<Answer> extend(const std::string& token, ExtendOptions options = ExtendOptions()) const;
    // Returns the message to its queue after a delay. The attempt does not count.
    Answered<Answer> release(const std::string& token, Duration delay = {}) const;
    // Holds the message until it is kicked.
    Answered<Answer> hold_leased(const std::string& token) const;
    // The same for up to kManyMax leases. The results are in the order of the tokens.
    using Answers = std::vector<Result<Answer>>;
    Answered<Answers> ack_many(const std::vector<std::string>& tokens, Json result = Json()) const;
    Answered<Answers> fail_many(const std::vector<std::string>& tokens, const std::string& reason,
                                FailOptions options = FailOptions()) const;
    Answered<Answers> extend_many(const std::vector<std::string>& tokens,
                                  ExtendOptions options = ExtendOptions()) const;
    Answered<Answers> release_many(const std::vector<std::string>& tokens, Duration delay = {}) const;

    Answered<QueueState> get_queue(const std::string& queue) const;
    // Creates a queue, or replaces all its settings.
    Answered<QueueState> set_queue(const std::string& queue, const QueueSettings& settings) const;
    Answered<QueueState> change_queue(const std::string& queue, const Changes& changes) const;
    Answered<QueueState> pause_queue(const std::string& queue) const { return act_on_queue(queue, "pause"); }
    Answered<QueueState> resume_queue(const std::string& queue) const { return act_on_queue(queue, "resume"); }
    // Delivers nothing of a group of the queue for this time, such as after a 429 of a customer's API. Zero ends it.
    Answered<Json> back_off_group(const std::string& queue, const std::string& group, Duration time) const;

    // Creates or replaces a schedule, whose messages have the data and go to `settings.queue`. The same call again
    // changes nothing, so a program may make it at each start. One of `cron`, `every`, `iso` and `at` sets the times.
    // The answers of calls on schedules and watchdogs are what the server shows.
    template <class T>
    Answered<Json> set_schedule(const std::string& name, const T& data, const ScheduleSettings& settings) const {
        return encoded<Json>(data, [&](const Content& content) { return set_schedule(name, content, settings); });
    }
    Answered<Json> set_schedule(const std::string& name, const Content& data, const ScheduleSettings& settings) const;
    Answered<Json> get_schedule(const std::string& name) const { return act_on("GET", "/schedules/", name); }
    // Ends a schedule. Messages that it has created stay.
    Answered<Json> delete_schedule(const std::string& name) const { return act_on("DELETE", "/schedules/", name); }
    // Creates or replaces a watchdog: it puts a message with the data into `settings.queue` unless it is fed within
    // `settings.timeout`.
    template <class T>
    Answered<Json> set_watchdog(const std::string& name, const T& data, const WatchdogSettings& settings) const {
        return encoded<Json>(data, [&](const Content& content) { return set_watchdog(name, content, settings); });
    }
    Answered<Json> set_watchdog(const std::string& name, const Content& data, const WatchdogSettings& settings) const;
    // Starts the time of a watchdog again.
    Answered<Json> feed_watchdog(const std::string& name) const { return act_on("POST", "/watchdogs/", name, ":feed"); }
    Answered<Json> delete_watchdog(const std::string& name) const { return act_on("DELETE", "/watchdogs/", name); }

    // The time of the server.
    Answered<Clock> clock() const;
    // Moves the time of a server that was started with --test-clock.
    Answered<Clock> advance(Duration by) const;
    // Any call of the HTTP API, by method and path below /v1 or the namespace: a way to what has no function here. The
    // body, unless it is empty, is JSON. The answer is what the server sent.
    Answered<Json> call(const std::string& method, const std::string& path, Json body = Json()) const;

  private:
    template <class Other>
    friend class BasicClient;

    // The answer to a call whose data could not be encoded.
    template <class T>
    Answered<T> refused(const std::string& detail) const {
        auto ended = std::make_shared<detail::Pending>();
        ended->finish(Error{.family = Family::invalid, .code = "bad_data", .detail = detail, .field = "data"});
        ended->cancel = [] {};
        return Mode::answered(Call<T>(std::move(ended), nullptr));
    }
    template <class T, class Data, class Go>
    Answered<T> encoded(const Data& data, Go&& go) const {
        Content content;
        try {
            content = encode(data);
        } catch (const std::exception& thrown) {
            return refused<T>(thrown.what());
        }
        return go(std::move(content));
    }
    Answered<Answer> act(const std::string& id, const std::string& verb) const;
    Answered<QueueState> act_on_queue(const std::string& queue, const std::string& verb) const;
    Answered<Json> act_on(const char* method, const char* kind, const std::string& name, const char* verb = "") const;

    detail::Sender sender_;
};

extern template class BasicClient<Blocking>;
extern template class BasicClient<Awaited>;
using Client = BasicClient<Blocking>;
using AsyncClient = BasicClient<Awaited>;

// A queue whose messages have one type.
template <class T, class Mode = Blocking>
class Queue {
  public:
    template <class Value>
    using Answered = typename Mode::template Answered<Value>;

    Queue(BasicClient<Mode> client, std::string name) : client_(std::move(client)), name_(std::move(name)) {}

    // The same queue for messages of one of several types: a put has the header `kind`, and a handler gets only
    // messages that have it.
    template <class Other = T>
    Queue<Other, Mode> of_kind(std::string kind) const {
        Queue<Other, Mode> queue(client_, name_);
        queue.kind_ = std::move(kind);
        return queue;
    }

    // See BasicClient.
    Answered<Receipt> put(const T& data, PutOptions options = PutOptions()) const {
        return client_.put(name_, data, with_kind(std::move(options)));
    }
    Answered<Receipt> prepare(const T& data, CheckBack check, PutOptions options = PutOptions()) const {
        return client_.prepare(name_, data, std::move(check), with_kind(std::move(options)));
    }
    // Puts up to kManyMax messages with the same options. Throws what the codec throws.
    Answered<std::vector<Result<Receipt>>> put_all(const std::vector<T>& all,
                                                   const PutOptions& options = PutOptions()) const {
        std::vector<Put> puts;
        for (const T& data : all) puts.push_back({encode(data), with_kind(options)});
        return client_.put_many(name_, std::move(puts));
    }
    // The message that was put with a key.
    Which keyed(std::string key) const { return Which::keyed(name_, std::move(key)); }

    const std::string& name() const { return name_; }
    const std::string& kind() const { return kind_; }

  private:
    template <class, class>
    friend class Queue;

    PutOptions with_kind(PutOptions options) const {
        if (!kind_.empty()) options.headers.emplace("kind", kind_);
        return options;
    }

    BasicClient<Mode> client_;
    std::string name_;
    std::string kind_{};
};

template <class Mode>
template <class T>
Queue<T, Mode> BasicClient<Mode>::queue(std::string name) const {
    return Queue<T, Mode>(*this, std::move(name));
}

}  // namespace duewheel::client
