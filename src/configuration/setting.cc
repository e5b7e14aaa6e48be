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
    } else if constexpr (std::is_same_v<T, std::optional<bool>>) {
        return held.value_or(false);
    } else if constexpr (std::is_same_v<T, std::optional<std::uint64_t>>) {
        return held ? static_cast<std::int64_t>(*held) : kAutomatic;
    } else {
        return static_cast<std::int64_t>(held);
    }
}

template <class T>
void from_value(const SettingValue& value, T& into) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string> ||
                  std::is_same_v<T, std::vector<std::string>>) {
        into = std::get<T>(value);
    } else if constexpr (std::is_same_v<T, std::optional<bool>>) {
        into = std::get<bool>(value);
    } else if constexpr (std::is_same_v<T, std::optional<std::uint64_t>>) {
        const auto bytes = std::get<std::int64_t>(value);
        into = bytes == kAutomatic ? T() : T(static_cast<std::uint64_t>(bytes));
    } else {
        into = static_cast<T>(std::get<std::int64_t>(value));
    }
}

// A setting at this path of members in a ServerOptions.
template <auto... Path>
constexpr Setting at(Setting setting) {
    setting.get = [](const ServerOptions& options) { return to_value((options.*....*Path)); };
    setting.set = [](ServerOptions& options, const SettingValue& value) { from_value(value, (options.*....*Path)); };
    return setting;
}

constexpr auto kEngine = &ServerOptions::engine;
constexpr auto kHistory = &ServerOptions::history;
constexpr auto kApi = &ServerOptions::api;
constexpr auto kTls = &ServerOptions::tls;
constexpr auto kWebhooks = &ServerOptions::webhooks;
constexpr auto kKafka = &ServerOptions::kafka;
constexpr auto kShards = &ServerOptions::shards;
constexpr auto kBeanstalk = &ServerOptions::beanstalk;
constexpr auto kClock = &ServerOptions::clock;
constexpr auto kLog = &ServerOptions::log;
using Api = HttpApiOptions;
using Engine = EngineOptions;
using Kafka = KafkaOptions;
using Webhooks = WebhookOptions;

