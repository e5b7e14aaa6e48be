// The adapter of the C++ client: README.md of the scenarios, "The protocol". It reads and writes JSON with the
// functions of the client's wire, so that numbers stay exact.
#include <atomic>
#include <fstream>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <thread>

#include "duewheel/client/worker.h"
#include "wire.h"

namespace duewheel::client {
namespace {

using namespace std::chrono_literals;

// A bug of this program, or a scenario that it does not understand.
[[noreturn]] void give_up(const std::string& what) {
    throw std::runtime_error(what);
}

// Durations of the scenarios: "250ms", "1.5s", "10m", "2h", "1d".
Duration duration(std::string_view text) {
    double count = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    static const std::map<std::string_view, double> kSeconds = {
        {"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    const auto found = kSeconds.find(unit);
    if (code != std::errc() || found == kSeconds.end()) give_up("`" + std::string(text) + "` is no duration");
    return std::chrono::round<Duration>(std::chrono::duration<double>(count * found->second));
}

Instant instant(const std::string& text) {
    std::tm parts{};
    const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    double fraction = 0;
    if (end != nullptr && *end == '.') end = std::from_chars(end, text.data() + text.size(), fraction).ptr;
    if (end == nullptr || (end = strptime(end, "%z", &parts)) == nullptr || *end != '\0')
        give_up("`" + text + "` is no instant");
    const auto offset = std::chrono::seconds(parts.tm_gmtoff);  // which timegm() clears
    return std::chrono::system_clock::from_time_t(timegm(&parts)) - offset +
           std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(fraction));
}

// The members of a call, each of which is taken once.
class Members {
  public:
    explicit Members(std::string_view object) {
        for (const auto& [name, value] : members_of(object)) values_.emplace(name, value);
    }

    bool has(const std::string& name) const { return values_.count(name) > 0; }
    std::string take(const std::string& name) {
        const auto found = values_.find(name);
        if (found == values_.end()) return {};
        std::string value = std::move(found->second);
        values_.erase(found);
        return value;
    }
    std::string text(const std::string& name) { return unquoted(take(name)).value_or(""); }
    Duration time(const std::string& name, Duration otherwise = {}) {
        return has(name) ? duration(text(name)) : otherwise;
    }
    std::int64_t number(const std::string& name, std::int64_t otherwise) {
        return has(name) ? std::stoll(take(name)) : otherwise;
    }
    std::vector<std::string> texts(const std::string& name) {
        const std::string list = take(name);
        std::vector<std::string> all;
        for (const std::string_view each : elements_of(list)) all.push_back(unquoted(each).value_or(""));
        return all;
    }
    Which which() { return has("id") ? Which(text("id")) : Which::keyed(text("queue"), text("key")); }
    Content data() {
        if (has("json")) return Content::json(take("json"));
        if (has("body_base64")) return Content::bytes(from_base64(text("body_base64")));
        return Content::text(text("body"));
    }
    // What is left, for a call that changes something.
    Changes changes() const {
        Changes all;
        for (const auto& [name, value] : values_) {
            all.emplace(name, name == "delay" ? Value(duration(unquoted(value).value_or(""))) : Value(Json{value}));
        }
        return all;
    }
    bool empty() const { return values_.empty(); }

    // Sets the fields of options, as a user writes them.
    template <class Options>
    Options options() {
        Options filled;
        for_each_member(filled, [this](const char* name, auto& field) {
            if (has(name)) fill(name, field);
        });
        return filled;
    }

  private:
    void fill(const std::string& name, std::string& field) { field = text(name); }
    void fill(const std::string& name, Json& field) { field.text = take(name); }
    void fill(const std::string& name, bool& field) { field = take(name) == "true"; }
    void fill(const std::string& name, Headers& field) {
        const std::string object = take(name);
        for (const auto& [header, value] : members_of(object)) field.emplace(header, unquoted(value).value_or(""));
    }
    template <class T>
    void fill(const std::string& name, std::optional<T>& field) {
        if constexpr (std::same_as<T, Duration>) {
            field = duration(text(name));
        } else if constexpr (std::same_as<T, Instant>) {
            field = instant(text(name));
        } else if constexpr (std::is_arithmetic_v<T>) {
            field = Codec<T>::decode(Content::json(take(name)));
        } else {
            field = Members(take(name)).options<T>();
        }
    }

    std::map<std::string, std::string, std::less<>> values_;
};

std::string quoted(std::string_view text) {
    std::string json;
    append_quoted(json, text);
    return json;
}

std::string shown(const Error& error) {
    static constexpr const char* kFamilies[] = {"invalid",  "unauthorized", "not_found",
                                                "conflict", "throttled",    "unavailable"};
    ObjectWriter members;
    members("family", std::string(kFamilies[static_cast<std::size_t>(error.family)]));
    members("code", error.code);
    members("detail", error.detail);
    members("field", error.field);
    members("outcome", error.outcome);
    return std::move(members).json();
}

std::string list_of(const char* name, const std::vector<std::string>& items) {
    std::string json = "{\"" + std::string(name) + "\":[";
    for (std::size_t i = 0; i < items.size(); ++i) json += (i > 0 ? "," : "") + items[i];
    return json + "]}";
}

// The answer to a call as the server sent it.
std::string raw(const Result<Json>& answer) {
    return answer.value().text;
}
template <class T>
std::string raw(const Result<T>& answer) {
    return answer.value().raw;
}

template <class T>
std::string shown_all(const Result<std::vector<Result<T>>>& results) {
    std::vector<std::string> items;
    for (const Result<T>& each : results.value())
        items.push_back(each ? each->raw : "{\"error\":" + shown(each.error()) + "}");
    return list_of("results", items);
}

// The codec of the scenarios with this name.
PayloadCodec flip(const std::string& name) {
    const auto flipped = [](std::string data) {
        for (char& c : data) c = static_cast<char>(c ^ 0x5a);
        return data;
    };
    return {name, flipped, [flipped](const std::string& data) {
                std::string decoded = flipped(data);
                if (decoded.find('\xff') != std::string::npos) throw std::runtime_error("0xff");
                return decoded;
            }};
}

// A worker whose handler follows a script, and what it has seen.
struct ScriptedWorker {
    struct Entry {
        std::string id, data, checkpoint;
        std::int64_t attempt = 0;
        std::string group;
        bool cancelled = false;
    };

    ScriptedWorker(const Client& client, Members& members) {
        const std::string list = members.take("outcomes");
        for (const std::string_view each : elements_of(list)) outcomes.emplace_back(members_of(each).front());
        worker.emplace(
            client, WorkerOptions{.name = members.text("worker"), .log = [](LogLevel level, const std::string& text) {
                                      if (level == LogLevel::error) std::cerr << text + "\n";
                                  }});
        HandleOptions options{.concurrency = static_cast<int>(members.number("concurrency", 1)),
                              .lease = members.time("lease", 30s)};
        worker->handle<Content>(
            members.text("queue"), [this](Job<Content>& job) { return handle(job); }, std::move(options));
    }

    void finish() {
        const std::lock_guard lock(mutex);
        finished = true;
        changed.notify_all();
    }

    std::string handled() {
        const std::lock_guard lock(mutex);
        std::vector<std::string> items;
        for (const Entry& each : entries) {
            items.push_back("{\"id\":" + quoted(each.id) + ",\"data\":" + each.data +
                            ",\"attempt\":" + std::to_string(each.attempt) + ",\"group\":" + quoted(each.group) +
                            ",\"checkpoint\":" + (each.checkpoint.empty() ? "null" : each.checkpoint) +
                            ",\"cancelled\":" + (each.cancelled ? "true" : "false") + "}");
        }
        std::string json = list_of("messages", items);
        json.pop_back();
        return json + ",\"running\":" + std::to_string(running) + "}";
    }

    Outcome handle(Job<Content>& job) {
        std::unique_lock lock(mutex);
        std::size_t nth = 0;
        for (const Entry& each : entries) nth += each.id == job.lease().id;
        const Lease& lease = job.lease();
        entries.push_back({lease.id, json_of(job.data).text, lease.checkpoint.text, lease.attempt, lease.group});
        Entry& entry = entries.back();
        ++running;
        lock.unlock();
        const auto [verb, value] = outcomes[std::min(nth, outcomes.size() - 1)];
        Outcome outcome;
        try {
            outcome = follow(job, entry, verb, value);
        } catch (...) {
            lock.lock();
            --running;
            throw;
        }
        lock.lock();
        --running;
        return outcome;
    }

    Outcome follow(Job<Content>& job, Entry& entry, const std::string& verb, const std::string& value) {
        const auto text = [&value] { return unquoted(value).value_or(""); };
        if (verb == "checkpoint") {
            const std::vector<std::string_view> parts = elements_of(value);
            job.progress(0.5, Json{std::string(parts[0])});
            const auto [next, of] = members_of(parts[1]).front();
            return follow(job, entry, std::string(next), std::string(of));
        }
        if (verb == "return") return value == "null" ? done() : done(Json{value});
        if (verb == "return_what_is_no_json") return done(Bytes{"\xff"});
        if (verb == "raise") throw std::runtime_error(text());
        if (verb == "retry") return retry_after(duration(text()));
        if (verb == "snooze") return snooze(duration(text()));
        if (verb == "dead") return dead(text());
        if (verb == "take") {
            std::this_thread::sleep_for(duration(text()));
            return done();
        }
        if (verb == "progress") job.progress(0.5, Json{value});
        if (verb == "compute") {
            while (!finished) {
            }
            return done();
        }
        const std::stop_callback on_stop(job.stop_token(), [this] {
            const std::lock_guard lock(mutex);
            changed.notify_all();
        });
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return finished || job.stop_token().stop_requested(); });
        if (!finished) {
            entry.cancelled = true;
            if (verb != "ignore_cancel") return failed("cancelled");
            changed.wait(lock, [this] { return finished.load(); });
        }
        return done(Json{value});
    }

