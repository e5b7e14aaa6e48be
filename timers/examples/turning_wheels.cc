// Prints timing wheels while they turn, so that one sees where a timer lies, when it is moved, and when it fires.
//
//     turning_wheels [SCHEME] [--plain] [--steps N] [--only TICK,TICK...] [--pause MILLISECONDS]
//
// Each letter is a timer, a number is the number of timers in one slot, ^ is the hand with the slot it points at. The
// timer `a` arms itself again whenever it fires. In a terminal the picture moves; with --plain, or into a pipe, each
// step is printed below the one before. Every scheme is asked where it has its timers, but for the core wheel, which
// does not say: its picture is worked out, and tells so. docs/learning/ explains the schemes with its output.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

#include "schemes/every_scheme.h"
#include "schemes/place.h"

namespace {

using namespace duewheel;

struct Options {
    std::string scheme = "hierarchical_wheel";
    bool plain = isatty(STDOUT_FILENO) == 0;
    std::uint64_t steps = 60;
    std::vector<Tick> only;  // the ticks to print; all if empty
    std::uint64_t pause_ms = 200;
};

// The demonstration of a scheme: the first timer repeats itself, and every step has a number of ticks.
struct Play {
    std::vector<Tick> delays = {4, 9, 14, 14, 27, 50, 130, 500};
    Tick ticks_a_step = 1;
};

std::string label(std::uint64_t cookie) {
    return std::string(1, static_cast<char>('a' + cookie));
}

// The rows and places of a scheme, as it says itself. The core wheel does not: it is drawn in its plain form, where a
// timer lies on the level of the highest 6-bit digit in which its deadline differs from the time, in the slot of its
// own digit. These are the slots that IntrusiveTimingWheel has; TimingWheel keeps two blocks a level and leaves timers
// parked.
template <class Queue>
std::vector<Row> rows_of(const Queue& queue) {
    if constexpr (requires { queue.rows(); }) {
        return queue.rows();
    } else {
        std::vector<Row> rows;
        for (unsigned level = 0; level < 2; ++level) {
            rows.push_back(Row{"level " + std::to_string(level), 64, (queue.now() >> (6 * level)) % 64});
        }
        return rows;
    }
}

template <class Queue>
std::optional<Place> place_of(const Queue& queue, TimerHandle handle) {
    if constexpr (requires { queue.place_of(handle); }) {
        return queue.place_of(handle);
    } else {
        const std::optional<Tick> deadline = queue.deadline_of(handle);
        if (!deadline || *deadline <= queue.now()) return std::nullopt;
        Place place;
        while ((*deadline ^ queue.now()) >> (6 * (place.row + 1)) != 0) ++place.row;
        place.slot = (*deadline >> (6 * place.row)) % 64;
        return place;
    }
}

// One row, and below it the hand.
std::string drawing(const Row& row, const std::map<std::size_t, std::string>& labels) {
    constexpr std::size_t kNameWidth = 18;
    const std::string space = row.slots > 32 ? "" : " ";
    std::string line = "  " + row.name;
    line.resize(std::max(line.size() + 1, kNameWidth), ' ');
    const std::size_t cells_begin = line.size();
    for (std::size_t slot = 0; slot < row.slots; ++slot) {
        const auto found = labels.find(slot);
        const std::string in_slot = found == labels.end() ? "." : found->second;
        line += (in_slot.size() > 1 ? std::to_string(in_slot.size()) : in_slot) + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (!row.hand) return line + "\n";
    const std::string below(cells_begin + *row.hand * (1 + space.size()), ' ');
    return line + "\n" + below + "^" + std::to_string(*row.hand) + "\n";
}

template <TimerQueue Queue>
class Stage {
  public:
    Stage(Queue& queue, const Play& play) : queue_(queue), play_(play) {
        for (std::uint64_t cookie = 0; cookie < play.delays.size(); ++cookie) {
            handles_.push_back(queue.schedule(queue.now() + play.delays[cookie], cookie));
        }
    }

    // The timers of the play, in words.
    std::string legend() const {
        std::string text;
        for (std::uint64_t cookie = 0; cookie < play_.delays.size(); ++cookie) {
            text += (cookie == 0 ? "" : ", ") + label(cookie) + (cookie == 0 ? " every " : " in ") +
                    std::to_string(play_.delays[cookie]);
            if (!handles_[cookie]) text += " (refused)";
        }
        if constexpr (!requires { queue_.rows(); })
            text += "\n(slots worked out from the deadlines, in the plain form)";
        return text + "\n";
    }

    // The labels of what fired, each with its deadline.
    std::string step() {
        std::string fired;
        queue_.advance_to(queue_.now() + play_.ticks_a_step, [&](std::uint64_t cookie, Tick deadline) {
            fired += " " + label(cookie) + "@" + std::to_string(deadline - start_);
            if (cookie == 0) static_cast<void>(queue_.reschedule(handles_[cookie], deadline + play_.delays[cookie]));
        });
        return fired;
    }

    Tick elapsed() const { return queue_.now() - start_; }

    std::string frame(const std::string& fired) const {
        std::ostringstream text;
        text << "tick " << elapsed() << "  pending " << queue_.size() << "  next ";
        if (queue_.next_expiry() == kNever) {
            text << "never";
        } else {
            text << queue_.next_expiry() - start_;
        }
        text << (fired.empty() ? "" : "  fired" + fired) << "\n";

        std::map<std::size_t, std::map<std::size_t, std::string>> labels;  // by row and slot
        for (std::uint64_t cookie = 0; cookie < handles_.size(); ++cookie) {
            if (const auto place = place_of(queue_, handles_[cookie])) labels[place->row][place->slot] += label(cookie);
        }
        const std::vector<Row> rows = rows_of(queue_);
        for (std::size_t row = 0; row < rows.size(); ++row) text << drawing(rows[row], labels[row]);
        return text.str();
    }

  private:
    Queue& queue_;
    const Play& play_;
    const Tick start_ = queue_.now();
    std::vector<TimerHandle> handles_;
};

template <TimerQueue Queue>
void show(Queue& queue, const Options& options, const Play& play) {
    Stage<Queue> stage(queue, play);
    std::string fired;
    const auto wanted = [&](Tick tick) {
        return options.only.empty() || std::find(options.only.begin(), options.only.end(), tick) != options.only.end();
    };
    if (options.plain) std::cout << stage.legend();
    for (std::uint64_t step = 0; step <= options.steps; ++step) {
        if (step > 0) fired = stage.step();
        if (!options.plain) {
            std::cout << "\x1b[H\x1b[2J" << options.scheme << "\n\n"
                      << stage.legend() << "\n"
                      << stage.frame(fired) << std::flush;
            std::this_thread::sleep_for(std::chrono::milliseconds(options.pause_ms));
        } else if (wanted(stage.elapsed())) {
            std::cout << "\n" << stage.frame(fired);
        }
    }
}

// Plays on a queue made of these arguments.
template <TimerQueue Queue, class... Arguments>
std::function<void(const Options&)> on(const Play& play, const Arguments&... arguments) {
    return [=](const Options& options) {
        Queue queue(arguments...);
        show(queue, options, play);
    };
}

// On a calendar a step is an hour, from 2026-12-29T18:00:00Z on: `a` is daily at 18:00, `e` is due on 1 February at
// 06:00.
constexpr Tick kDecember29At18 = 1'798'567'200;
const Play kTicks;
const Play kHours{{86'400, 90, 5000, 300'000, 2'894'400, 1'500'000, 40'000'000, 400'000'000}, 3600};

// Named as in every_scheme.h, and with few slots, so that they fit on a screen.
const std::map<std::string, std::function<void(const Options&)>> kSchemes = {
    {"unordered_list", on<UnorderedList>(kTicks)},
    {"ordered_list", on<OrderedList>(kTicks)},
    {"binary_heap", on<BinaryHeap>(kTicks)},
    {"quaternary_heap", on<QuaternaryHeap>(kTicks)},
    {"simple_wheel", on<SimpleWheel>(kTicks, Tick{0}, std::size_t{16})},
    {"hashed_sorted_wheel", on<HashedSortedWheel>(kTicks, Tick{0}, std::size_t{8})},
    {"hashed_rounds_wheel", on<HashedRoundsWheel>(kTicks, Tick{0}, std::size_t{8})},
    {"hierarchical_wheel", on<HierarchicalWheel>(kTicks, Tick{12}, std::vector<std::size_t>{8, 8, 8})},
    {"overflow_wheel", on<OverflowWheel>(kTicks, Tick{0}, std::size_t{8})},
    {"non_cascading_wheel", on<NonCascadingWheel>(kTicks)},
    {"calendar_wheel", on<CalendarWheel>(kHours, kDecember29At18)},
    {"duration_lanes", on<DurationLanes>(kTicks)},
    {"timing_wheel", on<TimingWheel>(kTicks)},
};

int usage() {
    std::cerr << "turning_wheels [SCHEME] [--plain] [--steps N] [--only TICK,TICK...] [--pause MILLISECONDS]\nSCHEME "
                 "is one of:";
    for (const auto& [name, ignored] : kSchemes) std::cerr << " " << name;
    std::cerr << "\n";
    return 2;
}

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::vector<Tick>> numbers(std::string_view text) {
    std::vector<Tick> values;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::optional<std::uint64_t> value = number(text.substr(0, comma));
        if (!value) return std::nullopt;
        values.push_back(*value);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return values;
}

// Nothing where the arguments mean nothing.
std::optional<Options> parsed(const std::vector<std::string>& arguments) {
    Options options;
    std::optional<std::uint64_t> steps;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
        if (argument == "--plain") {
            options.plain = true;
        } else if (argument == "--only") {
            const auto ticks = numbers(value);
            if (!ticks || ticks->empty()) return std::nullopt;
            options.only = *ticks;
            ++i;
        } else if (argument == "--steps" || argument == "--pause") {
            const auto amount = number(value);
            if (!amount) return std::nullopt;
            if (argument == "--pause") options.pause_ms = *amount;
            if (argument == "--steps") steps = amount;
            ++i;
        } else {
            options.scheme = argument;
        }
    }
    if (steps) {
        options.steps = *steps;
    } else if (!options.only.empty()) {
        options.steps = *std::max_element(options.only.begin(), options.only.end());
    }
    if (!kSchemes.contains(options.scheme)) return std::nullopt;
    return options;
}

}  // namespace

int main(int count, char** arguments) {
    const std::optional<Options> options = parsed(std::vector<std::string>(arguments + 1, arguments + count));
    if (!options) return usage();
    kSchemes.at(options->scheme)(*options);
    return 0;
}
