#include "http_api/requests/message_headers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/error_codes.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/request_members.h"
#include "http_api/requests/kept_headers.h"
#include "message/records/record_parts.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

Status check_message_header(std::string_view name, std::string_view value) {
    if (!is_token(name)) {
        return Error{"bad_message_header"_code,
                     "a header name consists of letters, digits and ! # $ % & ' * + - . ^ _ ` | ~", "headers"};
    }
    if (is_header_value(value)) return {};
    return Error{"bad_message_header"_code, "a header value must not contain control characters",
                 "headers." + std::string(name.substr(0, 64))};
}

// The member `headers`: replaces headers of the same names, and keeps the others behind the given ones.
Status read_headers(const JsonRequest& request, RecordParts::Headers& headers) {
    reset_if_removed(request, "headers", headers);
    const Result<JsonRequest::Texts> given = request.texts("headers");
    if (!given) return given.error();
    for (auto header = given->begin(); header != given->end(); ++header) {
        if (Status fine = check_message_header(header->first, header->second); !fine) return fine;
        const bool again = std::any_of(given->begin(), header, [&](const auto& earlier) {
            return equal_ignoring_case(earlier.first, header->first);
        });
        if (again) {
            return Error{"duplicate_member"_code,
                         "a header is given twice: give each once; names are compared without regard to case",
                         "headers." + std::string(header->first.substr(0, 64))};
        }
    }
    const std::vector<std::string_view> removed = request.removed_in("headers");
    std::erase_if(headers, [&](const auto& header) {
        const auto is_name = [&](std::string_view other) { return equal_ignoring_case(other, header.first); };
        return std::any_of(removed.begin(), removed.end(), is_name) ||
               std::any_of(given->begin(), given->end(), [&](const auto& other) { return is_name(other.first); });
    });
    headers.insert(headers.begin(), given->begin(), given->end());
    return {};
}

// `member` as text, or `member_base64`.
Result<std::optional<std::string>> read_bytes(const JsonRequest& json, const std::string& member) {
    const std::string encoded_member = member + "_base64";
    const Result<std::optional<std::string_view>> text = json.text(member);
    if (!text) return text.error();
    const Result<std::optional<std::string_view>> encoded = json.text(encoded_member);
    if (!encoded) return encoded.error();
    if (*text && *encoded) {
        return Error{"conflicting_members"_code, "give `" + member + "` or `" + encoded_member + "`, not both",
                     "kafka." + encoded_member};
    }
    if (*text) return std::optional<std::string>(**text);
    if (!*encoded) return std::optional<std::string>();
    std::optional<std::string> bytes = parse_base64(**encoded);
    if (!bytes) {
        return Error{"bad_base64"_code,
                     "`" + encoded_member + "` must be standard base64 with padding and without line breaks",
                     "kafka." + encoded_member};
    }
    return bytes;
}

Status read_record_headers(const JsonRequest& kafka, RecordParts::Headers& headers) {
    const Result<std::vector<JsonRequest>> given = kafka.objects("headers");
    if (!given) return given.error();
    headers.clear();
    for (const JsonRequest& header : *given) {
        if (Status known = header.only({"name", "name_base64", "value", "value_base64"}); !known) return known;
        Result<std::optional<std::string>> name = read_bytes(header, "name");
        if (!name) return std::move(name).error();
        if (!*name) return Error{"missing_member"_code, "a header in `kafka.headers` has no `name`", "kafka.headers"};
        Result<std::optional<std::string>> value = read_bytes(header, "value");
        if (!value) return std::move(value).error();
        headers.emplace_back(**std::move(name), *std::move(value));
    }
    return {};
}

// No header is null, binary, or given twice.
bool are_for_http(const RecordParts::Headers& headers) {
    std::vector<std::string> names;
    for (const auto& [name, value] : headers) {
        if (!value || !is_header_for_http(name, *value)) return false;
        std::string& folded = names.emplace_back(name);
        std::transform(folded.begin(), folded.end(), folded.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    }
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) == names.end();
}

