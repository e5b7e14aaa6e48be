// One thread a job, each with a connection of its own: all of them do nothing but wait, for the server or for the
// command. The main thread waits for signals.
#include "work.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

#include "child.h"
#include "plain_text.h"

namespace duewheel {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr char kWait[] = "1s";  // short, so that a signal need not wait for the server
constexpr milliseconds kPatience{10'000};
constexpr milliseconds kLookEvery{50};
constexpr milliseconds kPauseFirst{500};
constexpr milliseconds kPauseMost{10'000};
constexpr int kEndTries = 20;

struct Progress {
    std::atomic<int> signals = 0;
    std::atomic<int> running = 0;  // threads
    std::atomic<bool> reached = false;
    std::atomic<int> exit_code = kExitDone;
    std::atomic<std::uint64_t> done = 0;
    std::atomic<std::uint64_t> failed = 0;
    std::atomic<std::uint64_t> given_back = 0;

    bool stopping() const { return signals > 0 || exit_code != kExitDone; }
};

// Standard base64 with padding, as the server writes it.
std::string from_base64(std::string_view text) {
    const auto value = [](char c) -> int {
        constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        return static_cast<int>(kLetters.find(c));
    };
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char letter : text) {
        if (letter == '=') break;
        bits = bits << 6 | static_cast<std::uint32_t>(value(letter) & 63);
        if ((count += 6) < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xff);
    }
    return bytes;
}

std::vector<std::string> variables_of(const boost::json::object& message) {
    std::vector<std::string> variables;
    const auto add = [&](std::string_view name, std::string_view value) {
        if (value.find('\0') == value.npos)
            variables.push_back("DUEWHEEL_MESSAGE_" + std::string(name) + "=" + std::string(value));
    };
    add("ID", word_of(message, "id"));
    add("QUEUE", word_of(message, "queue"));
    add("LEASE", word_of(message, "lease"));
    for (const auto& [name, member] : {std::pair("ATTEMPT", "attempt"),
                                       {"OCCURRENCE", "occurrence"},
                                       {"DUE_MS", "due_ms"},
                                       {"LATENESS_MS", "lateness_ms"}}) {
        add(name, std::to_string(number_of(message, member)));
    }
    add("CONTENT_TYPE", word_of(message, "content_type"));
    const boost::json::value* headers = message.if_contains("headers");
    add("HEADERS", headers == nullptr ? "{}" : boost::json::serialize(*headers));
    if (const std::string_view trace = word_of(message, "traceparent"); !trace.empty()) {
        variables.push_back("TRACEPARENT=" + std::string(trace));
    }
    return variables;
}

class Job {
  public:
    Job(const Session& session, const WorkArguments& arguments, Progress& progress)
        : arguments_(arguments), progress_(progress) {
        session_.server = session.server;
        session_.name_space = session.name_space;
    }

    void run() {
        while (!progress_.stopping()) {
            const ServerAnswer answer = take();
            if (!answer) {
                if (!pause_after(answer)) return;
                continue;
            }
            progress_.reached = true;
            pause_ = kPauseFirst;
            const boost::json::value* messages = answer.members.if_contains("messages");
            const bool some = messages != nullptr && messages->is_array() && !messages->get_array().empty();
            if (!some && arguments_.drain) return;
            if (!some) continue;
            for (const boost::json::value& message : messages->get_array()) {
                if (message.is_object()) work_on(message.get_object());
            }
        }
    }

  private:
    ServerAnswer take() {
        boost::json::object request = {{"max", 1}, {"lease", arguments_.lease}};
        if (!arguments_.drain) request["wait"] = kWait;
        return session_.ask("POST", session_.path("queues", arguments_.queue, ":lease"), request, kPatience);
    }

    // A server that answered before is waited for; one that never did, or that says no, ends the work.
    bool pause_after(const ServerAnswer& answer) {
        const bool busy = answer.status == 429 || answer.status == 503;
        const bool away = answer.exit_code == kExitUnreachable && progress_.reached;
        if (!busy && !away) {
            progress_.exit_code = answer.exit_code;
            return false;
        }
        sleep(pause_);
        pause_ = std::min(2 * pause_, kPauseMost);
        return true;
    }

    void sleep(milliseconds time) const {
        const Clock::time_point until = Clock::now() + time;
        while (progress_.signals < 2 && !(progress_.stopping() && !busy_) && Clock::now() < until) {
            std::this_thread::sleep_for(kLookEvery);
        }
    }

    void work_on(const boost::json::object& message) {
        const std::string lease(word_of(message, "lease"));
        if (progress_.stopping()) {  // it came in the moment of the signal
            ++progress_.given_back;
            return end(lease, ":release", {});
        }
        busy_ = true;
        Result<Child> child = Child::start(arguments_.command, variables_of(message));
        if (!child) {
            progress_.exit_code = session_.complain(child.error(), kExitRefused);
            ++progress_.given_back;
            end(lease, ":release", {});
        } else {
            const std::string body = message.contains("body") ? std::string(word_of(message, "body"))
                                                              : from_base64(word_of(message, "body_base64"));
            const std::int64_t lease_ms = number_of(message, "lease_until_ms") - number_of(message, "delivered_ms");
            follow(lease, *child, body, milliseconds(std::max<std::int64_t>(lease_ms / 3, 100)));
        }
        busy_ = false;
    }

    void follow(const std::string& lease, Child& child, std::string_view body, milliseconds extend_every) {
        Clock::time_point extend_at = Clock::now() + extend_every;
        bool lost = false;
        const ChildEnd ended = child.wait(body, [&] {
            if (!lost && Clock::now() >= extend_at) {
                const ServerAnswer answer = session_.ask("POST", Session::lease_path(lease, ":extend"),
                                                         {{"lease", arguments_.lease}}, extend_every);
                lost = answer && answer.word("outcome") == "expired";
                extend_at = Clock::now() + extend_every;
            }
            return progress_.signals > 1;
        });
        if (ended.done) {
            ++progress_.done;
            end(lease, ":ack", {});
        } else if (progress_.signals > 1) {
            ++progress_.given_back;
            end(lease, ":release", {});
        } else {
            ++progress_.failed;
            // The server cuts what is too long; bytes that are no text are made harmless here.
            end(lease, ":fail", {{"reason", printable(ended.reason)}});
        }
    }

    // What became of the message must get through if it can: until then somebody would do the work again.
    void end(const std::string& lease, std::string_view how, const boost::json::object& members) {
        milliseconds pause = kPauseFirst;
        for (int tries = 0; tries < kEndTries; ++tries) {
            const ServerAnswer answer = session_.ask("POST", Session::lease_path(lease, how), members, kPatience);
            if (answer) {
                if (answer.word("outcome") == "expired" && tries == 0) {
                    session_.complain({"expired",
                                       "The lease had ended before the work did: somebody else may do it again. "
                                       "Lease for longer"},
                                      kExitRefused);
                }
                return;
            }
            const bool again = answer.exit_code == kExitUnreachable || answer.status == 429 || answer.status >= 500;
            if (!again || progress_.signals > 1) return;
            sleep(pause);
            pause = std::min(2 * pause, kPauseMost);
        }
    }

    Session session_;
    const WorkArguments& arguments_;
    Progress& progress_;
    milliseconds pause_ = kPauseFirst;
    bool busy_ = false;
};

// Blocked in every thread, so that the main one can wait for them.
sigset_t block_signals() {
    std::signal(SIGPIPE, SIG_IGN);  // a command need not read its input
    sigset_t ending;
    ::sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM}) ::sigaddset(&ending, signal);
    ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
    return ending;
}

}  // namespace

int work(const Session& session, const WorkArguments& arguments) {
    const sigset_t ending = block_signals();
    Progress progress;
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < arguments.jobs; ++i) {
        ++progress.running;
        threads.emplace_back([&] {
            Job(session, arguments, progress).run();
            --progress.running;
        });
    }
    while (progress.running > 0) {
        const timespec look_every{0, std::chrono::nanoseconds(kLookEvery).count()};
        if (::sigtimedwait(&ending, nullptr, &look_every) < 0) continue;
        if (++progress.signals == 1) {
            std::fprintf(stderr, "duewheel: Stopping when the running commands have ended; once more ends them.\n");
        }
    }
    for (std::thread& thread : threads) thread.join();
    std::fprintf(stderr, "duewheel: %llu done, %llu failed, %llu given back.\n",
                 static_cast<unsigned long long>(progress.done), static_cast<unsigned long long>(progress.failed),
                 static_cast<unsigned long long>(progress.given_back));
    return progress.exit_code;
}

}  // namespace duewheel