    std::vector<std::pair<std::string, std::string>> outcomes;
    std::mutex mutex;
    std::condition_variable changed;
    std::list<Entry> entries;  // guarded by mutex, as the next one
    int running = 0;
    std::atomic<bool> finished = false;  // set with mutex held
    std::optional<Worker> worker;        // the last member: its end waits for handlers
};

class Adapter {
  public:
    std::string carry_out(const std::string& call, const std::string& client_name, Members& with) {
        if (call == "hello") return R"({"name":"cpp","capabilities":["codec","take","versions","workers"]})";
        if (call == "connect") return connect(client_name, with);
        std::shared_ptr<ScriptedWorker> worker;
        std::optional<Client> client;
        {
            const std::lock_guard lock(mutex_);
            if (const auto found = clients_.find(client_name); found != clients_.end()) client = found->second;
            if (call == "handled" || call.ends_with("_work")) worker = workers_.at(with.text("worker"));
        }
        if (worker) return ask_worker(*worker, call, with);
        if (call == "work") return work(*client, with);
        return with.has("lease_token") || with.has("lease_tokens") ? on_lease(*client, call, with)
                                                                   : on_message(*client, call, with);
    }

  private:
    std::string connect(const std::string& name, Members& with) {
        ClientOptions options{
            .token = with.text("token"), .in_namespace = with.text("namespace"), .timeout = with.time("timeout", 30s)};
        if (with.has("ca")) {
            std::ifstream file(with.text("ca"));
            options.ca.assign(std::istreambuf_iterator<char>(file), {});
        }
        if (with.has("codec"))
            options.codec = std::make_shared<PayloadCodec>(flip(with.text("codec")));  // shared: see ClientOptions
        const Client client(with.text("url"), std::move(options));
        std::map<std::string, std::shared_ptr<ScriptedWorker>> ended;
        const std::lock_guard lock(mutex_);
        clients_.erase(name);
        clients_.emplace(name, client);
        if (name == "client") {  // a new scenario: ends the workers of the one before, whose handlers may wait for ever
            for (auto& [worker_name, worker] : workers_) {
                worker->finish();
                std::thread([worker = std::move(worker)] { worker->worker->stop(0s); }).detach();
            }
            workers_.clear();
        }
        return "{}";
    }

