// The simulator's command line.
//
//     duewheel_sim --seed N [--runs K] [--steps M] [--without a,b,...] [--verbose]
//
// runs K seeds, beginning with N, and prints their totals. For a violation it prints the promise that is broken (C1 to
// C12, docs/promises.md) and the history of the message concerned, reduces the run (unless --no-shrink), prints the
// command that replays it, and exits with 1. Further options, for the tests:
//
//     --seeds FILE         first runs the seeds that stand in the file, "seed steps", or "seed steps without=a,b", a
//     line
//     --expect-rare        fails if one of the rare states was never met
//     --expect-hash FILE   fails if the event hash is not the one in the file
//     --record-hash FILE   writes it
//     --totals FILE        writes what the runs added up to, a name and a number a line
//     --bug NAME|NUMBER    turns a planted bug on (duewheel_sim_planted only)
//     --bugs SECONDS       hunts each of them (likewise)
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "simulation/planted_hunt.h"
#include "simulation/trial.h"
#include "simulation/two_shards.h"

namespace duewheel {
namespace {

struct Arguments {
    std::string program;
    std::uint64_t seed = 1;
    std::uint64_t runs = 1;
    std::uint32_t steps = 400;
    std::vector<std::string> without;
    bool verbose = false;
    bool shrinks = true;
    std::string seeds_file;
    bool expects_rare = false;
    std::string expected_hash_file;
    std::string recorded_hash_file;
    std::string totals_file;
    std::optional<std::string> bug;
    PlantedBug planted = kNoBug;
    unsigned hunt_seconds = 0;
};

[[noreturn]] void usage(const std::string& wrong) {
    std::fprintf(stderr,
                 "duewheel_sim: %s\nusage: duewheel_sim --seed N [--runs K] [--steps M] [--without a,b] [--bug NAME] "
                 "[--verbose] [--no-shrink]\n",
                 wrong.c_str());
    std::exit(2);
}

std::uint64_t number(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) usage("'" + text + "' is no number");
    return value;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
    return parts;
}

Arguments parse(int argc, char** argv) {
    Arguments arguments;
    arguments.program = argv[0];
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        const auto value = [&] {
            if (++i >= argc) usage(name + " needs a value");
            return std::string(argv[i]);
        };
        if (name == "--seed") {
            arguments.seed = number(value());
        } else if (name == "--runs") {
            arguments.runs = number(value());
        } else if (name == "--steps") {
            arguments.steps = static_cast<std::uint32_t>(number(value()));
        } else if (name == "--without") {
            arguments.without = split(value());
        } else if (name == "--bug") {
            arguments.bug = value();
        } else if (name == "--bugs") {
            arguments.hunt_seconds = static_cast<unsigned>(number(value()));
        } else if (name == "--seeds") {
            arguments.seeds_file = value();
        } else if (name == "--expect-hash") {
            arguments.expected_hash_file = value();
        } else if (name == "--record-hash") {
            arguments.recorded_hash_file = value();
        } else if (name == "--totals") {
            arguments.totals_file = value();
        } else if (name == "--expect-rare") {
            arguments.expects_rare = true;
        } else if (name == "--verbose") {
            arguments.verbose = true;
        } else if (name == "--no-shrink") {
            arguments.shrinks = false;
        } else {
            usage("unknown argument " + name);
        }
    }
    for (const std::string& name : arguments.without) {
        SimOptions options;
        if (!switch_off(options, name)) usage("nothing is called " + name);
    }
    return arguments;
}

// What is told when a run ends in an assertion. Prepared beforehand: a signal handler may only write.
char last_words[2048];

