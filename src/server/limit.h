// The one table of the server's limits. From it come the settings that choose them (src/configuration), the metrics
// duewheel_limit and duewheel_limit_use, the numbers in the contract (/openapi.json) and the table of docs/http_api.md.
//
// A limit's default is not written down here: it is what a ServerOptions has that nobody has touched. Where a limit is
// held is the business of who holds it; the table says what a client meets there.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "delivery/webhook_pusher.h"
#include "engine/engine.h"
#include "net/http_limits.h"
#include "server/server_options.h"

namespace duewheel {

enum class LimitUnit : std::uint8_t { count, bytes, milliseconds };

// What counts against limits, at one moment.
struct LimitLevels {
    const EngineCounters& engine;
    const HttpCounters& http;
    const WebhookCounters& webhooks;
};

struct Limit {
    std::string_view name;  // of its setting, also where it is fixed; of its metric
    LimitUnit unit = LimitUnit::count;
    std::string_view sentence;
    // What may be chosen, both ends included; both 0 where the limit is fixed.
    std::int64_t min = 0;
    std::int64_t max = 0;
    // What a client meets beyond it: the codes of problems, what happens in words, or both.
    std::array<std::string_view, 4> codes{};
    std::string_view otherwise{};
    std::uint64_t (*use)(const LimitLevels&) = nullptr;  // null: nothing of it is used over time
    std::int64_t (*read)(const ServerOptions&) = nullptr;
    void (*write)(ServerOptions&, std::int64_t) = nullptr;  // null: fixed

    std::string_view section() const { return name.substr(0, name.find('.')); }
    bool is_fixed() const { return write == nullptr; }
};

// In the order in which they are documented; each section's stand together.
std::span<const Limit> limits();

// Null where there is none.
const Limit* find_limit(std::string_view name);

// 1048576 bytes are "1 MiB", 43200000 milliseconds "12 h".
std::string limit_in_words(const Limit& limit, std::int64_t value);

// The table of docs/http_api.md.
std::string limits_table();

}  // namespace duewheel