    std::string work(const Client& client, Members& with) {
        const std::string name = unquoted(Members(with).take("worker")).value_or("");
        const auto worker =
            std::make_shared<ScriptedWorker>(client, with);  // shared by the requests that are carried out
        {
            const std::lock_guard lock(mutex_);
            workers_[name] = worker;
        }
        worker->worker->start().value();
        return "{}";
    }

    static std::string ask_worker(ScriptedWorker& worker, const std::string& call, Members& with) {
        if (call == "handled") return worker.handled();
        if (call == "finish_work") worker.finish();
        if (call == "stop_work") worker.worker->stop(with.time("timeout", 25s));
        return "{}";
    }

    static std::string on_lease(const Client& client, const std::string& call, Members& with) {
        const std::string token = with.text("lease_token");
        const std::vector<std::string> tokens = with.texts("lease_tokens");
        const std::string reason = with.text("reason");
        const FailOptions fail{.retry_in = with.has("retry_in") ? std::optional(with.time("retry_in")) : std::nullopt,
                               .dead = with.take("dead") == "true"};
        ExtendOptions extend{.progress = {with.take("progress")}, .checkpoint = {with.take("checkpoint")}};
        if (with.has("lease")) extend.lease = with.time("lease");
        const Json result{with.take("result")};
        if (call == "ack") return raw(client.ack(token, result));
        if (call == "ack_many") return shown_all(client.ack_many(tokens, result));
        if (call == "fail") return raw(client.fail(token, reason, fail));
        if (call == "fail_many") return shown_all(client.fail_many(tokens, reason, fail));
        if (call == "extend") return raw(client.extend(token, extend));
        if (call == "extend_many") return shown_all(client.extend_many(tokens, extend));
        if (call == "release") return raw(client.release(token, with.time("delay")));
        if (call == "release_many") return shown_all(client.release_many(tokens, with.time("delay")));
        return raw(client.hold_leased(token));
    }

