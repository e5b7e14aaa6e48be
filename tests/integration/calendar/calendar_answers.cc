// Prints the calendar's answers in bulk, for calendar_oracles_test.py to compare with those of public cron libraries.
//
//     calendar_answers zones FROM TO            a line a zone: name, then its changes of offset, "second:offset" each;
//                                               FROM and TO are years
//     calendar_answers firings < questions      a line a question: number, then the firings
//
// A question is a line of fields with tabs between them: number, rule, zone, shift or skip, first or both, the seconds
// from and to, how many firings at most. The programs of the other libraries read the same lines.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "calendar/zone_rules.h"
#include <duewheel/cron_schedule.h>

namespace {

using namespace duewheel;
using std::chrono::seconds;

[[noreturn]] void fail(const std::string& why) {
    std::cerr << "calendar_answers: " << why << "\n";
    std::exit(1);
}

std::int64_t new_year(const char* year) {
    const std::chrono::sys_days day{std::chrono::year(std::atoi(year)) / std::chrono::January / 1};
    return day.time_since_epoch() / seconds(1);
}

int print_zones(std::int64_t from, std::int64_t to) {
    namespace fs = std::filesystem;
    const char* chosen = std::getenv("TZDIR");
    const fs::path root = chosen != nullptr ? chosen : "/usr/share/zoneinfo";
    std::map<std::string, std::string> lines;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
        const std::string name = entry.path().lexically_relative(root);
        // The folder also has tables with other forms of name, and variants of all zones in folders of their own.
        if (!entry.is_regular_file() || name.starts_with("right/") || name.starts_with("posix/")) continue;
        const Result<Zone> zone = Zone::load(name);
        if (!zone) continue;
        std::ostringstream line;
        const std::vector<ZoneRules::Span>& spans = zone->rules().spans;
        line << from << ":" << zone->rules().offset_at(from);
        for (const ZoneRules::Span& span : spans) {
            if (span.begin > from && span.begin < to) line << " " << span.begin << ":" << span.offset;
        }
        lines[name] = line.str();
    }
    for (const auto& [name, line] : lines) std::cout << name << "\t" << line << "\n";
    return 0;
}

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
    return fields;
}

void answer(const std::vector<std::string>& lookup, const Zone& zone) {
    Result<CronRule> rule = CronRule::parse(lookup[1]);
    if (!rule) fail(lookup[1] + ": " + rule.error().message);
    const DaylightPolicy policy{lookup[3] == "skip" ? SkippedTime::skip : SkippedTime::shift,
                                lookup[4] == "both" ? RepeatedTime::both : RepeatedTime::first};
    const CronSchedule schedule(*std::move(rule), zone, policy);
    const Instant to{seconds(std::stoll(lookup[6]))};
    std::cout << lookup[0] << "\t";
    Instant after{seconds(std::stoll(lookup[5]))};
    for (int left = std::stoi(lookup[7]); left > 0; --left) {
        const std::optional<Instant> due = schedule.next(after);
        if (!due || *due > to) break;
        std::cout << std::chrono::floor<seconds>(due->time_since_epoch()).count() << " ";
        after = *due;
    }
    std::cout << "\n";
}

int print_firings() {
    std::map<std::string, Zone> zones;
    for (std::string line; std::getline(std::cin, line);) {
        const std::vector<std::string> lookup = fields_of(line);
        if (lookup.size() != 8) fail("a question has eight fields: " + line);
        auto zone = zones.find(lookup[2]);
        if (zone == zones.end()) {
            Result<Zone> loaded = Zone::load(lookup[2]);
            if (!loaded) fail(loaded.error().message);
            zone = zones.emplace(lookup[2], *loaded).first;
        }
        answer(lookup, zone->second);
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    std::ios::sync_with_stdio(false);
    const std::string what = count > 1 ? arguments[1] : "";
    if (what == "zones" && count == 4) return print_zones(new_year(arguments[2]), new_year(arguments[3]));
    if (what == "firings" && count == 2) return print_firings();
    std::cerr << "usage: calendar_answers zones FROM TO | calendar_answers firings < questions\n";
    return 2;
}
