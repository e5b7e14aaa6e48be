#include "configuration/setting.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <type_traits>

namespace duewheel {
namespace {

using Kind = SettingKind;
using std::chrono::milliseconds;

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;

constexpr std::string_view kFormats[] = {"text", "json"};
constexpr std::string_view kClockJumps[] = {"hold", "accept"};
constexpr std::string_view kLevels[] = {"debug", "info", "warning", "error"};

template <class T>
SettingValue to_value(const T& held) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string> ||
                  std::is_same_v<T, std::vector<std::string>>) {
        return held;
    } else if constexpr (std::is_same_v<T, milliseconds>) {
        return static_cast<std::int64_t>(held.count());
    } else if constexpr (std::is_same_v<T, std::optional<std::uint64_t>>) {
        return held ? static_cast<std::int64_t>(*held) : kAutomaticSize;
    } else {
        return static_cast<std::int64_t>(held);
    }
}

template <class T>
void from_value(const SettingValue& value, T& into) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string> ||
                  std::is_same_v<T, std::vector<std::string>>) {
        into = std::get<T>(value);
    } else if constexpr (std::is_same_v<T, std::optional<std::uint64_t>>) {
        const auto bytes = std::get<std::int64_t>(value);
        into = bytes == kAutomaticSize ? T() : T(static_cast<std::uint64_t>(bytes));
    } else {
        into = static_cast<T>(std::get<std::int64_t>(value));
    }
}

// A setting that lies at this path of members in a ServerOptions.
template <auto... Path>
constexpr Setting at(Setting setting) {
    setting.get = [](const ServerOptions& options) { return to_value((options.*....*Path)); };
    setting.set = [](ServerOptions& options, const SettingValue& value) { from_value(value, (options.*....*Path)); };
    return setting;
}

constexpr auto kEngine = &ServerOptions::engine;
constexpr auto kHistory = &ServerOptions::history;
constexpr auto kApi = &ServerOptions::api;
constexpr auto kWebhooks = &ServerOptions::webhooks;
constexpr auto kClock = &ServerOptions::clock;
constexpr auto kLog = &ServerOptions::log;
using Api = HttpApiOptions;
using Engine = EngineOptions;
using Webhooks = WebhookOptions;

