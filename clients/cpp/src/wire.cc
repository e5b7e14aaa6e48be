#include "wire.h"

#include <cstdio>
#include <ctime>

namespace duewheel::client {

namespace {

constexpr std::size_t kReasonMax = 4096;  // bytes that the server keeps, of both ends

std::string checked_json(std::string text) {
    if (!is_json(text)) throw_bad_data("the data is not JSON in UTF-8");
    for (char& c : text) {
        if (c == '\n' || c == '\r') c = ' ';  // between tokens: a line is one message of a batch
    }
    return text;
}

std::string checked_text(std::string_view text) {
    if (!is_utf8(text)) throw_bad_data("the text is not UTF-8: put it as Bytes");
    std::string json;
    append_quoted(json, text);
    return json;
}

}  // namespace

void throw_bad_data(const std::string& detail) {
    throw Failure({.family = Family::invalid, .code = "bad_data", .detail = detail, .field = "data"});
}

const std::string& Content::json() const {
    if (kind != Kind::json)
        throw_bad_data(
            "the message has no JSON: it was put as text or bytes, or its content is gone; its type here must be "
            "std::string or Bytes");
    return data;
}

std::string string_of_json(std::string_view json) {
    std::optional<std::string> text = unquoted(json);
    if (!text) throw_bad_data("the data is JSON, and no string");
    return *std::move(text);
}

Json json_of(const Content& content) {
    switch (content.kind) {
        case Content::Kind::json:
            return {checked_json(content.data)};
        case Content::Kind::text:
            return {checked_text(content.data)};
        default:
            throw_bad_data("bytes are no JSON: encode them as text");
    }
}

Value::Value(Duration duration) : json_('"' + duration_text(duration) + '"') {}
Value::Value(Instant instant) : json_('"' + instant_text(instant) + '"') {}

void ObjectWriter::add_content(const Content& content) {
    if (content.kind == Content::Kind::none) return;
    if (content.kind == Content::Kind::bytes) return add("body_base64", '"' + to_base64(content.data) + '"');
    add(content.kind == Content::Kind::text ? "body" : "json", json_of(content).text);
}

void ObjectWriter::add_named(const std::string& name, const std::string& value) {
    text_ += text_.size() > 1 ? "," : "";
    ((text_ += checked_text(name)) += ":") += checked_text(value);
}

std::string ack_members(const Json& result) {
    ObjectWriter members;
    members("result", result);
    return std::move(members).members();
}

std::string fail_members(const std::string& reason, const FailOptions& options) {
    ObjectWriter members;
    members("reason", reason_text(reason));
    members("retry_in", options.retry_in);
    members("dead", options.dead);
    return std::move(members).members();
}

std::string extend_members(const ExtendOptions& options) {
    ObjectWriter members;
    members("lease", options.lease);
    members("progress", options.progress);
    members("checkpoint", options.checkpoint);
    return std::move(members).members();
}

std::string release_members(Duration delay) {
    ObjectWriter members;
    if (delay > Duration::zero()) members("delay", std::optional(delay));
    return std::move(members).members();
}

std::string reason_text(std::string_view reason) {
    std::string text = to_utf8(reason);
    if (text.size() <= 2 * kReasonMax) return text;
    const auto is_inside = [&text](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
    std::size_t begin = kReasonMax, end = text.size() - kReasonMax;
    while (is_inside(begin)) --begin;
    while (is_inside(end)) --end;
    return text.erase(begin, end - begin);
}

std::string duration_text(Duration duration) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count()) + "ms";
}

std::string instant_text(Instant instant) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(instant.time_since_epoch());
    const auto whole = std::chrono::floor<std::chrono::seconds>(ms);
    const std::time_t seconds = whole.count();
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char day[64];
    char text[96];
    std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
    std::snprintf(text, sizeof text, "%s.%03dZ", day, static_cast<int>((ms - whole).count()));
    return text;
}

std::string segment(std::string_view name) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string text;
    for (const char c : name) {
        const bool is_plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' ||
                              c == '.' || c == '_' || c == '~';
        const auto byte = static_cast<unsigned char>(c);
        if (is_plain) {
            text += c;
        } else {
            ((text += '%') += kHex[byte >> 4]) += kHex[byte & 15];
        }
    }
    return text;
}

}  // namespace duewheel::client
