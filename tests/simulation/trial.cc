#include "simulation/trial.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulation/two_shards.h"

namespace duewheel {
namespace {

// What the child leaves behind however it ends.
struct Shared {
    std::uint64_t seed = 0;
    std::uint64_t seeds = 0;
    std::uint64_t step = 0;
    bool violated = false;
    char clause[16] = {};
};

double cpu_of(const rusage& usage) {
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

[[noreturn]] void hunt(Shared& shared, std::uint64_t first, std::uint64_t count, std::uint32_t steps,
                       const std::vector<std::string>& without) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) std::_Exit(3);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        shared.seed = seed;
        ++shared.seeds;
        const SimResult result = simulate(options_of(seed, steps, without));
        if (!result.violation) continue;
        shared.violated = true;
        shared.step = result.step;
        const std::size_t length = std::min(result.violation->clause.size(), sizeof shared.clause - 1);
        std::memcpy(shared.clause, result.violation->clause.data(), length);
        std::_Exit(1);
    }
    std::_Exit(0);
}

}  // namespace

SimOptions options_of(std::uint64_t seed, std::uint32_t steps, const std::vector<std::string>& without) {
    SimOptions options = draw_options(seed, steps);
    for (const std::string& name : without) switch_off(options, name);
    return options;
}

std::string replay_arguments(std::uint64_t seed, std::uint32_t steps, const std::vector<std::string>& without) {
    std::string arguments = "--seed " + std::to_string(seed) + " --steps " + std::to_string(steps);
    for (std::size_t i = 0; i < without.size(); ++i) arguments += (i == 0 ? " --without " : ",") + without[i];
    return arguments + " --verbose";
}

Trial run_apart(std::uint64_t first, std::uint64_t count, std::uint32_t steps, const std::vector<std::string>& without,
                unsigned cpu_seconds, PlantedBug bug) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    auto* shared = new (memory) Shared;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) std::abort();
    if (child == 0) {
        const rlimit no_core{0, 0};
        const rlimit cpu{cpu_seconds, cpu_seconds + 1};
        setrlimit(RLIMIT_CORE, &no_core);
        setrlimit(RLIMIT_CPU, &cpu);
        planted_bug = bug;
        hunt(*shared, first, count, steps, without);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    Trial trial;
    trial.seeds = shared->seeds;
    trial.last_seed = shared->seed;
    trial.step = shared->step;
    trial.cpu_seconds = cpu_of(usage);
    trial.found = shared->violated;
    trial.clause = shared->clause;
    if (!trial.found && WIFSIGNALED(status)) {
        // Out of time is no finding, unless a single run took it all.
        const bool out_of_time = WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL;
        trial.found = !out_of_time || trial.seeds == 1;
        trial.clause = out_of_time ? "endless" : "assertion";
    }
    munmap(memory, sizeof(Shared));
    return trial;
}

Smaller shrink(std::uint64_t seed, std::uint32_t steps, std::vector<std::string> without, PlantedBug bug) {
    constexpr unsigned kSecondsMax = 20;
    const auto is_wrong = [&](std::uint32_t with_steps, const std::vector<std::string>& less) {
        return run_apart(seed, 1, with_steps, less, kSecondsMax, bug).found;
    };
    for (const std::string_view name : switched_on(options_of(seed, steps, without))) {
        if (name == "put" || name == "lease") continue;
        std::vector<std::string> less = without;
        less.emplace_back(name);
        if (is_wrong(steps, less)) without = std::move(less);
    }
    for (std::uint32_t step = steps / 2; step > 0; step /= 2) {
        while (steps > step && is_wrong(steps - step, without)) steps -= step;
    }
    return {steps, without};
}

}  // namespace duewheel