    static std::string on_message(const Client& client, const std::string& call, Members& with) {
        if (call == "put") {
            const std::string queue = with.text("queue");
            Content data = with.data();
            return raw(client.put(queue, std::move(data), with.options<PutOptions>()));
        }
        if (call == "put_many") {
            const std::string list = with.take("messages");
            std::vector<Put> puts;
            for (const std::string_view each : elements_of(list)) {
                Members members(each);
                Content data = members.data();
                puts.push_back({std::move(data), members.options<PutOptions>()});
            }
            return shown_all(client.put_many(with.text("queue"), std::move(puts)));
        }
        if (call == "lease") {
            LeaseOptions options{.max = with.number("max", 1),
                                 .min = with.number("min", 1),
                                 .wait = with.time("wait"),
                                 .worker = with.text("worker")};
            if (with.has("lease")) options.lease = with.time("lease");
            std::vector<std::string> items;
            for (const Lease& each : client.lease(with.text("queue"), options).value()) items.push_back(each.raw);
            return list_of("messages", items);
        }
        if (call == "get" && with.has("wait")) return raw(client.wait(with.which(), with.time("wait")));
        if (call == "get") return raw(client.get(with.which()));
        if (call == "cancel")
            return with.take("running") == "true" ? raw(client.cancel_running(with.which()))
                                                  : raw(client.cancel(with.which()));
        if (call == "move") {
            const Which which = with.which();
            return raw(client.move(which, with.changes()));
        }
        if (call == "fire" && with.has("id")) return raw(client.fire(with.text("id")));
        if (call == "hold") return raw(client.hold(with.text("id")));
        if (call == "kick") return raw(client.kick(with.text("id")));
        if (call == "discard" && with.has("id")) return raw(client.discard(with.text("id")));
        if (call == "commit") return raw(client.commit(with.text("id")));
        if (call == "rollback") return raw(client.rollback(with.text("id")));
        if (call == "list") {
            const std::string queue = with.text("queue");
            ListOptions options{.state = with.text("state"), .limit = with.number("page", 100)};
            std::vector<std::string> items;
            do {
                Page page = client.list(queue, options).value();
                for (const Message& each : page.messages) items.push_back(each.raw);
                options.cursor = page.cursor;
            } while (!options.cursor.empty());
            return list_of("messages", items);
        }
        if (call == "set_queue") return raw(client.set_queue(with.text("queue"), with.options<QueueSettings>()));
        if (call == "get_queue") return raw(client.get_queue(with.text("queue")));
        if (call == "back_off_group")
            return raw(client.back_off_group(with.text("queue"), with.text("group"), with.time("for")));
        if (call == "set_schedule") {
            const Content data = with.data();
            return raw(client.set_schedule(with.text("schedule"), data, with.options<ScheduleSettings>()));
        }
        if (call == "set_watchdog") {
            const Content data = with.data();
            return raw(client.set_watchdog(with.text("watchdog"), data, with.options<WatchdogSettings>()));
        }
        if (call == "feed_watchdog") return raw(client.feed_watchdog(with.text("watchdog")));
        if (call == "advance") return raw(client.advance(with.time("by")));
        return named(client, call, with);
    }

