// Checks responses against the OpenAPI document: each response in a test of this module must be described there, with
// its path, method, status, media type and problem code.
#pragma once

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/calls/contract.h"
#include "net/http/http_target.h"
#include "net/loopback_fixture.h"

namespace duewheel {

inline std::string_view view_of(const boost::json::string& text) {
    return {text.data(), text.size()};
}

// As a server has it whose limits are all 1000.
inline const boost::json::object& contract() {
    static const boost::json::value document = boost::json::parse(contract_text([](std::string_view) { return 1000; }));
    return document.as_object();
}

// "{queue}:lease" is met by "q:lease"; "{id}" by what has no verb, unless a segment follows.
inline bool meets(const std::vector<std::string_view>& segments, const std::vector<std::string_view>& shapes) {
    if (segments.size() != shapes.size()) return false;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const std::string_view segment = segments[i];
        if (!shapes[i].starts_with('{')) {
            if (segment != shapes[i]) return false;
            continue;
        }
        const std::string_view verb = shapes[i].substr(shapes[i].find('}') + 1);
        const std::size_t colon = std::min(segment.rfind(':'), segment.size());
        if (i + 1 == shapes.size() && segment.substr(colon) != verb) return false;
    }
    return true;
}

// The item of the path that a target names; null where there is none.
inline const boost::json::object* find_path(std::string_view target) {
    std::vector<std::string_view> segments, shapes;
    split_path(target.substr(0, target.find('?')), segments);
    for (const auto& [path, item] : contract().at("paths").as_object()) {
        split_path({path.data(), path.size()}, shapes);
        if (meets(segments, shapes)) return &item.as_object();
    }
    return nullptr;
}

inline std::string in_small_letters(std::string_view text) {
    std::string small(text);
    for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return small;
}

// What a reference stands for, or the value itself.
inline const boost::json::object& resolved(const boost::json::value& value) {
    const boost::json::value* target = value.as_object().if_contains("$ref");
    if (target == nullptr) return value.as_object();
    std::vector<std::string_view> names;
    split_path(view_of(target->as_string()).substr(1), names);
    const boost::json::object* at = &contract();
    for (const std::string_view name : names) at = &at->at(name).as_object();
    return *at;
}

// The codes of a response, by its media type for problems.
inline std::set<std::string> codes_of(const boost::json::object& response) {
    std::set<std::string> codes;
    const boost::json::value* content = response.if_contains("content");
    if (content == nullptr) return codes;
    const boost::json::value* problem = content->as_object().if_contains("application/problem+json");
    if (problem == nullptr) return codes;
    for (const auto& code : problem->at("schema").at("properties").at("code").at("enum").as_array()) {
        codes.insert(code.as_string().c_str());
    }
    return codes;
}

inline std::string field_of(const std::string& answer, const std::string& name) {
    const std::size_t at = answer.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + name.size() + 4;
    return answer.substr(begin, answer.find("\r\n", begin) - begin);
}

inline void expect_in_contract(const std::string& method, const std::string& target, const std::string& answer) {
    SCOPED_TRACE("the contract of " + method + " " + target.substr(0, 200));
    std::string problem_code;
    if (field_of(answer, "Content-Type") == "application/problem+json" && method != "HEAD") {
        problem_code = boost::json::parse(body_of(answer)).at("code").as_string().c_str();
    }
    if (problem_code.starts_with("foreign_")) return;  // comes before anything else
    if (target == "*") return;  // the server as a whole, for which a contract of paths has no word
    const boost::json::object* item = find_path(target);
    // Without a valid token a request does not learn whether there is such a call.
    const bool is_stranger =
        problem_code == "token_required" || problem_code == "bad_token" || problem_code == "token_expired";
    if (item == nullptr && is_stranger) return;
    if (item == nullptr) {
        EXPECT_EQ(problem_code, "unknown_path") << "the contract lacks this path";
        return;
    }
    const std::string status = std::to_string(status_of(answer));
    const bool is_capital = std::none_of(method.begin(), method.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    const boost::json::value* operation = is_capital ? item->if_contains(in_small_letters(method)) : nullptr;
    if (operation == nullptr && is_stranger) return;
    if (operation == nullptr) {
        EXPECT_EQ(status, "405") << "the contract lacks this method";
        return;
    }
    const boost::json::value* found = operation->at("responses").as_object().if_contains(status);
    ASSERT_NE(found, nullptr) << "the contract lacks the status " << status << " " << problem_code;
    if (method == "HEAD") return;
    const boost::json::object& response = resolved(*found);
    const std::string type = field_of(answer, "Content-Type");
    if (!response.contains("content")) {
        EXPECT_EQ(type, "") << "the contract lacks the content of status " << status;
        return;
    }
    EXPECT_TRUE(response.at("content").as_object().contains(type.substr(0, type.find(';'))))
        << "the contract lacks the media type " << type << " of status " << status;
    if (!problem_code.empty()) {
        EXPECT_TRUE(codes_of(response).contains(problem_code)) << "the contract lacks the code " << problem_code;
    }
}

}  // namespace duewheel
