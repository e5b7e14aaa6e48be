#include "message/foreign_names.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace duewheel {
namespace {

constexpr std::size_t kBytesCompared = 40;

struct ForeignName {
    std::string_view foreign;  // in lower case, without hyphens and underscores
    std::string_view ours;
};

// A name has a row for each member that it may mean; the first one that the call has is suggested. The command line has
// `retry_attempts` where a request has the object `retry` with `attempts`.
constexpr ForeignName kNames[] = {
    {"ackdeadline", "lease"},
    {"args", "json"},
    {"attributes", "headers"},
    {"attributes", "header"},
    {"backoff", "retry"},
    {"backoff", "first"},
    {"backoff", "retry_first"},
    {"batchsize", "max"},
    {"blockstrategy", "overlap"},
    {"calendar", "closed"},
    {"channel", "queue"},
    {"concurrencypolicy", "overlap"},
    {"content", "body"},
    {"count", "max"},
    {"countdown", "delay"},
    {"cronexpression", "cron"},
    {"crontab", "cron"},
    {"cronzone", "zone"},
    {"data", "body"},
    {"deduplicationid", "key"},
    {"delayms", "delay"},
    {"delayseconds", "delay"},
    {"delaytime", "delay"},
    {"deliverafter", "delay"},
    {"deliverat", "due"},
    {"delivertime", "due"},
    {"eta", "due"},
    {"executeat", "due"},
    {"executorblockstrategy", "overlap"},
    {"expiration", "expires_in"},
    {"expirein", "expires_in"},
    {"expireinseconds", "expires_in"},
    {"expression", "cron"},
    {"fixedrate", "every"},
    {"groupid", "order_key"},
    {"holidays", "closed"},
    {"idempotencykey", "key"},
    {"importance", "priority"},
    {"interval", "every"},
    {"interval", "first"},
    {"invisibletime", "lease"},
    {"jobid", "key"},
    {"kwargs", "json"},
    {"limit", "max"},
    {"lockduration", "lease"},
    {"maxattempts", "attempts"},
    {"maxattempts", "retry"},
    {"maxattempts", "retry_attempts"},
    {"maxdelay", "max"},
    {"maxinterval", "max"},
    {"maxnumberofmessages", "max"},
    {"maxreceivecount", "retry"},
    {"maxreceivecount", "retry_attempts"},
    {"maxretries", "attempts"},
    {"maxretries", "retry"},
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
    {"nice", "priority"},
    {"notbefore", "due"},
    {"ordinal", "priority"},
    {"partitionkey", "order_key"},
    {"pattern", "cron"},
    {"payload", "body"},
    {"performat", "due"},
    {"performin", "delay"},
    {"period", "every"},
    {"pri", "priority"},
    {"prio", "priority"},
    {"properties", "headers"},
    {"properties", "header"},
    {"rank", "priority"},
    {"repeatinterval", "every"},
    {"reservetimeout", "wait"},
    {"retries", "attempts"},
    {"retries", "retry"},
    {"retries", "retry_attempts"},
    {"retrycount", "attempts"},
    {"retrycount", "retry"},
    {"retrycount", "retry_attempts"},
    {"retrydelay", "first"},
    {"retrydelay", "retry_in"},
    {"retrydelay", "retry"},
    {"retrydelay", "retry_first"},
    {"retrylimit", "attempts"},
    {"retrylimit", "retry"},
    {"retrylimit", "retry_attempts"},
    {"runat", "due"},
    {"runat", "at"},
    {"schedule", "cron"},
    {"scheduleat", "due"},
    {"scheduleconf", "cron"},
    {"scheduledat", "due"},
    {"severity", "priority"},
    {"shardingkey", "order_key"},
    {"singletonkey", "key"},
    {"startafter", "due"},
    {"startafter", "start"},
    {"starttime", "start"},
    {"timeout", "wait"},
    {"timetolive", "expires_in"},
    {"timezone", "zone"},
    {"topic", "queue"},
    {"ttl", "expires_in"},
    {"ttr", "lease"},
    {"tube", "queue"},
    {"tz", "zone"},
    {"uniquekey", "key"},
    {"urgency", "priority"},
    {"value", "body"},
    {"visibilitytimeout", "lease"},
    {"waitseconds", "wait"},
    {"waittime", "wait"},
    {"waittimeseconds", "wait"},
    {"weight", "priority"},
    {"zoneid", "zone"},
};

std::string folded(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (c == '-' || c == '_') continue;
        text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return text;
}

}  // namespace

std::optional<std::string_view> name_meant_by(std::string_view foreign, std::span<const std::string_view> known) {
    if (foreign.size() > kBytesCompared) return std::nullopt;
    const std::string name = folded(foreign);
    for (const std::string_view each : known) {
        if (folded(each) == name) return each;  // `orderKey`
    }
    for (const ForeignName& each : kNames) {
        if (each.foreign != name) continue;
        const auto found = std::find(known.begin(), known.end(), each.ours);
        if (found != known.end()) return *found;
    }
    return std::nullopt;
}

}  // namespace duewheel
