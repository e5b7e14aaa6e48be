#include "message/conf_subject.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "message/fields.h"

namespace duewheel {

std::uint64_t settings_term(std::uint32_t subject, std::string_view name_space, std::string_view name,
                            std::string_view value) {
    if (value.empty()) return 0;
    thread_local std::string bytes;
    bytes.clear();
    FieldWriter to(bytes);
    to.text(1, name_space);
    to.text(2, name);
    to.text(3, value);
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), subject);
}

}  // namespace duewheel
