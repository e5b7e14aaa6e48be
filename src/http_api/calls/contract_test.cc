// The OpenAPI document compared with the table of calls and the table of codes. Each test of this module also checks
// its responses against it (contract_fixture.h); tests/integration/contract_test.py checks the real server.
#include "http_api/calls/contract.h"

#include <set>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/calls/call_fixture.h"
#include "http_api/calls/call_path.h"
#include "http_api/calls/contract_fixture.h"
#include "http_api/problem.h"

namespace duewheel::contract_test {
namespace {

// "GET /v1/queues/{}:lease", whatever the names between braces are.
std::string operation_name(std::string_view method, std::string_view path) {
    std::string name = std::string(method) + " ";
    bool inside = false;
    for (const char c : path) {
        if (!inside || c == '}') name += c;
        if (c == '{') inside = true;
        if (c == '}') inside = false;
    }
    return name;
}

void add_operations(std::set<std::string>& to, const std::string& path, std::string_view methods) {
    while (!methods.empty()) {
        const std::size_t end = std::min(methods.find(", "), methods.size());
        to.insert(operation_name(methods.substr(0, end), path));
        methods.remove_prefix(std::min(end + 2, methods.size()));
    }
}

std::set<std::string> served_operations() {
    std::set<std::string> served;
    for (const CallShape& shape : call_shapes()) {
        add_operations(served, shape.path, shape.methods);
        if (shape.path.starts_with("/v1/namespaces") || shape.path.starts_with("/v1/tokens")) continue;  // in none
        add_operations(served, "/v1/namespaces/{}" + shape.path.substr(3), shape.methods);
    }
    for (const ServerPage& page : kServerPages) add_operations(served, std::string(page.path), page.methods);
    return served;
}

template <class Visit>
void for_each_operation(Visit visit) {
    for (const auto& [path, item] : contract().at("paths").as_object()) {
        for (const auto& [method, operation] : item.as_object()) {
            if (method == "parameters") continue;
            std::string capital(method);
            for (char& c : capital) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            visit(operation_name(capital, {path.data(), path.size()}), operation.as_object());
        }
    }
}

TEST(Contract, has_every_call_that_is_served_and_no_other) {
    std::set<std::string> told;
    for_each_operation([&](const std::string& name, const boost::json::object&) { told.insert(name); });
    EXPECT_EQ(told, served_operations());
    EXPECT_GT(told.size(), 40u);
}

TEST(Contract, has_every_problem_code_with_its_status_and_no_other) {
    std::set<std::string> told = {"method_not_allowed", "unknown_path"};  // of no operation: the introduction has them
    for_each_operation([&](const std::string& name, const boost::json::object& operation) {
        for (const auto& [status, response] : operation.at("responses").as_object()) {
            for (const std::string& code : codes_of(resolved(response))) {
                told.insert(code);
                const ErrorCodeRow* row = find_error_code(code);
                ASSERT_NE(row, nullptr) << name << " " << code;
                EXPECT_EQ(std::to_string(row->status), std::string(status)) << name << " " << code;
            }
        }
    });
    std::set<std::string> made;
    for (const ErrorCodeRow& row : kErrorCodes) {
        if (row.status != 0) made.emplace(row.name);
    }
    EXPECT_EQ(told, made);
    const std::string introduction(contract().at("info").at("description").as_string());
    for (const char* code : {"`method_not_allowed`", "`unknown_path`"}) {
        EXPECT_NE(introduction.find(code), std::string::npos) << code;
    }
    EXPECT_EQ(contract()
                  .at("components")
                  .at("schemas")
                  .at("Problem")
                  .at("properties")
                  .at("code")
                  .at("enum")
                  .as_array()
                  .size(),
              made.size());
}

void look_at(const boost::json::value& value, std::set<std::string>& wrong) {
    if (const auto* array = value.if_array()) {
        for (const auto& each : *array) look_at(each, wrong);
    }
    const auto* object = value.if_object();
    if (object == nullptr) return;
    for (const auto& [name, each] : *object) {
        if (name.starts_with("x-") && name != "x-line-schema") wrong.insert(std::string(name));
        if (name == "$ref") {
            try {
                resolved(*object);
            } catch (const std::exception&) {
                wrong.insert(each.as_string().c_str());
            }
        }
        look_at(each, wrong);
    }
}

TEST(Contract, expands_all_shorthands_and_has_no_dangling_references) {
    std::set<std::string> wrong;
    look_at(contract(), wrong);
    EXPECT_EQ(wrong, std::set<std::string>());
}

TEST(Contract, each_operation_has_a_name_of_its_own) {
    std::set<std::string> names;
    for_each_operation([&](const std::string& name, const boost::json::object& operation) {
        EXPECT_TRUE(names.insert(operation.at("operationId").as_string().c_str()).second) << name;
    });
}

TEST(Contract, shows_the_limits_in_force) {
    std::set<std::string> asked;
    const boost::json::value document = boost::json::parse(contract_text([&](std::string_view name) {
        asked.emplace(name);
        return name == "limits.key_max" ? 7 : 1000;
    }));
    EXPECT_EQ(document.at("components").at("schemas").at("Key").at("maxLength").to_number<int>(), 7);
    EXPECT_GT(asked.size(), 5u);
}

// The dashboard looked for `until_ms` of a recurring message, which the document allowed and no response has.
TEST(Contract, settings_in_responses_have_the_members_that_are_shown) {
    const auto& schemas = contract().at("components").at("schemas").as_object();
    const auto& repeat = schemas.at("Message").at("properties").at("repeat").as_object();
    std::set<std::string> names;
    for (const auto& [name, each] : repeat.at("properties").as_object()) names.insert(std::string(name));
    EXPECT_EQ(names, (std::set<std::string>{"every_ms", "times", "factor", "max_ms", "until"}));
    EXPECT_EQ(repeat.at("required").at(0).as_string(), "every_ms");
    EXPECT_FALSE(repeat.contains("oneOf"));

    const auto& schedule = schemas.at("Schedule").at("properties").at("settings").at("properties").as_object();
    EXPECT_FALSE(schedule.contains("paused"));
    EXPECT_FALSE(schedule.at("retry").at("properties").as_object().contains("first"));
    EXPECT_TRUE(schemas.at("ScheduleSettings").at("properties").as_object().contains("paused"));
}

TEST(Contract, is_served) {
    HttpApiOptions options;
    options.contract = "{\"openapi\":\"3.1.0\"}";
    ApiServer server(std::move(options));
    const std::string answer = server.ask({"GET", "/openapi.json"});
    EXPECT_EQ(status_of(answer), 200);
    EXPECT_EQ(field_of(answer, "Content-Type"), "application/json");
    EXPECT_EQ(body_of(answer), "{\"openapi\":\"3.1.0\"}");
    EXPECT_EQ(member_of(server.ask({"POST", "/openapi.json"}), "code"), "method_not_allowed");
    EXPECT_EQ(member_of(server.ask({"GET", "/openapi.json?x=1"}), "code"), "unknown_parameter");
}

}  // namespace
}  // namespace duewheel::contract_test
