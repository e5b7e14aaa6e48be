// duewheel top: the current activity of a server, redrawn every second, with as many of the busiest queues as fit. The
// server reports it as events.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "arguments.h"
#include "calendar/duration.h"
#include "local_time.h"
#include "plain_text.h"
#include "shared/system_clock.h"
#include "terminal.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct TopArguments {
    std::string interval = "1s";
    bool once = false;
};

namespace json = boost::json;

volatile std::sig_atomic_t told_to_end = 0;

// The terminal in full-screen mode: alternate screen, no cursor, unbuffered keys. The destructor restores it.
class Screen {
  public:
    Screen() {
        is_terminal_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
        if (is_terminal_) {
            termios raw = before_;
            raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
            ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
        }
        std::printf("\x1b[?1049h\x1b[?25l");
    }
    ~Screen() {
        std::printf("\x1b[?25h\x1b[?1049l");
        std::fflush(stdout);
        if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    static TerminalSize size() { return terminal_size().value_or(TerminalSize()); }
    // Each line is cleared to its end, to avoid flicker, and truncated at the edge: a wrapped line would scroll the
    // first one off the screen.
    static void draw(const std::string& frame, const TerminalSize& size) {
        std::string text = "\x1b[H";
        std::size_t left = size.lines;
        for (std::size_t at = 0; at < frame.size() && left > 0; --left) {
            const std::size_t end = std::min(frame.find('\n', at), frame.size());
            const std::string_view line = std::string_view(frame).substr(at, end - at);
            text.append(cut_to_width(line, size.columns)).append("\x1b[K").append(left > 1 ? "\r\n" : "");
            at = end + 1;
        }
        std::printf("%s\x1b[J", text.c_str());
        std::fflush(stdout);
    }
    // Whether the user has ended the program, by a key or a signal.
    bool is_left() const {
        pollfd keys{is_terminal_ ? STDIN_FILENO : -1, POLLIN, 0};
        while (told_to_end == 0 && ::poll(&keys, 1, 0) > 0) {
            char key = 0;
            if (::read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q') told_to_end = 1;
        }
        return told_to_end != 0;
    }

  private:
    termios before_{};
    bool is_terminal_ = false;
};

// "12345678" -> "12,345,678"
std::string grouped(std::int64_t number) {
    std::string digits = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3) {
        digits.insert(static_cast<std::size_t>(at), ",");
    }
    return digits;
}

std::string pairs(const json::object& stats, std::initializer_list<std::pair<const char*, const char*>> shown) {
    std::string line;
    for (const auto& [name, member] : shown) {
        line += (line.empty() ? "" : "   ") + std::string(name) + " " + grouped(number_of(stats, member));
    }
    return line + "\n";
}

// Rates between two responses, per second of server time.
std::string rates(const json::object& before, const json::object& stats) {
    const std::int64_t apart_ms = number_of(stats, "server_time_ms") - number_of(before, "server_time_ms");
    if (apart_ms <= 0) return "per second  (from the next refresh on)\n";
    std::string line = "per second ";
    for (const auto& [name, member] : {std::pair("put", "accepted"),
                                       {"delivered", "delivered"},
                                       {"done", "done"},
                                       {"failed", "failed"},
                                       {"cancelled", "cancelled"}}) {
        const std::int64_t more = std::max<std::int64_t>(0, number_of(stats, member) - number_of(before, member));
        line += std::string("  ") + name + " " + grouped((more * 1000 + apart_ms / 2) / apart_ms);
    }
    return line + "\n";
}

// Up to `rows_max` rows, and a line for the queues that are omitted.
std::string queues(const json::object& stats, std::size_t rows_max) {
    const json::value* all = stats.if_contains("queues");
    if (all == nullptr || !all->is_array() || all->get_array().empty()) return "no queues\n";
    std::vector<const json::object*> sorted;
    for (const json::value& queue : all->get_array()) {
        if (queue.is_object()) sorted.push_back(&queue.get_object());
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const json::object* left, const json::object* right) {
        const auto busy = [](const json::object* of) { return number_of(*of, "ready") + number_of(*of, "leased"); };
        return busy(left) > busy(right);
    });
    const std::int64_t known = std::max(number_of(stats, "queue_count"), static_cast<std::int64_t>(sorted.size()));
    if (sorted.size() > rows_max || static_cast<std::size_t>(known) > sorted.size()) {
        sorted.resize(
            std::min(sorted.size(), std::max<std::size_t>(rows_max, 1) - 1));  // the last line is for the others
    }
    constexpr std::size_t kNameLetters = 32;
    Rows rows = {{"queue", "ready", "leased", "dead", "consumers", "more on disk"}};
    for (const json::object* queue : sorted) {
        const std::string_view space = word_of(*queue, "namespace");
        const std::string name =
            (space.empty() ? "" : std::string(space) + "/") + std::string(word_of(*queue, "queue"));
        rows.push_back({printable(name, kNameLetters), std::to_string(number_of(*queue, "ready")),
                        std::to_string(number_of(*queue, "leased")), std::to_string(number_of(*queue, "dead")),
                        std::to_string(number_of(*queue, "waiters")),
                        is_true(*queue, "backlog_on_disk") ? "yes" : "no"});
    }
    std::string text = table(rows);
    if (const std::int64_t left = known - static_cast<std::int64_t>(sorted.size()); left > 0) {
        text += "and " + grouped(left) + " more queue" + (left == 1 ? "" : "s") + ", less busy\n";
    }
    return text;
}