constexpr Setting kSettings[] = {
    at<&ServerOptions::data_directory>(
        {"data", Kind::text, "Directory of the log and the index. It is created if it does not exist."}),
    at<&ServerOptions::unsafe_plain_listen>({"unsafe_plain_listen", Kind::yes_or_no,
                                             "Allow http.listen to be an address beyond loopback although the server "
                                             "lacks TLS or does not require tokens: any "
                                             "client that reaches it has full access."}),
    at<&ServerOptions::drain>(
        {.name = "drain_timeout",
         .kind = Kind::duration,
         .sentence = "Maximum time that a stop waits for the responses to requests that the server has received.",
         .max = kHour}),

    at<&ServerOptions::http_address>({.name = "http.listen",
                                      .kind = Kind::text,
                                      .sentence = "Address and port of the HTTP API. Port 0 selects a free port.",
                                      .own_flag = "--http"}),
    at<&ServerOptions::http_hosts>(
        {"http.hosts", Kind::texts,
         "Further host names of the server, such as the name of a proxy in front of it, and "
         "hosts whose web pages may call the server, with scheme and port if they are not the "
         "usual ones: https://dw.example:8443."}),
    at<kApi, &Api::dashboard>(
        {"http.dashboard", Kind::yes_or_no,
         "Serve the dashboard at / of the HTTP address, and the pages of the documentation at /docs."}),
    at<kApi, &Api::docs>({.name = "http.docs",
                          .kind = Kind::text,
                          .sentence = "Directory of the pages of the documentation, as the package duewheel-doc "
                                      "installs them. They are read at the start. Without them /docs has the error "
                                      "codes alone.",
                          .may_be_empty = true}),

    at<&ServerOptions::io_threads>(
        {.name = "io.threads",
         .kind = Kind::number,
         .sentence = "Number of threads that serve HTTP connections: sockets, TLS, and the parsing and formatting of "
                     "HTTP. One more serves clients of beanstalkd. With 0 the thread of the engine serves them all. "
                     "auto: 0 with one or two processors, otherwise one less than there are, up to 8. Limits for all "
                     "clients together are divided among the threads.",
         .min = 0,
         .max = kIoThreadsMax,
         .may_be_auto = true}),

    at<kBeanstalk, &BeanstalkSettings::listen>(
        {.name = "beanstalk.listen",
         .kind = Kind::text,
         .sentence = "Address and port for clients of beanstalkd, such as 127.0.0.1:11300, or unix:PATH. Empty: none. "
                     "The protocol has no authentication.",
         .own_flag = "--beanstalk",
         .may_be_empty = true}),
    at<kBeanstalk, &BeanstalkSettings::socket_group>(
        {.name = "beanstalk.socket_group",
         .kind = Kind::text,
         .sentence = "Group whose members may connect to the Unix socket of beanstalk.listen. Empty: only the user of "
                     "the server may.",
         .may_be_empty = true}),
    at<kBeanstalk, &BeanstalkSettings::job_bytes_max>({.name = "beanstalk.job_max",
                                                       .kind = Kind::size,
                                                       .sentence = "Maximum size of a job of a client of beanstalkd.",
                                                       .min = 0,
                                                       .max = kGiB}),

    at<kTls, &TlsFiles::certificate>(
        {.name = "tls.certificate",
         .kind = Kind::text,
         .sentence = "PEM file of the server's certificate, followed by intermediate certificates. If set, the server "
                     "speaks TLS only. The files of this section are read again when they change, and on SIGHUP.",
         .may_be_empty = true}),
    at<kTls, &TlsFiles::key>({.name = "tls.key",
                              .kind = Kind::text,
                              .sentence = "PEM file of the certificate's private key, without a passphrase. Only its "
                                          "owner and group may read it, and only its owner may change it.",
                              .may_be_empty = true}),
    at<kTls, &TlsFiles::client_ca>(
        {.name = "tls.client_ca",
         .kind = Kind::text,
         .sentence = "PEM file of the authorities of client certificates. If set, a client may present a certificate, "
                     "and is refused if none of them signed it.",
         .may_be_empty = true}),

    at<kEngine, &Engine::lease_default_ms>(
        {"limits.lease_default", Kind::duration,
         "Duration of a lease if neither the call nor the `lease` setting of the queue gives one.", kSecond,
         365 * kDay}),

    at<&ServerOptions::auth_required>(
        {"auth.required", Kind::yes_or_no,
         "Require an access token for every request but /healthz and the files of the dashboard and the documentation. "
         "Without this setting "
         "a server that listens beyond "
         "loopback requires one, and a server on loopback does not. The first token is made with `duewheel token add "
         "ID --data DIR --admin` while the server is stopped."}),

    at<kWebhooks, &Webhooks::post>({"webhooks.post", Kind::yes_or_no,
                                    "Post messages to webhooks. If false, messages of queues with a webhook stay in "
                                    "their queues, as for a restored server that runs beside the original."}),
    at<kWebhooks, &Webhooks::secret_files>(
        {"webhooks.secrets", Kind::texts,
         "Secrets that sign the posts of webhooks, each as NAME=FILE. Queues refer to a secret by its name. The file "
         "holds one key that begins with whsec_ or whsk_, and only its owner and group may read it."}),
    at<kWebhooks, &Webhooks::secret_queues>(
        {"webhooks.secret_queues", Kind::texts,
         "Queues whose administrators may name a webhook secret, each as NAME=NAMESPACE/PREFIX; NAME=NAMESPACE/ is all "
         "queues of a namespace. Administrators of the server may name each secret for each queue."}),
    at<kWebhooks, &Webhooks::encryption_key_file>(
        {.name = "webhooks.encryption_key_file",
         .kind = Kind::text,
         .sentence = "File with the key that encrypts header values of webhooks on disk: 32 random bytes as hex or "
                     "base64, outside the data directory. If empty, the values are not encrypted.",
         .may_be_empty = true}),
    at<kWebhooks, &Webhooks::old_encryption_key_file>(
        {.name = "webhooks.old_encryption_key_file",
         .kind = Kind::text,
         .sentence = "File with the previous key, which decrypts values that were set before the key was replaced.",
         .may_be_empty = true}),
    at<kWebhooks, &Webhooks::allowed_networks>(
        {"webhooks.allowed_networks", Kind::texts,
         "Networks that webhooks may be sent to in addition to public addresses, such as 10.1.0.0/16."}),
    at<kWebhooks, &Webhooks::trusted_file>(
        {.name = "webhooks.trusted_file",
         .kind = Kind::text,
         .sentence =
             "PEM file of the certificate authorities that webhooks trust. If empty, the authorities of the system.",
         .may_be_empty = true}),
    at<kWebhooks, &Webhooks::timeout_ms>(
        {"webhooks.timeout", Kind::duration,
         "Time limit of a post, connecting included, if the queue does not set its own.", 100, 5 * kMinute}),
    at<kWebhooks, &Webhooks::concurrency>({"webhooks.concurrency", Kind::number,
                                           "Number of posts in progress of a queue that does not set its own.", 1,
                                           1'000}),

    at<kKafka, &Kafka::bootstrap>({.name = "kafka.bootstrap",
                                   .kind = Kind::text,
                                   .sentence = "Brokers of the Kafka cluster that queues send to and input topics are "
                                               "read from, such as broker1:9092,broker2:9092. If empty, no Kafka.",
                                   .may_be_empty = true}),
    at<kKafka, &Kafka::out, &KafkaOutOptions::cluster>(
        {"kafka.cluster", Kind::text,
         "Name of this server in Kafka: a part of its transactional ids and of its topic "
         "duewheel.NAME.ledger. Each server that uses the same brokers needs a name of its "
         "own, and keeps it."}),
    at<kKafka, &Kafka::client_file>(
        {.name = "kafka.client_file",
         .kind = Kind::text,
         .sentence = "File with properties of librdkafka as lines NAME=VALUE, for TLS and SASL. Only its owner and "
                     "group may read it.",
         .may_be_empty = true}),
    at<kKafka, &Kafka::inputs>({"kafka.in.topics", Kind::texts,
                                "Topics whose records become messages, each as INPUT=TARGET with the topic that they "
                                "go to, or as INPUT if each record names its topic (header duewheel-topic)."}),
    at<kKafka, &Kafka::errors_topic>({"kafka.in.errors", Kind::text,
                                      "Topic for records of input topics that can never become messages, with the "
                                      "reason as headers."}),
    at<kKafka, &Kafka::skips_trimmed>(
        {"kafka.in.skip_trimmed", Kind::yes_or_no,
         "Continue with the first record that is left if a topic has deleted records before the server read them. If "
         "false, reading that partition stops."}),
    at<kKafka, &Kafka::out_topics>(
        {"kafka.out.topics", Kind::texts,
         "Topics that the administrators of a namespace may set as targets of its queues, each as NAMESPACE=TOPIC; one "
         "that ends in * stands for all topics that begin so, such as team=payments.*. Administrators of the whole "
         "server may set any. If not empty, it also lists what records of input topics may name in duewheel-topic."}),
    at<kKafka, &Kafka::out, &KafkaOutOptions::batch_max>(
        {"kafka.out.batch_max", Kind::number,
         "Maximum number of records of a transaction. Larger transactions send more records "
         "a second, and records wait longer for their commit.",
         1, 10'000}),

    at<kKafka, &Kafka::log, &KafkaLogOptions::replicate>(
        {"kafka.log.replicate", Kind::yes_or_no,
         "Write each commit to the topic duewheel.NAME.log before it is acknowledged, so that a standby node can take "
         "over. A node that starts is a standby node while another one owns the log."}),
    at<kKafka, &Kafka::log, &KafkaLogOptions::url>(
        {.name = "kafka.log.url",
         .kind = Kind::text,
         .sentence = "URL of this node, to which standby nodes redirect clients, such as http://node1:7420. If empty, "
                     "the address that it listens on.",
         .may_be_empty = true}),
    at<kKafka, &Kafka::log, &KafkaLogOptions::takeover_after_ms>(
        {"kafka.log.takeover_after", Kind::duration,
         "How long a standby node waits for a sign of life of the owner before it takes over.", 2 * kSecond,
         5 * kMinute}),
    at<kKafka, &Kafka::log, &KafkaLogOptions::unsafe_replication>(
        {"kafka.log.unsafe_replication", Kind::yes_or_no,
         "Start with a log topic that may lose acknowledged records, such as one with a single replica. For trials."}),

    at<kShards, &Sharding::number>({.name = "shards.number",
                                    .kind = Kind::number,
                                    .sentence = "Number of the shard that this server owns, from 0. The namespaces are "
                                                "spread over the shards by their names. It cannot be changed later.",
                                    .min = 0,
                                    .max = kShardCountMax - 1,
                                    .own_flag = "--shard"}),
    at<kShards, &Sharding::count>({.name = "shards.count",
                                   .kind = Kind::number,
                                   .sentence = "Number of shards, the same on all servers. It cannot be changed later.",
                                   .min = 1,
                                   .max = kShardCountMax,
                                   .own_flag = "--shards"}),
    at<kShards, &Sharding::urls>({"shards.urls", Kind::texts,
                                  "URLs of the servers of all shards in their order, such as http://node1:7420, to "
                                  "which requests for other shards are redirected. Not with kafka.log.replicate, where "
                                  "nodes find each other in Kafka."}),

    at<kEngine, &Engine::lease_grace_ms>(
        {"leases.grace", Kind::duration,
         "How long leases that outlive a restart last at least, from the time at which the server is ready, so that "
         "extensions of living workers reach it.",
         0, kHour}),

    at<kEngine, &Engine::retry, &RetryRule::attempts>(
        {"retry.attempts", Kind::number,
         "Number of deliveries of a message before it becomes a dead letter, if it has no retry rule of its own.", 1,
         kRetryAttemptsMax}),
    at<kEngine, &Engine::retry, &RetryRule::first_ms>(
        {"retry.first", Kind::duration, "Backoff after the first failure, unless the consumer gave a delay.", 0,
         kRetryBackoffMaxMs}),
    at<kEngine, &Engine::retry, &RetryRule::factor_permille>(
        {"retry.factor", Kind::decimal,
         "Factor of the exponential backoff: 2 doubles the backoff with each failure, 1 keeps it constant.",
         kRetryFactorMin, kRetryFactorMax}),
    at<kEngine, &Engine::retry, &RetryRule::max_ms>(
        {"retry.max", Kind::duration, "Maximum backoff.", 0, kRetryBackoffMaxMs}),
    at<kEngine, &Engine::retry, &RetryRule::jitter_permille>({"retry.jitter", Kind::decimal,
                                                              "Random variation of the backoff, so that messages that "
                                                              "failed together are not retried together: 0.2 makes it "
                                                              "up to 20 % shorter or longer.",
                                                              0, kRetryJitterMax}),
    at<kEngine, &Engine::dead_kept_ms>({"retry.keep_dead", Kind::duration,
                                        "How long a dead letter is kept with its body. Then it expires.", kMinute,
                                        3650 * kDay}),

    at<&ServerOptions::segment_bytes>(
        {.name = "store.segment_size",
         .kind = Kind::size,
         .sentence = "Size of a log segment. auto: a 64th of the volume, from 1 MiB to 32 MiB.",
         .min = kMiB,
         .max = kGiB,
         .multiple_of = kMiB,
         .may_be_auto = true}),
    at<&ServerOptions::free_floor_bytes>(
        {.name = "store.free_floor",
         .kind = Kind::size,
         .sentence = "Puts are refused (507) while the volume has less free space than this. auto: a 16th of the "
                     "volume, up to 256 MiB. 0B: puts are refused only when nothing but the reserve is left.",
         .min = 0,
         .max = 1024 * kGiB,
         .may_be_auto = true}),
    at<&ServerOptions::keep_outcomes_ms>({"store.keep_outcomes", Kind::duration,
                                          "How long the outcome and the idempotency key of an ended message are kept.",
                                          0, 365 * kDay}),
    at<kHistory, &HistoryBounds::keep_ms>(
        {"store.keep_history", Kind::duration, "How long the history of ended messages is kept.", kHour, 3650 * kDay}),
    at<kHistory, &HistoryBounds::bytes_max>(
        {"store.history_max", Kind::size,
         "Maximum size of the history in the index, before compression. The oldest entries are removed first.", kMiB,
         1024 * kGiB}),

    at<kClock, &ClockRules::on_jump>(
        {.name = "clock.on_jump",
         .kind = Kind::choice,
         .sentence =
             "What server time does when the wall clock jumps ahead by more than a day, or at a start is more than 400 "
             "days after the newest time in the log: hold until `duewheel clock accept`, or accept the jump.",
         .choices = kClockJumps}),
    at<kClock, &ClockRules::test>(
        {.name = "clock.test",
         .kind = Kind::yes_or_no,
         .sentence = "Run with a test clock: server time ignores the wall clock and moves only by `duewheel clock "
                     "advance`. For tests, with a separate data directory.",
         .own_flag = "--test-clock"}),

    at<&ServerOptions::audit_enabled>(
        {"audit.enabled", Kind::yes_or_no,
         "Write an audit log of administrative requests and refused access to the folder audit of the data directory. "
         "While it cannot be written, administrative requests are refused."}),

    at<kLog, &LogOptions::level>({.name = "log.level",
                                  .kind = Kind::choice,
                                  .sentence = "Minimum level of the events that are logged.",
                                  .choices = kLevels}),
    at<kLog, &LogOptions::format>({.name = "log.format",
                                   .kind = Kind::choice,
                                   .sentence = "Format of the log: lines of text, or one JSON object a line.",
                                   .choices = kFormats}),
    at<kApi, &Api::requests, &RequestLogOptions::every>({"log.requests", Kind::number,
                                                         "Log one in this number of requests. 0 logs none, 1 logs all.",
                                                         0, 1'000'000'000}),
    at<kApi, &Api::requests, &RequestLogOptions::slow_ms>(
        {"log.slow_request", Kind::duration,
         "Log requests that take longer than this, at most one a second. The time that a lease call waits for messages "
         "does not count. 0ms logs none.",
         0, kHour}),
};

constexpr SettingOrder kOrders[] = {
    {"retry.first", "retry.max", "the first backoff must not exceed the maximum"},
    {"limits.lease_default", "limits.lease_max", "the default lease must be allowed"},
    {"limits.body_max", "http.body_max", "a message body of the maximum size must fit into a request"},
    {"beanstalk.job_max", "limits.waiting_max", "a job of the maximum size must be allowed to wait for the disk"},
    {"http.body_max", "limits.waiting_max", "a request of the maximum size must be allowed to wait for the disk"},
};

Setting setting_of(const Limit& limit) {
    constexpr Kind kKinds[] = {Kind::number, Kind::size, Kind::duration};  // in the order of LimitUnit
    Setting setting;
    setting.name = limit.name;
    setting.kind = kKinds[static_cast<std::size_t>(limit.unit)];
    setting.sentence = limit.sentence;
    setting.min = limit.min;
    setting.max = limit.max;
    setting.limit = &limit;
    return setting;
}

constexpr std::string_view section_of(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

// The sections in their order.
constexpr std::string_view kSections[] = {"",         "http",  "io",       "beanstalk", "tls",       "auth",   "limits",
                                          "webhooks", "kafka", "kafka.in", "kafka.log", "kafka.out", "shards", "leases",
                                          "retry",    "store", "clock",    "audit",     "memory",    "log"};
static_assert(std::all_of(std::begin(kSettings), std::end(kSettings),
                          [](const Setting& setting) {
                              return std::find(std::begin(kSections), std::end(kSections), section_of(setting.name)) !=
                                     std::end(kSections);
                          }),
              "a setting whose section is not listed could not be given");

// Section by section; in each its own settings first, then those that are limits.
std::vector<Setting> all_settings() {
    std::vector<Setting> all;
    for (const std::string_view section : kSections) {
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
    return section_of(name);
}

std::string_view Setting::key() const {
    return name.substr(name.rfind('.') + 1);
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
