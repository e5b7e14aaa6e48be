// What a namespace may take of a server, as a value and in its byte form: the value of a `conf` record whose subject is
// a namespace, and of a row of the index.
//
// As for a queue (queue_settings.h), each record contains all settings, in ascending tags without defaults. A field
// that this version does not know is an error, because an unknown limit could not be enforced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "resource/field.h"

namespace duewheel {

inline constexpr std::uint64_t kNamespaceWeightMax = 1'000;

// 0: no limit.
struct NamespaceSettings {
    std::uint32_t revision = 0;     // of the record: rises with each change; 0: the namespace has no settings
    std::uint64_t pending_max = 0;  // unfinished messages in all queues of the namespace
    std::uint64_t queues_max = 0;   // queues with messages, settings or waiting consumers
    std::uint64_t schedules_max = 0;
    std::uint64_t watchdogs_max = 0;
    std::uint64_t put_rate = 0;  // puts per second, with a burst of one second
    std::uint64_t weight = 0;    // share relative to namespaces of weight 1; 0: weight 1

    bool operator==(const NamespaceSettings&) const = default;
};

// Empty for settings without a revision.
std::string encode_namespace_settings(const NamespaceSettings& settings);

// Codes: `damaged_record`, `newer_format`.
Result<NamespaceSettings> decode_namespace_settings(std::string_view bytes);

template <>
const FieldTable& fields_of<NamespaceSettings>();

}  // namespace duewheel
