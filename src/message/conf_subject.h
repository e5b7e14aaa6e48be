// What a `conf` record is about. The numbers are part of the log format.
#pragma once

#include <cstdint>
#include <string_view>

namespace duewheel {

inline constexpr std::uint32_t kSubjectQueue = 1;
inline constexpr std::uint32_t kSubjectNamespace = 2;  // the name is the namespace's own
inline constexpr std::uint32_t kSubjectInput = 3;      // the position of an input, of no namespace (input_position.h)
inline constexpr std::uint32_t kSubjectToken = 4;      // an access token, of no namespace (access_token.h)

inline constexpr bool is_subject_of_conf(std::uint32_t subject) {
    return subject >= kSubjectQueue && subject <= kSubjectToken;
}

// The part of a `conf` record in the log's digest; 0 for an empty value. About 50 ns.
std::uint64_t settings_term(std::uint32_t subject, std::string_view name_space, std::string_view name,
                            std::string_view value);

}  // namespace duewheel
