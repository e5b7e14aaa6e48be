// What a `conf` or a `rule` record is about: something with a name, whose newest record says all of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace duewheel {

enum class Subject : std::uint8_t {
    none,
    // `conf` records
    queue,
    name_space,  // the name is the namespace's own
    input,       // its position, of no namespace (input_position.h)
    token,       // an access token, of no namespace (access_token.h)
    group,       // of a queue; its name has both (resource/group_settings.h)
    // `rule` records
    schedule,
    watchdog,
};
inline constexpr std::size_t kSubjects = 8;
inline constexpr std::array kConfSubjects{Subject::queue, Subject::name_space, Subject::input, Subject::token,
                                          Subject::group};
inline constexpr std::array kRuleSubjects{Subject::schedule, Subject::watchdog};

constexpr bool is_rule(Subject subject) {
    return subject >= Subject::schedule;
}

// Its number in records and in keys of the index, from 1: `conf` and `rule` records count apart. Part of the formats.
constexpr std::uint32_t number_of(Subject subject) {
    return static_cast<std::uint32_t>(subject) -
           (is_rule(subject) ? static_cast<std::uint32_t>(Subject::schedule) - 1 : 0);
}
// None for a number of a newer version.
constexpr std::optional<Subject> subject_of(bool of_rule, std::uint32_t number) {
    const std::size_t most = of_rule ? kRuleSubjects.size() : kConfSubjects.size();
    if (number < 1 || number > most) return std::nullopt;
    return of_rule ? kRuleSubjects[number - 1] : kConfSubjects[number - 1];
}

// "the settings of queue", for a sentence with the name behind it.
std::string_view subject_name(Subject subject);

// The part of such a record in the log's digest; 0 for an empty value. About 50 ns.
std::uint64_t subject_term(Subject subject, std::string_view name_space, std::string_view name, std::string_view value);

}  // namespace duewheel