extern "C" void tell_last_words(int signal) {
    const ssize_t written = write(2, last_words, std::strlen(last_words));
    static_cast<void>(written);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

struct Sum {
    std::uint64_t runs = 0;
    std::uint64_t messages = 0;
    std::uint64_t deliveries = 0;
    std::uint64_t requests_lost = 0;
    std::uint64_t restarts = 0;
    EventHash hash;
    std::uint64_t events = 0;
    std::int64_t simulated_ms = 0;
    RareStates rare;
};

// One line for a shell in the same folder.
std::string replay_command(const Arguments& arguments, std::uint64_t seed, std::uint32_t steps,
                           const std::vector<std::string>& without) {
    const std::string bug = arguments.bug ? " --bug " + *arguments.bug : "";
    return arguments.program + bug + " " + replay_arguments(seed, steps, without);
}

void report(const Arguments& arguments, std::uint64_t seed, std::uint32_t steps, const SimResult& result) {
    const Violation& violation = *result.violation;
    std::printf("\nVIOLATION of %.*s in seed %lu at step %lu: %s\n", static_cast<int>(violation.clause.size()),
                violation.clause.data(), static_cast<unsigned long>(seed), static_cast<unsigned long>(result.step),
                violation.what.c_str());
    std::printf("%s", result.history.c_str());
    std::printf("replay: %s\n", replay_command(arguments, seed, steps, arguments.without).c_str());
    std::fflush(stdout);
    if (!arguments.shrinks) return;
    const Smaller smaller = shrink(seed, steps, arguments.without, arguments.planted);
    std::printf("smaller: %s\n", replay_command(arguments, seed, smaller.steps, smaller.without).c_str());
}

bool run_one(const Arguments& arguments, std::uint64_t seed, std::uint32_t steps, Sum& sum) {
    std::snprintf(last_words, sizeof last_words, "\nseed %lu ended in an assertion\nreplay: %s\n",
                  static_cast<unsigned long>(seed), replay_command(arguments, seed, steps, arguments.without).c_str());
    SimOptions options = options_of(seed, steps, arguments.without);
    options.trace = arguments.verbose;
    const SimResult result = simulate(options, arguments.verbose);
    ++sum.runs;
    sum.messages += result.totals.messages;
    sum.deliveries += result.totals.deliveries;
    sum.requests_lost += result.totals.requests_lost;
    sum.restarts += result.restarts - 1;
    sum.hash.add(result.hash);
    sum.events += result.events;
    sum.simulated_ms += result.simulated_ms;
    sum.rare.add(result.rare);
    if (result.violation) report(arguments, seed, steps, result);
    return !result.violation;
}

void print(const Sum& sum, bool verbose) {
    std::printf(
        "%lu runs: %lu messages, %lu deliveries, %lu crash-recoveries, %lu requests lost, %lu events, hash "
        "%016lx\n",
        static_cast<unsigned long>(sum.runs), static_cast<unsigned long>(sum.messages),
        static_cast<unsigned long>(sum.deliveries), static_cast<unsigned long>(sum.restarts),
        static_cast<unsigned long>(sum.requests_lost), static_cast<unsigned long>(sum.events),
        static_cast<unsigned long>(sum.hash.value()));
    std::size_t met = 0;
    for (std::size_t i = 0; i < kRareCount; ++i) {
        if (sum.rare.counts[i] > 0) ++met;
        if (verbose) {
            std::printf("  %-36s %lu\n", std::string(kRareNames[i]).c_str(),
                        static_cast<unsigned long>(sum.rare.counts[i]));
        }
    }
    std::printf("%zu of %zu rare states were met", met, kRareCount);
    const char* before = "; never: ";
    for (std::size_t i = 0; i < kRareCount; ++i) {
        if (sum.rare.counts[i] > 0) continue;
        std::printf("%s%s", before, std::string(kRareNames[i]).c_str());
        before = ", ";
    }
    std::printf("\n");
}

void write_totals(const std::string& path, const Sum& sum) {
    std::ofstream file(path);
    file << "runs " << sum.runs << "\nmessages " << sum.messages << "\ndeliveries " << sum.deliveries
         << "\ncrash_recoveries " << sum.restarts << "\nrequests_lost " << sum.requests_lost << "\nevents "
         << sum.events << "\nsimulated_ms " << sum.simulated_ms << "\n";
    for (std::size_t i = 0; i < kRareCount; ++i) file << "rare." << kRareNames[i] << " " << sum.rare.counts[i] << "\n";
}

bool met_all(const RareStates& rare) {
    return std::none_of(rare.counts.begin(), rare.counts.end(), [](std::uint64_t count) { return count == 0; });
}

bool check_hash(const Arguments& arguments, const Sum& sum) {
    char text[24];
    std::snprintf(text, sizeof text, "%016lx", static_cast<unsigned long>(sum.hash.value()));
    if (!arguments.recorded_hash_file.empty()) std::ofstream(arguments.recorded_hash_file) << text << "\n";
    if (arguments.expected_hash_file.empty()) return true;
    std::string expected;
    std::ifstream(arguments.expected_hash_file) >> expected;
    if (expected == text) return true;
    std::printf(
        "the event hash is %s and not %s as %s says: this build decides something else, or the engine, the "
        "workload or the draws changed (then record it anew with --record-hash)\n",
        text, expected.c_str(), arguments.expected_hash_file.c_str());
    return false;
}

int run_all(const Arguments& arguments) {
    std::signal(SIGABRT, tell_last_words);
    std::signal(SIGSEGV, tell_last_words);
    Sum sum;
    std::ifstream seeds(arguments.seeds_file);
    std::string line;
    while (std::getline(seeds, line)) {
        std::istringstream fields(line);
        std::uint64_t seed = 0;
        std::uint32_t steps = 0;
        if (line.empty() || line.front() == '#' || !(fields >> seed >> steps)) continue;
        Arguments of_line = arguments;
        constexpr std::string_view kWithout = "without=";
        std::string word;
        if (fields >> word && word.starts_with(kWithout)) of_line.without = split(word.substr(kWithout.size()));
        if (!run_one(of_line, seed, steps, sum)) return 1;
    }
    for (std::uint64_t seed = arguments.seed; seed < arguments.seed + arguments.runs; ++seed) {
        if (!run_one(arguments, seed, arguments.steps, sum)) return 1;
    }
    print(sum, arguments.verbose || arguments.expects_rare);
    if (!arguments.totals_file.empty()) write_totals(arguments.totals_file, sum);
    if (arguments.expects_rare && !met_all(sum.rare)) return 1;
    return check_hash(arguments, sum) ? 0 : 1;
}

}  // namespace
}  // namespace duewheel

int main(int argc, char** argv) {
    using namespace duewheel;
    Arguments arguments = parse(argc, argv);
    if (arguments.hunt_seconds > 0) return hunt_all(arguments.hunt_seconds, arguments.steps);
    if (arguments.bug) {
        const std::optional<PlantedBug> planted = bug_named(*arguments.bug);
        if (!planted) usage("no bug " + *arguments.bug + " in this program");
        arguments.planted = planted_bug = *planted;
    }
    return run_all(arguments);
}
