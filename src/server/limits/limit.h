// The table of the server's limits, whose rows are in the files *_limit_rows.cc. It is the source of their settings
// (src/configuration), of the metrics duewheel_limit and duewheel_limit_use, of the numbers in /openapi.json and of the
// table of docs/http_api.md.
//
// The default of a limit is not written here: it is the value in a default-constructed ServerOptions. A limit is
// enforced where it applies; the table says what a client sees there.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/core/engine_counters.h"
#include "net/http/http_limits.h"
#include "server/limits/server_options.h"
#include "webhooks/webhook_counters.h"

namespace duewheel {

enum class LimitUnit : std::uint8_t { count, bytes, milliseconds };

// The use of limits at one moment.
struct LimitLevels {
    const EngineCounters& engine;
    const HttpCounters& http;
    const WebhookCounters& webhooks;
};

struct Limit {
    std::string_view name;  // of its setting, even if it is fixed; of its metric
    LimitUnit unit = LimitUnit::count;
    std::string_view sentence;
    // The allowed range, both ends included; both 0 if the limit is fixed.
    std::int64_t min = 0;
    std::int64_t max = 0;
    // What a client sees beyond it: problem codes, a description, or both.
    std::array<ErrorCode, 4> codes{};
    std::string_view otherwise{};
    std::uint64_t (*use)(const LimitLevels&) = nullptr;  // null: its use is not measured
    // Each namespace may use up to four times what is left of it (base/dynamic_threshold.h).
    bool is_shared = false;
    std::int64_t (*read)(const ServerOptions&) = nullptr;
    void (*write)(ServerOptions&, std::int64_t) = nullptr;  // null: fixed

    std::string_view section() const { return name.substr(0, name.find('.')); }
    bool is_fixed() const { return write == nullptr; }
};

// In the order of the documentation; each section's limits together.
std::span<const Limit> limits();

// Null if there is none.
const Limit* find_limit(std::string_view name);

// 1048576 bytes are "1 MiB", 43200000 milliseconds "12 h".
std::string limit_in_words(const Limit& limit, std::int64_t value);

// The table of docs/http_api.md.
std::string limits_table();

}  // namespace duewheel