    // The calls on queues, schedules and watchdogs that have no function of their own.
    static std::string named(const Client& client, const std::string& call, Members& with) {
        const std::string verb = call.substr(0, call.find('_'));
        const std::string kind = verb == call ? "queue" : call.substr(verb.size() + 1);
        std::string path = "/" + kind + "s/" + segment(with.text(kind));
        if (verb == "get") return raw(client.call("GET", path));
        if (verb == "delete") return raw(client.call("DELETE", path));
        std::string body;
        if (verb == "preview") {
            path += ":preview" + (with.has("count") ? "?count=" + with.take("count") : "");
            return raw(client.call("GET", path));
        }
        if (!with.empty()) {
            ObjectWriter members;
            for (const auto& [name, value] : with.changes()) members.add(name, value.json());
            body = std::move(members).json();
        }
        if (verb == "change") return raw(client.call("PATCH", path, {body}));
        return raw(client.call("POST", path + ":" + verb, {body}));
    }

    std::mutex mutex_;
    std::map<std::string, Client> clients_;                           // guarded by mutex_, as the next one
    std::map<std::string, std::shared_ptr<ScriptedWorker>> workers_;  // shared by the requests that are carried out
};

std::string answer(Adapter& adapter, const std::string& line) {
    Members request{line};
    const std::string id = request.take("id");
    Members with{request.take("with")};
    const std::string call = request.text("do");
    try {
        return "{\"id\":" + id + ",\"ok\":" + adapter.carry_out(call, request.text("client"), with) + "}\n";
    } catch (const Failure& failure) {
        return "{\"id\":" + id + ",\"error\":" + shown(failure.error()) + "}\n";
    } catch (const std::exception& thrown) {
        return "{\"id\":" + id + ",\"failed\":" + quoted(thrown.what()) + "}\n";
    }
}

}  // namespace
}  // namespace duewheel::client

int main() {
    using namespace duewheel::client;
    Adapter adapter;
    std::mutex output;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::thread([&adapter, &output, request = line] {
            const std::string text = answer(adapter, request);
            const std::lock_guard lock(output);
            std::cout << text << std::flush;
        }).detach();
    }
    std::_Exit(0);  // calls may wait still
}