Status read_kafka(const JsonRequest& request, RecordParts& parts) {
    if (request.removes("kafka")) {
        RecordParts::Headers headers = std::move(parts.headers);
        std::erase_if(headers, [](const auto& header) { return !are_for_http({header}); });
        parts = {};
        parts.headers = std::move(headers);
    }
    const Result<std::optional<JsonRequest>> kafka = request.object("kafka");
    if (!kafka) return kafka.error();
    if (!*kafka) return {};
    if (Status known = (*kafka)->only({"key", "key_base64", "null_value", "headers", "source"}); !known) return known;
    reset_if_removed(**kafka, "key", parts.key);
    reset_if_removed(**kafka, "key_base64", parts.key);
    Result<std::optional<std::string>> key = read_bytes(**kafka, "key");
    if (!key) return std::move(key).error();
    if (*key) parts.key = *std::move(key);
    reset_if_removed(**kafka, "null_value", parts.has_null_value);
    Status read = assign((*kafka)->boolean("null_value"), parts.has_null_value);
    reset_if_removed(**kafka, "source", parts.source);
    if (read) read = assign((*kafka)->text("source"), parts.source);
    if (read && (*kafka)->has("headers")) {
        if (request.has("headers")) {
            return Error{"conflicting_members"_code, "give `headers` or `kafka.headers`, not both", "kafka.headers"};
        }
        read = read_record_headers(**kafka, parts.headers);
    }
    return read;
}

Status check_size(const RecordParts& parts, const HttpApiOptions& options) {
    std::size_t bytes = parts.source.size() + (parts.key ? parts.key->size() : 0);
    for (const auto& [name, value] : parts.headers) bytes += name.size() + (value ? value->size() : 0);
    if (parts.headers.size() <= options.headers_max && bytes <= options.headers_bytes_max) return {};
    return Error{"headers_too_large"_code,
                 "a message has up to " + std::to_string(options.headers_max) + " headers with " +
                     std::to_string(options.headers_bytes_max) + " bytes in all, names and values",
                 "headers"};
}

void write_headers(JsonWriter& json, const RecordParts::Headers& headers) {
    for (const auto& [name, value] : headers) json.text(name, *value);
}

std::string stored_form(const RecordParts& parts) {
    const bool is_of_kafka = parts.key || parts.has_null_value || !parts.source.empty();
    if (is_of_kafka || !are_for_http(parts.headers)) return encode_record_parts(parts);
    if (parts.headers.empty()) return {};
    std::string text;
    JsonWriter json(text);
    json.open();
    write_headers(json, parts.headers);
    json.close();
    return text;
}

void write_bytes(JsonWriter& json, const std::string& member, std::string_view bytes) {
    is_utf8(bytes) ? json.text(member, bytes) : json.text(member + "_base64", base64(bytes));
}

}  // namespace

Status read_message_headers(const JsonRequest& request, const HttpApiOptions& options, std::string& kept) {
    const auto concerns = [&](std::string_view member) { return request.has(member) || request.removes(member); };
    if (!concerns("headers") && !concerns("kafka")) return {};
    RecordParts parts = record_parts_of(kept);
    Status read = read_headers(request, parts.headers);
    if (read) read = read_kafka(request, parts);
    if (read) read = check_size(parts, options);
    if (read) kept = stored_form(parts);
    return read;
}

Status fit_null_value(const JsonRequest& request, std::string_view body, std::string& kept) {
    if (body.empty() || !has_record_parts(kept)) return {};
    RecordParts parts = record_parts_of(kept);
    if (!parts.has_null_value) return {};
    if (request.has("kafka")) {
        return Error{"conflicting_members"_code,
                     "a record with a null value has no content: omit `kafka.null_value`, or give an empty `body`",
                     "kafka.null_value"};
    }
    parts.has_null_value = false;
    kept = stored_form(parts);
    return {};
}

void write_message_headers(JsonWriter& json, std::string_view kept) {
    if (kept.empty()) return;
    if (!has_record_parts(kept)) return void(json.json("headers", kept));
    const RecordParts parts = record_parts_of(kept);
    const bool is_plain = are_for_http(parts.headers);
    if (is_plain && !parts.headers.empty()) {
        json.open("headers");
        write_headers(json, parts.headers);
        json.close();
    }
    json.open("kafka");
    if (parts.key) write_bytes(json, "key", *parts.key);
    if (parts.has_null_value) json.boolean("null_value", true);
    if (!is_plain) {
        json.open_array("headers");
        for (const auto& [name, value] : parts.headers) {
            json.open();
            write_bytes(json, "name", name);
            if (value) write_bytes(json, "value", *value);
            json.close();
        }
        json.close_array();
    }
    if (!parts.source.empty()) json.text("source", as_utf8(parts.source));
    json.close();
}

}  // namespace duewheel
