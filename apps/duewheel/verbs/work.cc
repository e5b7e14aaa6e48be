// One process per job, each with its own connection: all of them only wait, for the server or for the command. The
// first process waits for signals and for the jobs; they share state in one page of shared memory.
#include "work.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arguments.h"
#include "base/error_codes.h"
#include "content.h"
#include "http_api/fields/json_text.h"
#include "message/work_state.h"
#include "plain_text.h"
#include "progress_file.h"
#include "shared/system_clock.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

using std::chrono::milliseconds;

constexpr char kWait[] = "1s";  // short, so that a signal need not wait for the server
constexpr milliseconds kServerPatience{10'000};
constexpr int kLookEveryMs = 50;
constexpr milliseconds kPauseFirst{500};
constexpr milliseconds kPauseMost{10'000};
constexpr int kEndTries = 20;
constexpr milliseconds kDrainPatience{15'000};    // a server that restarts is back by then
constexpr milliseconds kKillAfter{10'000};        // of a command that SIGTERM does not end
constexpr milliseconds kExtendEveryMost{10'000};  // an extension tells that the command must stop
constexpr milliseconds kReadProgressEvery{1'000};
constexpr int kStatusNoSpace = 507;

struct WorkerState {
    const pid_t first_process = ::getpid();  // if it is gone, it can no longer stop the jobs: they stop by themselves
    std::atomic<int> signals = 0;
    std::atomic<bool> reached = false;
    std::atomic<int> exit_code = kExitDone;
    std::atomic<std::uint64_t> done = 0;
    std::atomic<std::uint64_t> failed = 0;
    std::atomic<std::uint64_t> released = 0;
    std::atomic<std::uint64_t> lost = 0;  // the lease had ended before, or its state is unknown

    bool stopping() const { return signals > 0 || exit_code != kExitDone; }
};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free,
              "processes share it");

milliseconds monotonic_now() {
    return milliseconds(monotonic_now_ns() / 1'000'000);
}

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
                                       {"LATENESS_MS", "lateness_ms"},
                                       {"WAIT_MS", "wait_ms"}}) {
        add(name, std::to_string(number_of(message, member)));
    }
    if (const boost::json::object* check = object_of(message, "check")) add("CHECK_OF", word_of(*check, "message"));
    const std::pair<const char*, const char*> makers[] = {
        {"PARENT", "parent"}, {"SCHEDULE", "schedule"}, {"WATCHDOG", "watchdog"}};
    for (const auto& [name, member] : makers) {
        if (message.contains(member)) add(name, word_of(message, member));
    }
    if (message.contains("last_fed_ms")) add("LAST_FED_MS", std::to_string(number_of(message, "last_fed_ms")));
    add("MAYBE_DELIVERED", is_true(message, "maybe_delivered") ? "true" : "false");
    add("CONTENT_TYPE", word_of(message, "content_type"));
    const boost::json::value* headers = message.if_contains("headers");
    add("HEADERS", headers == nullptr ? "{}" : plain_json(*headers));
    if (const std::string_view checkpoint = word_of(message, "checkpoint"); !checkpoint.empty()) {
        variables.push_back("DUEWHEEL_CHECKPOINT=" + std::string(checkpoint));
    }
    if (const std::string_view trace = word_of(message, "traceparent"); !trace.empty()) {
        variables.push_back("TRACEPARENT=" + std::string(trace));
    }
    return variables;
}

// "host-7:1234": the name of a worker that was given none.
std::string name_of_this_process() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    const std::string number = ":" + std::to_string(::getpid());
    return std::string(cut_utf8(printable(host.data()), kWorkerNameBytesMax - number.size())) + number;
}

class Job {
  public:
    Job(const Session& session, const WorkArguments& arguments, WorkerState& progress)
        : arguments_(arguments), progress_(progress) {
        session_.server = session.server;
        session_.name_space = session.name_space;
    }

    void run() {
        while (!progress_.stopping() && ::getppid() == progress_.first_process) {
            const ServerAnswer answer = take();
            if (!answer) {
                if (!pause_after(answer)) return;
                continue;
            }
            pause_ = kPauseFirst;
            refused_since_.reset();
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
    // The first call does not wait, so that it is known at once whether the server is reachable, even if it dies while
    // a job waits for its first message.
    ServerAnswer take() {
        boost::json::object request = {{"max", 1}, {"worker", json_text(arguments_.worker)}};
        if (!arguments_.lease.empty()) request["lease"] = arguments_.lease;
        if (!arguments_.drain && progress_.reached) request["wait"] = kWait;
        ServerAnswer answer =
            session_.ask("POST", session_.path("queues", arguments_.queue, ":lease"), request, kServerPatience);
        if (answer || answer.exit_code == kExitRefused) progress_.reached = true;
        return answer;
    }

    // Waits for a server that responded before; a server that never did, or that refuses, ends the work. With --drain
    // the wait is limited, because the command must end.
    bool pause_after(const ServerAnswer& answer) {
        const milliseconds now = monotonic_now();
        if (!refused_since_) refused_since_ = now;
        const bool busy = answer.status == 429 || answer.status == 503;
        const bool away = answer.exit_code == kExitUnreachable && progress_.reached;
        const bool too_long = arguments_.drain && now - *refused_since_ >= kDrainPatience;
        if ((!busy && !away) || too_long) {
            progress_.exit_code = answer.exit_code;
            return false;
        }
        rest(pause_);
        pause_ = std::min(2 * pause_, kPauseMost);
        return true;
    }

    // Waits until the next request, or until retrying is pointless.
    void rest(milliseconds time) const {
        const milliseconds until = monotonic_now() + time;
        while (progress_.signals < 2 && !(progress_.stopping() && !busy_) && monotonic_now() < until) {
            ::poll(nullptr, 0, kLookEveryMs);
        }
    }

    void work_on(const boost::json::object& message) {
        const std::string lease(word_of(message, "lease"));
        if (progress_.stopping()) {  // leased at the moment of the signal
            return end(lease, ":release", {}, progress_.released);
        }
        busy_ = true;
        std::vector<std::string> variables = variables_of(message);
        variables.push_back("DUEWHEEL_WORKER=" + arguments_.worker);
        std::unique_ptr<ProgressFile> file = make_file();
        if (file) variables.push_back("DUEWHEEL_PROGRESS_FILE=" + file->path());
        Result<Child> child = Child::start(arguments_.command, variables, arguments_.result);
        if (!child) {
            progress_.exit_code = session_.complain(child.error(), kExitRefused);
            end(lease, ":release", {}, progress_.released);
        } else {
            const char* const member = message.contains("json") ? "json" : "body";
            const std::string body = message.contains(member) ? std::string(word_of(message, member))
                                                              : from_base64(word_of(message, "body_base64"));
            const std::int64_t lease_ms = number_of(message, "lease_until_ms") - number_of(message, "delivered_ms");
            Held held{
                .lease = lease, .length = milliseconds(std::max<std::int64_t>(lease_ms, 300)), .file = std::move(file)};
            follow(*child, body, held);
        }
        busy_ = false;
    }

    // Null if it cannot be made, which is reported once: few commands need it.
    std::unique_ptr<ProgressFile> make_file() {
        Result<std::unique_ptr<ProgressFile>> file = ProgressFile::make();
        if (file) return *std::move(file);
        if (!std::exchange(has_no_files_, true)) session_.complain(file.error(), kExitRefused);
        return nullptr;
    }

    // The lease of a message while its command runs. Each extension is as long as the lease, until the command has
    // ended: if the message were released while the command runs, another worker would do the work at the same time.
    struct Held {
        std::string lease;
        milliseconds length;
        std::unique_ptr<ProgressFile> file;  // null: the command has none
        milliseconds extend_every = std::min(length / 3, kExtendEveryMost);
        milliseconds extend_at = monotonic_now() + extend_every;
        milliseconds read_at = monotonic_now() + kReadProgressEvery;
        bool is_lost = false;
        bool cancel_requested = false;

        boost::json::object extension() const { return {{"lease_ms", length.count()}}; }
    };

    void follow(Child& child, std::string_view body, Held& held) {
        std::optional<milliseconds> kill_at;
        const ChildEnd ended = child.wait(body, [&] {
            if (!held.is_lost) keep(held);
            if (progress_.signals < 2 && !held.cancel_requested) return 0;
            if (!kill_at) kill_at = monotonic_now() + kKillAfter;
            return progress_.signals > 2 || monotonic_now() >= *kill_at ? SIGKILL : SIGTERM;
        });
        if (ended.done) return acknowledge(held.lease, ended.output);
        if (!held.is_lost && !held.cancel_requested) send_last_lines(held);
        if (progress_.signals > 1 || held.cancel_requested) {
            end(held.lease, ":release", {}, progress_.released);
        } else {
            // The server shortens a long reason; bytes that are not text are escaped here.
            fail(held.lease, printable_lines(ended.reason));
        }
    }

    // Extends the lease if it is time, or if the command has said something new, which is looked up once a second.
    void keep(Held& held) {
        if (held.file && monotonic_now() >= std::min(held.read_at, held.extend_at)) send_lines(held);
        if (held.is_lost || monotonic_now() < held.extend_at) return;
        static_cast<void>(extend(held, plain_json(held.extension())));
        held.extend_at = monotonic_now() + held.extend_every;
    }

    // Each kind with an extension of its own, because the server refuses an extension as a whole. If it refuses for a
    // time, as when its disk is full, the lease is extended without the line, which is sent again later.
    void send_lines(Held& held) {
        read_lines(*held.file, false);
        held.read_at = monotonic_now() + kReadProgressEvery;
        for (ProgressFile::Kind& kind : held.file->kinds()) {
            if (kind.json == kind.sent || held.is_lost) continue;
            const ServerAnswer answer = extend(held, with_member(held.extension(), kind.member, kind.json));
            if (answer || answer.status == 0) held.extend_at = monotonic_now() + held.extend_every;
            if (is_temporary(answer)) return void(held.read_at = monotonic_now() + held.extend_every);
            kind.sent = kind.json;
        }
    }

    ServerAnswer extend(Held& held, const std::string& body) {
        ServerAnswer answer =
            session_.ask_with_text("POST", Session::lease_path(held.lease, ":extend"), body, held.extend_every);
        held.is_lost = answer.word("outcome") == "expired";
        held.cancel_requested = held.cancel_requested || is_true(answer.members, "cancel_requested");
        return answer;
    }

    // What the command has said before it failed, for the next attempt.
    void send_last_lines(const Held& held) {
        if (!held.file) return;
        read_lines(*held.file, true);
        for (const ProgressFile::Kind& kind : held.file->kinds()) {
            if (kind.json == kind.sent) continue;
            int tries = 0;
            const ServerAnswer answer =
                ask_patiently(held.lease, ":extend", with_member(held.extension(), kind.member, kind.json), tries);
            if (answer.has_outcome() && !answer) return;  // lost
        }
    }

    void read_lines(ProgressFile& file, bool has_ended) {
        const std::optional<std::string> wrong = file.read(has_ended);
        if (!wrong) return;
        session_.complain({"bad_line"_code, "A line of DUEWHEEL_PROGRESS_FILE is ignored: `" + *wrong +
                                                "`. Write `progress` or `checkpoint`, a space, JSON, and a line feed."},
                          kExitRefused);
    }

    // With the output as the result, if that is wanted. A producer that waits for a result must not get none because it
    // is too large, so the message fails then.
    void acknowledge(const std::string& lease, const std::string& output) {
        const std::string_view text = std::string_view(output).substr(0, output.find_last_not_of(" \t\r\n") + 1);
        if (text.empty()) return end(lease, ":ack", {}, progress_.done);
        const std::string result =
            is_json_text(text) ? std::string(text) : plain_json(json_text(printable_lines(text)));
        if (result.size() > kResultBytesMax) {
            return fail(lease, "the standard output of the command is its result, and is larger than 64 KiB");
        }
        end(lease, ":ack", with_member({}, "result", result), progress_.done);
    }
    void fail(const std::string& lease, const std::string& reason) {
        end(lease, ":fail", plain_json(boost::json::object{{"reason", reason}}), progress_.failed);
    }

    // Retries until the outcome is recorded, because otherwise another worker does the work again. Increments `count`
    // if the lease was ended in this way.
    void end(const std::string& lease, std::string_view how, const std::string& body,
             std::atomic<std::uint64_t>& count) {
        int tries = 0;
        const ServerAnswer answer = ask_patiently(lease, how, body, tries);
        if (answer) return void(++count);
        if (answer.word("outcome") == "expired") {
            // After an attempt without a response it is unknown whether that attempt ended the lease.
            session_.complain(
                {"expired"_code, tries == 0
                                     ? "The result of the command is not recorded: " + printable(answer.word("detail"))
                                     : "The lease has ended, but the response was lost: check the message with `get`"},
                kExitRefused);
        }
        ++progress_.lost;
    }

    // Repeats a call of a lease while the server is away or busy. `tries`: those before the last one.
    ServerAnswer ask_patiently(const std::string& lease, std::string_view how, const std::string& body, int& tries) {
        milliseconds pause = kPauseFirst;
        for (tries = 0;; ++tries) {
            ServerAnswer answer =
                session_.ask_with_text("POST", Session::lease_path(lease, how), body, kServerPatience);
            // What a command says is refused by a full disk, which may stay full for long; the end of a lease is not.
            if (how == ":extend" && answer.status == kStatusNoSpace) return answer;
            if (!is_temporary(answer) || tries + 1 == kEndTries || progress_.signals > 1) return answer;
            rest(pause);
            pause = std::min(2 * pause, kPauseMost);
        }
    }

    static bool is_temporary(const ServerAnswer& answer) {
        return answer.exit_code == kExitUnreachable || answer.status == 429 || answer.status >= 500;
    }

    Session session_;
    const WorkArguments& arguments_;
    WorkerState& progress_;
    milliseconds pause_ = kPauseFirst;
    std::optional<milliseconds> refused_since_;  // no lease call has been answered since then
    bool busy_ = false;
    bool has_no_files_ = false;  // it has been reported
};

// Blocked in every process, so that the first one can wait for the signals and no job is interrupted.
sigset_t block_signals() {
    std::signal(SIGPIPE, SIG_IGN);  // a command need not read its input
    sigset_t awaited;
    ::sigemptyset(&awaited);
    for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) ::sigaddset(&awaited, signal);
    ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
    return awaited;
}

pid_t start_job(const Session& session, const WorkArguments& arguments, WorkerState& progress) {
    std::fflush(nullptr);
    const pid_t process = ::fork();
    if (process != 0) return process;
    Job(session, arguments, progress).run();
    std::fflush(nullptr);
    ::_exit(0);
}

// Counts signals until `running` processes have ended.
void watch(const sigset_t& awaited, std::uint32_t running, WorkerState& progress) {
    while (running > 0) {
        int signal = 0;
        if (::sigwait(&awaited, &signal) != 0) continue;
        if (signal == SIGCHLD) {
            while (running > 0 && ::waitpid(-1, nullptr, WNOHANG) > 0) --running;
        } else if (++progress.signals == 1) {
            std::fprintf(stderr, "duewheel: Stopping after the running commands; a second signal ends them.\n");
        }
    }
}

}  // namespace

int work(const Session& session, const WorkArguments& given) {
    WorkArguments arguments = given;
    if (arguments.worker.empty()) arguments.worker = name_of_this_process();
    void* page = ::mmap(nullptr, sizeof(WorkerState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return session.complain({"cannot_run"_code, "Out of memory."}, kExitRefused);
    WorkerState& progress = *new (page) WorkerState;
    const sigset_t awaited = block_signals();
    std::uint32_t running = 0;
    for (std::uint32_t i = 0; i < arguments.jobs && !progress.stopping(); ++i) {
        if (start_job(session, arguments, progress) > 0) {
            ++running;
        } else {
            progress.exit_code =
                session.complain({"cannot_run"_code, "Cannot start a process for a job."}, kExitRefused);
        }
    }
    watch(awaited, running, progress);
    std::fprintf(stderr, "duewheel: %llu done, %llu failed, %llu released.\n",
                 static_cast<unsigned long long>(progress.done), static_cast<unsigned long long>(progress.failed),
                 static_cast<unsigned long long>(progress.released));
    if (progress.lost > 0) {
        std::fprintf(
            stderr, "duewheel: %llu lost: their leases could not be ended, so these messages may be delivered again.\n",
            static_cast<unsigned long long>(progress.lost));
        if (progress.exit_code == kExitDone) return kExitRefused;
    }
    return progress.exit_code;
}

}  // namespace duewheel
