#include "simulation/planted_hunt.h"

#include <algorithm>
#include <cstdio>

#include "simulation/trial.h"

namespace duewheel {

std::optional<PlantedBug> bug_named(const std::string& name_or_number) {
    for (const BugToHunt& bug : bugs_to_hunt()) {
        if (bug.name == name_or_number || std::to_string(static_cast<int>(bug.bug)) == name_or_number) return bug.bug;
    }
    return std::nullopt;
}

int hunt_all(unsigned cpu_seconds_each, std::uint32_t steps) {
    if (bugs_to_hunt().empty()) {
        std::printf("no bug is planted in this program: run duewheel_sim_planted\n");
        return 2;
    }
    // The first row is the control: where no bug is turned on none is found. A minute of it is enough.
    std::vector<BugToHunt> rows = bugs_to_hunt();
    rows.insert(rows.begin(), {kNoBug, "none", {}});
    constexpr std::uint64_t kSeedsMax = 1'000'000;
    int wrong = 0;
    double sum = 0;
    std::printf("bug                                       seconds   seeds  found as\n");
    for (const BugToHunt& row : rows) {
        const bool is_control = row.bug == kNoBug;
        const unsigned seconds = is_control ? std::min(cpu_seconds_each, 60U) : cpu_seconds_each;
        const Trial trial = run_apart(1, kSeedsMax, steps, row.without, seconds, row.bug);
        std::printf("%2d %-40s %8.2f %7lu  %s\n", static_cast<int>(row.bug), row.name.c_str(), trial.cpu_seconds,
                    static_cast<unsigned long>(trial.seeds),
                    trial.found  ? trial.clause.c_str()
                    : is_control ? "nothing"
                                 : "NOT FOUND");
        std::fflush(stdout);
        sum += trial.cpu_seconds;
        if (trial.found == is_control) ++wrong;
    }
    std::printf("%d of %zu rows are not as they must be, %.1f CPU seconds\n", wrong, rows.size(), sum);
    return wrong == 0 ? 0 : 1;
}

}  // namespace duewheel
