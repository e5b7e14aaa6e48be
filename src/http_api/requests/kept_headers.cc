#include "http_api/requests/kept_headers.h"

#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_request.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

std::vector<std::pair<std::string, std::string>> read_json(std::string_view kept) {
    std::vector<std::pair<std::string, std::string>> fields;
    const std::string whole = R"({"headers":)" + std::string(kept) + "}";
    const Result<JsonRequest> request = JsonRequest::parse(whole);
    if (!request) return fields;
    const Result<JsonRequest::Texts> texts = request->texts("headers");
    if (!texts) return fields;
    for (const auto& [name, value] : *texts) fields.emplace_back(name, value);
    return fields;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> read_kept_headers(std::string_view kept) {
    if (kept.empty()) return {};
    if (!has_record_parts(kept)) return read_json(kept);
    std::vector<std::pair<std::string, std::string>> fields;
    for (auto& [name, value] : record_parts_of(kept).headers) {
        if (value && is_header_for_http(name, *value)) fields.emplace_back(std::move(name), *std::move(value));
    }
    return fields;
}

RecordParts record_parts_of(std::string_view kept) {
    if (has_record_parts(kept)) {
        Result<RecordParts> parts = decode_record_parts(kept);
        return parts ? *std::move(parts) : RecordParts();
    }
    RecordParts parts;
    if (kept.empty()) return parts;
    for (auto& [name, value] : read_json(kept)) parts.headers.emplace_back(std::move(name), std::move(value));
    return parts;
}

bool is_header_for_http(std::string_view name, std::string_view value) {
    return is_token(name) && is_header_value(value) && is_utf8(value);
}

}  // namespace duewheel
