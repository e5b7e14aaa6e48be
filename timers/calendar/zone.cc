// Zones from the operating system's database, read by cctz, and converted into spans once. No other file uses cctz:
// after loading there is only arithmetic on our own table, without I/O and locks.
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include "calendar/zone_hint.h"
#include "calendar/zone_rules.h"
#include "shared/utf8.h"
#include <duewheel/zone.h>

namespace duewheel {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using SystemSeconds = cctz::time_point<cctz::seconds>;

constexpr std::size_t kNameBytesMax = 64;

std::string database_folder() {
    const char* chosen = std::getenv("TZDIR");
    return chosen != nullptr && *chosen != '\0' ? chosen : "/usr/share/zoneinfo";
}

// The database as one text: its version, rules, zones and links.
std::ifstream database_text() {
    return std::ifstream(database_folder() + "/tzdata.zi");
}

// "Z Europe/Oslo ..." and "L Europe/Oslo Atlantic/Jan_Mayen": the names of all zones.
std::vector<std::string> all_names() {
    std::vector<std::string> names;
    std::ifstream text = database_text();
    for (std::string line; std::getline(text, line);) {
        const std::size_t begin = line.starts_with("Z ") ? 2 : line.starts_with("L ") ? line.rfind(' ') + 1 : 0;
        if (begin != 0) names.push_back(line.substr(begin, line.find(' ', begin) - begin));
    }
    return names;
}

bool is_letter_of_name(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '-' || letter == '+';
}

// Parts of letters with a slash between them: no name that leads out of the database's folder.
bool has_form_of_name(std::string_view name) {
    if (name.empty() || name.size() > kNameBytesMax) return false;
    char before = '/';
    for (const char letter : name) {
        if (letter == '/' ? before == '/' : !is_letter_of_name(letter)) return false;
        before = letter;
    }
    return before != '/';
}

bool means_another_thing_elsewhere(std::string_view name) {
    constexpr std::array<std::string_view, 3> kNames = {"localtime", "posixrules", "Factory"};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.starts_with("right/") ||
           name.starts_with("posix/");
}

Error refusal(std::string_view name, std::string_view why) {
    const std::string text = as_utf8(name);
    std::string shown(cut_utf8(text, kNameBytesMax));
    for (char& letter : shown) {
        if ((letter >= 0 && letter < ' ') || letter == '\x7f') letter = '?';
    }
    return Error{ErrorCode::bad_zone, "There is no time zone \"" + shown + "\": " + std::string(why), {}};
}

Error unknown(std::string_view name) {
    const std::vector<std::string> names = all_names();
    const std::vector<std::string_view> known(names.begin(), names.end());
    if (known.empty()) {
        return refusal(name, "no zone data was found in " + database_folder() + ". Install the package tzdata.");
    }
    return refusal(name, zone_hint(name, known));
}

std::vector<ZoneRules::Span> spans_of(const cctz::time_zone& zone) {
    SystemSeconds at{cctz::seconds(kBeginSecond - kOffsetSecondsMost)};
    std::vector<ZoneRules::Span> spans = {{std::numeric_limits<std::int64_t>::min(), zone.lookup(at).offset}};
    cctz::time_zone::civil_transition change;
    while (zone.next_transition(at, &change)) {
        at = zone.lookup(change.to).trans;
        const std::int64_t begin = at.time_since_epoch().count();
        if (begin >= kEndSecond + kOffsetSecondsMost) break;
        const std::int64_t offset = zone.lookup(at).offset;
        if (offset != spans.back().offset) spans.push_back({begin, offset});
    }
    spans.shrink_to_fit();
    return spans;
}

std::int64_t whole_seconds(milliseconds since) {
    return std::chrono::floor<seconds>(since).count();
}

}  // namespace

Result<Zone> Zone::load(std::string_view name) {
    if (means_another_thing_elsewhere(name)) {
        return refusal(name, "its meaning depends on the machine. Use a name such as Europe/Oslo, or UTC.");
    }
    cctz::time_zone zone;
    if (!has_form_of_name(name) || !cctz::load_time_zone(std::string(name), &zone)) return unknown(name);
    return Zone(std::make_shared<const ZoneRules>(ZoneRules{std::string(name), spans_of(zone)}));
}

Zone Zone::utc() {
    return Zone(std::make_shared<const ZoneRules>(ZoneRules{"UTC", {{std::numeric_limits<std::int64_t>::min(), 0}}}));
}

const std::string& Zone::name() const {
    return rules_->name;
}

seconds Zone::offset_at(Instant instant) const {
    return seconds(rules_->offset_at(whole_seconds(instant.time_since_epoch())));
}

std::chrono::local_time<milliseconds> Zone::local(Instant instant) const {
    return std::chrono::local_time<milliseconds>(instant.time_since_epoch() + offset_at(instant));
}

Instant Zone::instant_of(std::chrono::local_time<milliseconds> local) const {
    const std::int64_t whole = whole_seconds(local.time_since_epoch());
    const std::int64_t second = rules_->second_of(whole);
    const Instant instant{seconds(second)};
    // In a gap, the fraction is skipped together with its second.
    const bool skipped = second + rules_->offset_at(second) != whole;
    return skipped ? instant : instant + (local.time_since_epoch() - seconds(whole));
}

std::string zone_data_version() {
    std::ifstream text = database_text();
    std::string line;
    constexpr std::string_view kMark = "# version ";
    if (!std::getline(text, line) || !line.starts_with(kMark)) return "unknown";
    return line.substr(kMark.size(), line.find(' ', kMark.size()) - kMark.size());
}

}  // namespace duewheel
