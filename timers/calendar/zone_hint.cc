#include "calendar/zone_hint.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <vector>

#include "calendar/text_scanner.h"
#include "shared/nearest_name.h"

namespace duewheel {
namespace {

constexpr std::size_t kBytesCompared = 64;
constexpr int kMinutesAhead = 14 * 60;  // Etc/GMT-14 and Etc/GMT+12 are the last of their kind
constexpr int kMinutesBehind = 12 * 60;

struct Meaning {
    std::string_view name;  // in small letters, without the region
    std::string_view zone;
};

// Common names and their zones. A city has its legal zone. An abbreviation has the zone of most of its users; one that
// is used on several continents (CST) has a row for each. Older spellings are listed because some systems omit them
// from the database.
constexpr Meaning kMeanings[] = {
    {"abu_dhabi", "Asia/Dubai"},
    {"aedt", "Australia/Sydney"},
    {"aest", "Australia/Sydney"},
    {"ankara", "Europe/Istanbul"},
    {"atlanta", "America/New_York"},
    {"austin", "America/Chicago"},
    {"bangalore", "Asia/Kolkata"},
    {"barcelona", "Europe/Madrid"},
    {"basel", "Europe/Zurich"},
    {"beijing", "Asia/Shanghai"},
    {"bengaluru", "Asia/Kolkata"},
    {"bern", "Europe/Zurich"},
    {"bombay", "Asia/Kolkata"},
    {"boston", "America/New_York"},
    {"brasilia", "America/Sao_Paulo"},
    {"bst", "Europe/London"},
    {"bst", "Asia/Dhaka"},
    {"calcutta", "Asia/Kolkata"},
    {"cape_town", "Africa/Johannesburg"},
    {"cdt", "America/Chicago"},
    {"central", "America/Chicago"},
    {"cest", "Europe/Berlin"},
    {"chennai", "Asia/Kolkata"},
    {"china", "Asia/Shanghai"},
    {"cologne", "Europe/Berlin"},
    {"cst", "America/Chicago"},
    {"cst", "Asia/Shanghai"},
    {"dallas", "America/Chicago"},
    {"delhi", "Asia/Kolkata"},
    {"eastern", "America/New_York"},
    {"edinburgh", "Europe/London"},
    {"edt", "America/New_York"},
    {"frankfurt", "Europe/Berlin"},
    {"geneva", "Europe/Zurich"},
    {"germany", "Europe/Berlin"},
    {"guangzhou", "Asia/Shanghai"},
    {"hamburg", "Europe/Berlin"},
    {"hanoi", "Asia/Ho_Chi_Minh"},
    {"houston", "America/Chicago"},
    {"hyderabad", "Asia/Kolkata"},
    {"india", "Asia/Kolkata"},
    {"islamabad", "Asia/Karachi"},
    {"ist", "Asia/Kolkata"},
    {"ist", "Europe/Dublin"},
    {"ist", "Asia/Jerusalem"},
    {"jst", "Asia/Tokyo"},
    {"katmandu", "Asia/Kathmandu"},
    {"kiev", "Europe/Kyiv"},
    {"krakow", "Europe/Warsaw"},
    {"kst", "Asia/Seoul"},
    {"kyoto", "Asia/Tokyo"},
    {"lahore", "Asia/Karachi"},
    {"las_vegas", "America/Los_Angeles"},
    {"lyon", "Europe/Paris"},
    {"manchester", "Europe/London"},
    {"mdt", "America/Denver"},
    {"miami", "America/New_York"},
    {"milan", "Europe/Rome"},
    {"montreal", "America/Toronto"},
    {"mountain", "America/Denver"},
    {"msk", "Europe/Moscow"},
    {"mumbai", "Asia/Kolkata"},
    {"munich", "Europe/Berlin"},
    {"new_delhi", "Asia/Kolkata"},
    {"nyc", "America/New_York"},
    {"osaka", "Asia/Tokyo"},
    {"ottawa", "America/Toronto"},
    {"pacific", "America/Los_Angeles"},
    {"pdt", "America/Los_Angeles"},
    {"peking", "Asia/Shanghai"},
    {"philadelphia", "America/New_York"},
    {"pst", "America/Los_Angeles"},
    {"rangoon", "Asia/Yangon"},
    {"rio_de_janeiro", "America/Sao_Paulo"},
    {"rotterdam", "Europe/Amsterdam"},
    {"saigon", "Asia/Ho_Chi_Minh"},
    {"saint_petersburg", "Europe/Moscow"},
    {"san_diego", "America/Los_Angeles"},
    {"san_francisco", "America/Los_Angeles"},
    {"seattle", "America/Los_Angeles"},
    {"sgt", "Asia/Singapore"},
    {"shenzhen", "Asia/Shanghai"},
    {"st_petersburg", "Europe/Moscow"},
    {"tel_aviv", "Asia/Jerusalem"},
    {"washington", "America/New_York"},
    {"wellington", "Pacific/Auckland"},
    {"上海", "Asia/Shanghai"},
    {"中国", "Asia/Shanghai"},
    {"北京", "Asia/Shanghai"},
};

// Places whose clocks always show an offset that is no whole hour, in minutes ahead of UTC.
struct OddOffset {
    int minutes;
    std::string_view zone;
};
constexpr OddOffset kOddOffsets[] = {{-9 * 60 - 30, "Pacific/Marquesas"}, {3 * 60 + 30, "Asia/Tehran"},
                                     {4 * 60 + 30, "Asia/Kabul"},         {5 * 60 + 30, "Asia/Kolkata"},
                                     {5 * 60 + 45, "Asia/Kathmandu"},     {6 * 60 + 30, "Asia/Yangon"},
                                     {8 * 60 + 45, "Australia/Eucla"},    {9 * 60 + 30, "Australia/Darwin"}};

std::string in_small_letters(std::string_view text) {
    std::string small(text);
    for (char& letter : small) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
        if (letter == ' ') letter = '_';
    }
    return small;
}

std::string_view place_of(std::string_view name) {
    return name.substr(name.rfind('/') + 1);
}

// "GMT+8", "utc-03:30", "+0545", "Z+1": minutes ahead of UTC.
std::optional<int> read_offset(std::string_view small) {
    for (const std::string_view front : {"etc/", "utc", "gmt", "z", "_"}) {
        if (small.starts_with(front)) small.remove_prefix(front.size());
    }
    TextScanner text(small);
    const bool behind = text.take('-');
    if (!behind && !text.take('+')) return std::nullopt;
    const std::size_t begin = text.column();
    if (!text.sees_digit()) return std::nullopt;
    std::int64_t hours = text.take_number().value_or(-1);
    std::int64_t minutes = 0;
    if (text.column() - begin == 4) {
        minutes = hours % 100;
        hours /= 100;
    } else if (text.take(':')) {
        minutes = text.take_fixed(2).value_or(-1);
    }
    if (!text.at_end() || hours < 0 || hours > 99 || minutes < 0 || minutes > 59) return std::nullopt;
    const auto all = static_cast<int>(60 * hours + minutes);
    return behind ? -all : all;
}

std::string offset_text(int minutes) {
    const int size = std::abs(minutes);
    const auto two_digits = [](int number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    return (minutes < 0 ? "-" : "+") + two_digits(size / 60) + ":" + two_digits(size % 60);
}

std::string hint_for_offset(int minutes) {
    if (minutes == 0) return "write a zone without an offset as UTC.";
    if (minutes > kMinutesAhead || minutes < -kMinutesBehind) {
        return "no zone has this offset. Use a name such as Europe/Oslo.";
    }
    if (minutes % 60 == 0) {
        const std::string zone =
            std::string("Etc/GMT") + (minutes > 0 ? "-" : "+") + std::to_string(std::abs(minutes) / 60);
        return "the fixed offset UTC" + offset_text(minutes) + " is written " + zone +
               " (the sign is turned around there). Better name a place, such as Europe/Oslo, whose clocks change as "
               "people expect.";
    }
    const auto* place = std::find_if(std::begin(kOddOffsets), std::end(kOddOffsets),
                                     [&](const OddOffset& one) { return one.minutes == minutes; });
    const std::string none = "there is no zone with the fixed offset UTC" + offset_text(minutes);
    if (place == std::end(kOddOffsets)) return none + ". Use a name such as Europe/Oslo.";
    return none + " alone; " + std::string(place->zone) + " has it.";
}

// "America/Chicago, or Asia/Shanghai"; empty if there is none.
std::string meanings_of(std::string_view small, std::span<const std::string_view> known) {
    const std::string_view place = place_of(small);
    std::string zones;
    for (const Meaning& one : kMeanings) {
        if (one.name != place || std::find(known.begin(), known.end(), one.zone) == known.end()) continue;
        zones.append(zones.empty() ? "" : ", or ").append(one.zone);
    }
    return zones;
}

// How far a zone is from what was written, by its place alone or, where the region runs into the place, by the whole
// name; none where neither is near. "berlin" means Europe/Berlin.
std::optional<std::size_t> distance(std::string_view small, std::string_view zone) {
    const std::string whole = in_small_letters(zone);
    const std::string_view place = place_of(whole);
    const std::size_t of_place = edit_distance(place_of(small), place);
    if (3 * of_place <= std::max(place_of(small).size(), place.size())) {
        // Among equal places, the one in the region that was written is nearer.
        return 2 * of_place +
               (small.find('/') == small.npos || small.starts_with(whole.substr(0, whole.find('/'))) ? 0 : 1);
    }
    const std::size_t of_whole = edit_distance(small, whole);
    constexpr std::size_t kSlipsMax = 2;
    if (of_whole <= kSlipsMax && 3 * of_whole <= std::min(small.size(), whole.size())) return 2 * of_whole;
    return std::nullopt;
}

}  // namespace

std::string zone_hint(std::string_view name, std::span<const std::string_view> known) {
    const std::string small = in_small_letters(name.substr(0, kBytesCompared));
    if (const std::optional<int> minutes = read_offset(small)) return hint_for_offset(*minutes);
    if (const std::string zones = meanings_of(small, known); !zones.empty()) {
        return "use the names of the IANA database; this one is probably " + zones + ".";
    }
    std::size_t least = ~std::size_t{0};
    std::vector<std::string_view> nearest;
    for (const std::string_view one : known) {
        const std::optional<std::size_t> apart = distance(small, one);
        if (!apart || *apart > least) continue;
        if (*apart < least) nearest.clear();
        nearest.push_back(one);
        least = *apart;
    }
    std::string hint = "use the names of the IANA database, such as Europe/Oslo";
    if (nearest.empty()) return hint + "; none is near this one.";
    hint.append(". The nearest is ").append(nearest.front());
    for (std::size_t i = 1; i < std::min<std::size_t>(nearest.size(), 3); ++i) hint.append(", or ").append(nearest[i]);
    return hint + ".";
}

}  // namespace duewheel