std::string frame(const std::string& server, const json::object& before, const json::object& stats,
                  std::size_t queues_max) {
    std::string text =
        "duewheel at " + printable(server, 36) + "   " + format_local(number_of(stats, "server_time_ms"));
    text += "\n\n";
    text += pairs(stats, {{"pending", "pending"},
                          {"ready", "ready"},
                          {"leased", "leased"},
                          {"dead letters", "dead_letters"},
                          {"consumers", "waiters"}});
    text += rates(before, stats);
    for (const std::string what : {"lateness", "wait"}) {
        const auto level = [&](const char* name) { return format_span(number_of(stats, what + name)); };
        text += what + std::string(13 - what.size(), ' ') + "median " + level("_p50_ms") + "   99 % " +
                level("_p99_ms") + "   max " + level("_max_ms") + "   (last seconds)\n";
    }
    text += "\n";
    return text + queues(stats, queues_max);
}

constexpr std::size_t kLinesAbove = 8;   // lines of a frame above the queues
constexpr std::size_t kQueuesMax = 100;  // that an event has
// Events come twice a second. One that comes a little early is shown, so that an interval of a second stays a second.
constexpr std::int64_t kEventJitterMs = 200;

int top(Session& session, const TopArguments& arguments) {
    const ServerAnswer first = session.ask("GET", "/v1/stats?queues=" + std::to_string(kQueuesMax));
    if (!first) return first.exit_code;
    if (arguments.once || session.json || ::isatty(STDOUT_FILENO) == 0) {
        return session.show(first, [&] {
            std::printf("%s", frame(session.server.url, first.members, first.members, kQueuesMax).c_str());
        });
    }
    struct sigaction ends {};
    ends.sa_handler = [](int) { told_to_end = 1; };
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &ends, nullptr);
    const std::int64_t interval_ms = std::max<std::int64_t>(100, parse_duration(arguments.interval).value());
    ServerAnswer followed;
    {
        const Screen screen;
        const auto draw = [&](const json::object& before, const json::object& now) {
            const TerminalSize size = Screen::size();
            const std::size_t rows = size.lines - std::min(size.lines, kLinesAbove);
            Screen::draw(frame(session.server.url, before, now, rows), size);
        };
        json::object shown = first.members;
        std::int64_t shown_ms = monotonic_now_ns() / 1'000'000;
        draw(shown, shown);
        const auto take = [&](json::object now) {
            const std::int64_t now_ms = monotonic_now_ns() / 1'000'000;
            if (now_ms - shown_ms < interval_ms - kEventJitterMs) return;
            draw(shown, now);
            shown = std::move(now);
            shown_ms = now_ms;
        };
        followed = session.follow_stats(take, [&] { return !screen.is_left(); });
    }
    if (told_to_end != 0) return kExitDone;
    std::fprintf(stderr, "duewheel: The server has ended the connection.\n");
    return followed ? kExitUnreachable : followed.exit_code;
}

}  // namespace

void add_top(CLI::App& program, Session& session) {
    Verb<TopArguments> verb(program, session, "top", "Show a server live; q or Ctrl-C quits", "duewheel top --once",
                            top);
    takes_duration(verb.app->add_option("--interval", verb.options->interval, "Refresh interval, from 500ms"));
    verb.app->add_flag("--once", verb.options->once,
                       "Print once and exit; the default if the output is not a terminal");
}

}  // namespace duewheel
