#include "message/records/subject.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/enum_name.h"
#include "message/records/fields.h"

namespace duewheel {

std::string_view subject_name(Subject subject) {
    return enum_name<Subject::watchdog>(
        subject, {"nothing", "the settings of queue", "the settings of namespace", "the position of input",
                  "access token", "the settings of a group of queue", "schedule", "watchdog"});
}

std::uint64_t subject_term(Subject subject, std::string_view name_space, std::string_view name,
                           std::string_view value) {
    constexpr std::uint32_t kRuleSeed = 1u << 16;
    if (value.empty()) return 0;
    thread_local std::string bytes;
    bytes.clear();
    FieldWriter to(bytes);
    to.text(1, name_space);
    to.text(2, name);
    to.text(3, value);
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), number_of(subject) + (is_rule(subject) ? kRuleSeed : 0));
}

}  // namespace duewheel
