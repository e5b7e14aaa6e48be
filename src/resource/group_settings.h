// The settings of one group of a queue, as a value and in their byte form: the value of a `conf` record whose name is
// that of the queue and the group (group_conf_name).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "message/message.h"
#include "resource/field.h"
#include "resource/rate_rule.h"

namespace duewheel {

inline constexpr std::size_t kGroupBytesMax = 256;
inline constexpr std::uint32_t kGroupWeightMax = 1'000;

struct GroupSettings {
    std::uint32_t revision = 0;  // incremented by each change; 0: the group has no settings
    // What is absent is as the queue says for all of its groups.
    std::uint64_t leased_max = 0;  // 0: absent
    std::optional<RateRule> rate;
    std::uint64_t weight = 0;    // deliveries in each of its turns; 0: one
    DueMs backoff_until_ms = 0;  // nothing is delivered before; 0: none

    bool operator==(const GroupSettings&) const = default;

    // Whether nothing is set any more.
    bool is_empty(DueMs now) const { return leased_max == 0 && !rate && weight == 0 && backoff_until_ms <= now; }
};

template <>
const FieldTable& fields_of<GroupSettings>();

// Empty for settings without a revision.
std::string encode_group_settings(const GroupSettings& settings);
// Codes: `damaged_record`, `newer_format`.
Result<GroupSettings> decode_group_settings(std::string_view bytes);

// The name in a `conf` record: neither a queue nor a group has a control character in its name.
std::string group_conf_name(std::string_view queue, std::string_view group);
// The queue and the group; nothing if it is no such name.
std::optional<std::pair<std::string_view, std::string_view>> split_group_conf_name(std::string_view name);

}  // namespace duewheel
