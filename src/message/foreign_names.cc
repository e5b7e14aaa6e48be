#include "message/foreign_names.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "shared/nearest_name.h"

namespace duewheel {
namespace {

constexpr std::size_t kBytesCompared = 64;

// Calls that have no rules in a time zone or with a cron expression: where to find them.
constexpr std::string_view kZoneNote =
    "A time has its own offset, as in 2027-03-01T09:00:00+01:00; rules in a time zone belong to a schedule.";
constexpr std::string_view kCronNote = "A cron expression belongs to a schedule.";

struct ForeignName {
    std::string_view foreign;  // in lower case, without hyphens and underscores
    std::string_view ours;     // `retry.attempts`: a member of the object `retry`
    std::string_view note{};
};

// A name has a row for each member that it may mean; the first one that the call has is suggested. The command line has
// `retry_attempts` where a request has the object `retry` with `attempts`.
constexpr ForeignName kNames[] = {
    {"ackdeadline", "lease"},
    {"after", "delay"},
    {"args", "json"},
    {"at", "due"},
    {"attempts", "retry.attempts"},
    {"attempts", "retry_attempts"},
    {"attemptsmax", "attempts"},
    {"attemptsmax", "retry.attempts"},
    {"attemptsmax", "retry_attempts"},
    {"attributes", "headers"},
    {"attributes", "header"},
    {"backoff", "retry"},
    {"backoff", "first"},
    {"backoff", "retry_first"},
    {"batchsize", "max"},
    {"blockstrategy", "overlap"},
    {"calendar", "closed"},
    {"callback", "target.webhook.url"},
    {"callbackurl", "target.webhook.url"},
    {"channel", "queue"},
    {"concurrencypolicy", "overlap"},
    {"concurrencykey", "group"},
    {"content", "body"},
    {"count", "max"},
    {"countdown", "delay"},
    {"cron", "repeat.every", kCronNote},
    {"cron", "every", kCronNote},
    {"cronexpression", "cron"},
    {"cronexpression", "repeat.every", kCronNote},
    {"cronexpression", "every", kCronNote},
    {"crontab", "cron"},
    {"crontab", "repeat.every", kCronNote},
    {"crontab", "every", kCronNote},
    {"cronzone", "zone"},
    {"cronzone", "due", kZoneNote},
    {"customer", "group"},
    {"customerid", "group"},
    {"data", "body"},
    {"date", "due"},
    {"deduplicationid", "key"},
    {"delayms", "delay"},
    {"delayseconds", "delay"},
    {"delaytime", "delay"},
    {"deliverafter", "delay"},
    {"deliverat", "due"},
    {"delivertime", "due"},
    {"due", "at"},
    {"dueat", "due"},
    {"duedate", "due"},
    {"endpoint", "target.webhook.url"},
    {"eta", "due"},
    {"every", "repeat.every"},
    {"executeat", "due"},
    {"executorblockstrategy", "overlap"},
    {"expiration", "expires_in"},
    {"expirein", "expires_in"},
    {"expireinseconds", "expires_in"},
    {"expression", "cron"},
    {"expression", "repeat.every", kCronNote},
    {"expression", "every", kCronNote},
    {"factor", "retry.factor"},
    {"factor", "retry_factor"},
    {"fairnesskey", "group"},
    {"fixedrate", "every"},
    {"fixedrate", "repeat.every"},
    {"groupid", "order_key"},
    {"holidays", "closed"},
    {"idempotencykey", "key"},
    {"importance", "priority"},
    {"in", "delay"},
    {"interval", "every"},
    {"interval", "first"},
    {"interval", "repeat.every"},
    {"invisibletime", "lease"},
    {"jitter", "retry.jitter"},
    {"jitter", "retry_jitter"},
    {"jobid", "key"},
    {"kwargs", "json"},
    {"limit", "max"},
    {"lockduration", "lease"},
    {"maxattempts", "attempts"},
    {"maxattempts", "retry.attempts"},
    {"maxattempts", "retry_attempts"},
    {"maxdelay", "max"},
    {"maxinterval", "max"},
    {"maxnumberofmessages", "max"},
    {"maxreceivecount", "retry.attempts"},
    {"maxreceivecount", "retry_attempts"},
    {"maxretries", "attempts"},
    {"maxretries", "retry.attempts"},
    {"maxretries", "retry_attempts"},
    {"message", "body"},
    {"messagebody", "body"},
    {"messagededuplicationid", "key"},
    {"messagegroupid", "order_key"},
    {"messagepriority", "priority"},
    {"metadata", "headers"},
    {"metadata", "header"},
    {"misfirepolicy", "misfire"},
    {"misfirestrategy", "misfire"},
    {"multiplier", "factor"},
    {"multiplier", "retry_factor"},
    {"multiplier", "retry.factor"},
    {"nice", "priority"},
    {"notbefore", "due"},
    {"ordinal", "priority"},
    {"partitionkey", "order_key"},
    {"pattern", "cron"},
    {"pattern", "repeat.every", kCronNote},
    {"pattern", "every", kCronNote},
    {"payload", "body"},
    {"performat", "due"},
    {"performin", "delay"},
    {"period", "every"},
    {"period", "repeat.every"},
    {"pri", "priority"},
    {"prio", "priority"},
    {"properties", "headers"},
    {"properties", "header"},
    {"rank", "priority"},
    {"recurrence", "repeat"},
    {"repeatinterval", "every"},
    {"repeatinterval", "repeat.every"},
    {"reservetimeout", "wait"},
    {"retries", "attempts"},
    {"retries", "retry.attempts"},
    {"retries", "retry_attempts"},
    {"retrycount", "attempts"},
    {"retrycount", "retry.attempts"},
    {"retrycount", "retry_attempts"},
    {"retrydelay", "first"},
    {"retrydelay", "retry_in"},
    {"retrydelay", "retry.first"},
    {"retrydelay", "retry_first"},
    {"retryin", "retry.first"},
    {"retrylimit", "attempts"},
    {"retrylimit", "retry.attempts"},
    {"retrylimit", "retry_attempts"},
    {"runat", "due"},
    {"runat", "at"},
    {"schedule", "cron"},
    {"schedule", "repeat.every", kCronNote},
    {"schedule", "every", kCronNote},
    {"scheduleat", "due"},
    {"scheduleconf", "cron"},
    {"scheduleconf", "repeat.every", kCronNote},
    {"scheduleconf", "every", kCronNote},
    {"scheduledat", "due"},
    {"severity", "priority"},
    {"shardingkey", "order_key"},
    {"singletonkey", "key"},
    {"startafter", "due"},
    {"startafter", "start"},
    {"starttime", "start"},
    {"starttime", "due"},
    {"tenant", "group"},
    {"tenantid", "group"},
    {"time", "due"},
    {"timeout", "wait"},
    {"timetolive", "expires_in"},
    {"timezone", "zone"},
    {"timezone", "due", kZoneNote},
    {"topic", "queue"},
    {"tries", "attempts"},
    {"tries", "retry.attempts"},
    {"tries", "retry_attempts"},
    {"ttl", "expires_in"},
    {"ttr", "lease"},
    {"tube", "queue"},
    {"tz", "zone"},
    {"tz", "due", kZoneNote},
    {"uniquekey", "key"},
    {"urgency", "priority"},
    {"url", "target.webhook.url"},
    {"value", "body"},
    {"visibilitytimeout", "lease"},
    {"waitseconds", "wait"},
    {"waittime", "wait"},
    {"waittimeseconds", "wait"},
    {"webhook", "target.webhook"},
    {"weight", "priority"},
    {"when", "due"},
    {"zone", "due", kZoneNote},
    {"zoneid", "zone"},
    {"zoneid", "due", kZoneNote},
};

std::string folded(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (c == '-' || c == '_') continue;
        text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return text;
}

// Whether a call with these members has `ours`, as one of them or in one of them.
bool has(std::span<const std::string_view> known, std::string_view ours) {
    return std::find(known.begin(), known.end(), ours.substr(0, ours.find('.'))) != known.end();
}

}  // namespace

std::optional<NameMeant> name_meant_by(std::string_view written, std::span<const std::string_view> known) {
    if (written.size() > kBytesCompared) return std::nullopt;
    const std::string name = folded(written);
    for (const std::string_view each : known) {
        if (folded(each) == name) return NameMeant{each};  // `orderKey`
    }
    for (const ForeignName& each : kNames) {
        if (each.foreign == name && has(known, each.ours)) return NameMeant{each.ours, each.note};
    }
    const std::optional<std::string_view> nearest = nearest_name(written, known);
    return nearest ? std::optional(NameMeant{*nearest}) : std::nullopt;
}

}  // namespace duewheel
