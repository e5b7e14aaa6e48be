#include "ingress/kept_headers.h"

#include "ingress/json_request.h"

namespace duewheel {

std::vector<std::pair<std::string, std::string>> read_kept_headers(std::string_view kept) {
    std::vector<std::pair<std::string, std::string>> fields;
    if (kept.empty()) return fields;
    const std::string whole = R"({"headers":)" + std::string(kept) + "}";
    const Result<JsonRequest> request = JsonRequest::parse(whole);
    if (!request) return fields;
    const Result<JsonRequest::Texts> texts = request->texts("headers");
    if (!texts) return fields;
    for (const auto& [name, value] : *texts) fields.emplace_back(name, value);
    return fields;
}

}  // namespace duewheel
