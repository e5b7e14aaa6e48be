// The rows of the table of limits, by what they limit, and what a row is made of. Each function is in a file of its
// own.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "server/limits/limit.h"

namespace duewheel::limit_rows {

// In the order of the documentation.
std::span<const Limit> of_connections();
std::span<const Limit> of_messages();  // and of what makes them: schedules and watchdogs
std::span<const Limit> of_calls();
std::span<const Limit> of_posts();  // to webhooks
std::span<const Limit> of_storage();

// ---- what a row is made of

using Unit = LimitUnit;
using Api = HttpApiOptions;
using Engine = EngineOptions;
using Http = HttpLimits;
using Webhooks = WebhookOptions;

inline constexpr std::int64_t kSecond = 1000;
inline constexpr std::int64_t kHour = 3600 * kSecond;
inline constexpr std::int64_t kDay = 24 * kHour;
inline constexpr std::int64_t kLeaseUnspecified = 30 * kSecond;  // an extension without a time must always be allowed
inline constexpr std::int64_t kKiB = 1 << 10;
inline constexpr std::int64_t kMiB = 1 << 20;
inline constexpr std::int64_t kGiB = 1 << 30;

template <class T>
std::int64_t to_number(const T& held) {
    if constexpr (std::is_same_v<T, std::chrono::milliseconds>)
        return held.count();
    else
        return static_cast<std::int64_t>(held);
}

constexpr Limit named(std::string_view name, Unit unit, std::string_view sentence, Limit limit) {
    limit.name = name;
    limit.unit = unit;
    limit.sentence = sentence;
    return limit;
}

// A limit at this path of members in a ServerOptions. `details`: the other members of Limit.
template <auto... Path>
constexpr Limit at(std::string_view name, Unit unit, std::string_view sentence, const Limit& details) {
    Limit limit = named(name, unit, sentence, details);
    limit.read = [](const ServerOptions& options) { return to_number((options.*....*Path)); };
    limit.write = [](ServerOptions& options, std::int64_t value) {
        auto& member = (options.*....*Path);
        member = static_cast<std::remove_reference_t<decltype(member)>>(value);
    };
    return limit;
}

// A fixed limit at this path, which no setting changes.
template <auto... Path>
constexpr Limit bound(std::string_view name, Unit unit, std::string_view sentence, const Limit& details) {
    Limit limit = named(name, unit, sentence, details);
    limit.read = [](const ServerOptions& options) { return to_number((options.*....*Path)); };
    return limit;
}

template <auto Value>
constexpr Limit fixed(std::string_view name, Unit unit, std::string_view sentence, const Limit& details) {
    Limit limit = named(name, unit, sentence, details);
    limit.read = [](const ServerOptions&) { return static_cast<std::int64_t>(Value); };
    return limit;
}

template <auto Member>
std::uint64_t of_engine(const LimitLevels& levels) {
    return static_cast<std::uint64_t>(levels.engine.*Member);
}
template <auto Member>
std::uint64_t of_http(const LimitLevels& levels) {
    return static_cast<std::uint64_t>(levels.http.*Member);
}
template <auto Member>
std::uint64_t of_webhooks(const LimitLevels& levels) {
    return static_cast<std::uint64_t>(levels.webhooks.*Member);
}

inline constexpr auto kWebhooks = &ServerOptions::webhooks;
inline constexpr auto kEngine = &ServerOptions::engine;
inline constexpr auto kHttp = &ServerOptions::http;
inline constexpr auto kApi = &ServerOptions::api;

}  // namespace duewheel::limit_rows