constexpr Setting kSettings[] = {
    at<&ServerOptions::data_directory>(
        {"data", Kind::text, "Directory of the log and the index; it is made when it is missing."}),
    at<&ServerOptions::unsafe_plain_listen>({"unsafe_plain_listen", Kind::yes_or_no,
                                             "Allows another listen address than loopback although there is neither "
                                             "TLS nor a token: whoever reaches it may "
                                             "do everything."}),
    at<&ServerOptions::drain>({.name = "drain_timeout",
                               .kind = Kind::duration,
                               .sentence = "How long a stop waits for requests that have arrived to be answered.",
                               .most = kHour}),

    at<&ServerOptions::http_address>({.name = "http.listen",
                                      .kind = Kind::text,
                                      .sentence = "Address and port of the HTTP API; port 0 picks a free one.",
                                      .own_flag = "--http"}),
    at<&ServerOptions::http_hosts>(
        {"http.hosts", Kind::texts,
         "Names that the server goes by beside its address and localhost, such as that of a proxy before it, and hosts "
         "whose web pages may call it; without port."}),

    at<kEngine, &Engine::lease_default_ms>({"limits.lease_default", Kind::duration,
                                            "A lease that names no time, of a queue that has no `lease` setting.", 100,
                                            365 * kDay}),
    at<kEngine, &Engine::purge_chunk>({"limits.purge_chunk", Kind::number,
                                       "Messages that a purge ends with one write to the disk; other work goes on "
                                       "between two.",
                                       1, 10'000}),

    at<kWebhooks, &Webhooks::post>(
        {"webhooks.post", Kind::yes_or_no,
         "Whether messages are posted to webhooks. Without, they wait: for a server beside the one that it was "
         "restored from."}),
    at<kWebhooks, &Webhooks::secret_files>(
        {"webhooks.secrets", Kind::texts,
         "What webhooks are signed with: for each secret the name by which queues call it, and its file, as "
         "name=file. A file holds one whsec_ or whsk_ text, and its owner and group alone may read it."}),
    at<kWebhooks, &Webhooks::allowed_networks>(
        {"webhooks.allowed_networks", Kind::texts,
         "Addresses beside the public ones that webhooks may be sent to, such as 10.1.0.0/16."}),
    at<kWebhooks, &Webhooks::trusted_file>(
        {.name = "webhooks.trusted_file",
         .kind = Kind::text,
         .sentence = "Certificates of those whom webhooks trust to say who others are, in PEM; the system's if it is "
                     "empty.",
         .may_be_empty = true}),
    at<kWebhooks, &Webhooks::timeout_ms>({"webhooks.timeout", Kind::duration,
                                          "How long the answer to a webhook is waited for, connecting included, where "
                                          "its queue does not say.",
                                          100, kHour}),
    at<kWebhooks, &Webhooks::concurrency>(
        {"webhooks.concurrency", Kind::number, "Posts under way at a time of a queue that does not say.", 1, 10'000}),
    at<kWebhooks, &Webhooks::retry_after_max_ms>(
        {"webhooks.retry_after_max", Kind::duration,
         "How long a target is left alone at most that asks for it with Retry-After.", kSecond, 365 * kDay}),

    at<kEngine, &Engine::retry, &RetryRule::attempts>(
        {"retry.attempts", Kind::number, "Deliveries of a message until it is dead, where it has no rule of its own.",
         1, kRetryAttemptsMax}),
    at<kEngine, &Engine::retry, &RetryRule::first_ms>(
        {"retry.first", Kind::duration,
         "How long a message rests after its first failure, unless its consumer said when it is to come again.", 0,
         kRetryRestMaxMs}),
    at<kEngine, &Engine::retry, &RetryRule::factor_permille>(
        {"retry.factor_thousandths", Kind::number,
         "What the rest grows by with each further failure: 2000 doubles it, 1000 leaves it as it is.", kRetryFactorMin,
         kRetryFactorMax}),
    at<kEngine, &Engine::retry, &RetryRule::most_ms>(
        {"retry.most", Kind::duration, "The longest rest.", 0, kRetryRestMaxMs}),
    at<kEngine, &Engine::retry, &RetryRule::jitter_permille>(
        {"retry.jitter_thousandths", Kind::number,
         "How much of its length a rest is made longer or shorter by, so that what failed together does not come back "
         "together.",
         0, kRetryJitterMax}),
    at<kEngine, &Engine::dead_kept_ms>(
        {"retry.keep_dead", Kind::duration,
         "How long a dead message is kept with its body, to be looked at or brought back; then it ends for good.",
         kMinute, 3650 * kDay}),

    at<&ServerOptions::segment_bytes>(
        {.name = "store.segment_size",
         .kind = Kind::size,
         .sentence = "Size of a file of the log; auto is a 64th of the volume, from 1 MiB to 64 MiB.",
         .least = kMiB,
         .most = kGiB,
         .multiple_of = kMiB,
         .may_be_auto = true}),
    at<&ServerOptions::spare_segments>(
        {"store.spare_segments", Kind::number, "Files of the log that are made ready ahead of use.", 1, 64}),
    at<&ServerOptions::reserve_segments>(
        {"store.reserve_segments", Kind::number, "Further ones, for what goes on while the disk is full.", 0, 64}),
    at<&ServerOptions::free_floor_bytes>(
        {.name = "store.free_floor",
         .kind = Kind::size,
         .sentence = "Puts are refused (507) while the volume has less free space; auto is a 16th of the volume, up to "
                     "256 MiB; 0B: puts are refused only when the reserve alone is left.",
         .least = 0,
         .most = 1024 * kGiB,
         .may_be_auto = true}),
    at<&ServerOptions::keep_outcomes_ms>({"store.keep_outcomes", Kind::duration,
                                          "How long the server answers for a message that has ended.", 0, 365 * kDay}),
    at<kHistory, &HistoryBounds::keep_ms>(
        {"store.keep_history", Kind::duration, "How long the history tells how messages ended.", kHour, 3650 * kDay}),
    at<kHistory, &HistoryBounds::bytes_max>({"store.history_max", Kind::size,
                                             "History in the index, before it is compressed; the oldest goes first.",
                                             kMiB, 1024 * kGiB}),

    at<kClock, &ClockRules::on_jump>(
        {.name = "clock.on_jump",
         .kind = Kind::choice,
         .sentence = "What server time does when the wall clock is set ahead by more than a day, or at a start is more "
                     "than 400 days after the newest time in the log: hold, until somebody accepts it, or accept.",
         .choices = kClockJumps}),
    at<kClock, &ClockRules::test>({.name = "clock.test",
                                   .kind = Kind::yes_or_no,
                                   .sentence = "Server time is moved by command (`duewheel clock advance`), and the "
                                               "wall clock does not count; for tests, with a data directory of their "
                                               "own.",
                                   .own_flag = "--test-clock"}),

    at<kEngine, &Engine::window_min_ms>({"memory.read_ahead_min", Kind::duration,
                                         "Messages that are due within it are always in memory, if there is room.",
                                         kSecond, kDay}),
    at<kEngine, &Engine::window_max_ms>({"memory.read_ahead_max", Kind::duration,
                                         "No message is read into memory earlier than this before it is due.", kSecond,
                                         kDay}),

    at<kLog, &LogOptions::level>({.name = "log.level",
                                  .kind = Kind::choice,
                                  .sentence = "What is logged: this and what is graver.",
                                  .choices = kLevels}),
    at<kLog, &LogOptions::format>({.name = "log.format",
                                   .kind = Kind::choice,
                                   .sentence = "Lines for people, or a JSON object a line.",
                                   .choices = kFormats}),
    at<kApi, &Api::requests, &RequestLogOptions::every>(
        {"log.requests", Kind::number, "Of so many requests one is logged; 0 logs none, 1 all.", 0, 1'000'000'000}),
    at<kApi, &Api::requests, &RequestLogOptions::slow_ms>(
        {"log.slow_request", Kind::duration,
         "A request that takes longer is logged, at most one a second; the time that a consumer asked to wait does not "
         "count. 0ms logs none.",
         0, kHour}),
};

constexpr SettingOrder kOrders[] = {
    {"retry.first", "retry.most", "the first rest would be longer than the longest"},
    {"memory.read_ahead_min", "memory.read_ahead_max", "reading ahead would have no length that fits"},
    {"limits.lease_min", "limits.lease_default", "a lease that names no time would be refused"},
    {"limits.lease_default", "limits.lease_max", "a lease that names no time would be refused"},
    {"webhooks.timeout", "webhooks.timeout_max", "a webhook whose queue says nothing would wait for too long"},
    {"webhooks.concurrency", "webhooks.concurrency_max", "a queue that says nothing would be allowed too much"},
    {"limits.body_max", "http.body_max", "a message's body would not fit into its request"},
    {"http.body_max", "limits.waiting_max", "some request could never be taken"},
};

Setting setting_of(const Limit& limit) {
    constexpr Kind kKinds[] = {Kind::number, Kind::size, Kind::duration};  // in the order of LimitUnit
    Setting setting;
    setting.name = limit.name;
    setting.kind = kKinds[static_cast<std::size_t>(limit.unit)];
    setting.sentence = limit.sentence;
    setting.least = limit.least;
    setting.most = limit.most;
    setting.limit = &limit;
    return setting;
}

// The sections in their order; in each its own settings first, then those that are limits.
std::vector<Setting> all_settings() {
    std::vector<Setting> all;
    for (const std::string_view section :
         {"", "http", "limits", "webhooks", "retry", "store", "clock", "memory", "log"}) {
        std::copy_if(std::begin(kSettings), std::end(kSettings), std::back_inserter(all),
                     [&](const Setting& setting) { return setting.section() == section; });
        for (const Limit& limit : limits()) {
            if (limit.section() == section && !limit.is_fixed()) all.push_back(setting_of(limit));
        }
    }
    return all;
}

std::string with_letters(std::string_view text, char (*letter)(char)) {
    std::string changed(text);
    std::transform(changed.begin(), changed.end(), changed.begin(), letter);
    return changed;
}

}  // namespace

std::string_view Setting::section() const {
    const std::size_t dot = name.find('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string_view Setting::key() const {
    return name.substr(name.find('.') + 1);
}

std::string Setting::flag() const {
    if (!own_flag.empty()) return std::string(own_flag);
    return "--" + with_letters(name, [](char c) { return c == '.' || c == '_' ? '-' : c; });
}

std::string Setting::environment() const {
    return "DUEWHEEL_" + with_letters(flag().substr(2), [](char c) {
               if (c == '-') return '_';
               return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
           });
}

SettingValue Setting::read(const ServerOptions& options) const {
    return limit != nullptr ? SettingValue(limit->read(options)) : get(options);
}

void Setting::write(ServerOptions& options, const SettingValue& value) const {
    if (limit != nullptr) return limit->write(options, std::get<std::int64_t>(value));
    set(options, value);
}

std::span<const Setting> settings() {
    static const std::vector<Setting> all = all_settings();
    return all;
}

const Setting* find_setting(std::string_view name) {
    const auto found = std::find_if(settings().begin(), settings().end(),
                                    [&](const Setting& setting) { return setting.name == name; });
    return found == settings().end() ? nullptr : &*found;
}

std::span<const SettingOrder> setting_orders() {
    return kOrders;
}

}  // namespace duewheel
