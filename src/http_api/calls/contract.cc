#include "http_api/calls/contract.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include <boost/json.hpp>

#include "base/error_codes.h"
#include "http_api/calls/call_path.h"
#include "http_api/fields/field_schema.h"
#include "http_api/problem.h"

namespace duewheel {

std::string_view openapi_source();  // openapi.json, as bytes

namespace {

namespace json = boost::json;

using Codes = std::set<std::string, std::less<>>;

constexpr std::string_view kNamespacePath = "/v1/namespaces/{namespace}";
constexpr std::string_view kSchemas = "#/components/schemas/";
constexpr std::string_view kMethods[] = {"get", "put", "post", "delete", "patch"};

std::string_view text_of(const json::value& value) {
    const json::string& text = value.as_string();
    return {text.data(), text.size()};
}

json::object reference(std::string_view section, std::string_view name) {
    return {{"$ref", "#/components/" + std::string(section) + "/" + std::string(name)}};
}

// A GET without the bodies of its answers.
json::object head_of(const json::object& get) {
    json::object head = get;
    head["operationId"] = std::string(text_of(get.at("operationId"))) + "Head";
    head["summary"] = "Like GET, without the response body.";
    for (auto& [status, response] : head.at("responses").as_object()) response.as_object().erase("content");
    return head;
}

bool refers_to(const json::value& schema, std::string_view name) {
    const json::value* target = schema.as_object().if_contains("$ref");
    return target != nullptr && text_of(*target).substr(kSchemas.size()) == name;
}

// Whether responses show such a member. Of the two forms of a duration they show milliseconds, and of an instant text.
bool is_shown(const json::object& members, std::string_view name) {
    const json::value& schema = members.at(name);
    if (schema.as_object().contains("writeOnly")) return false;
    if (members.contains(std::string(name) + "_ms")) return !refers_to(schema, "Duration");
    if (!name.ends_with("_ms")) return true;
    const json::value* text = members.if_contains(name.substr(0, name.size() - 3));
    return text == nullptr || !refers_to(*text, "Instant");
}

// A schema from two parts: lists are joined, and of two values the first one counts.
void merge(json::object& into, const json::object& more);

void merge(json::value& into, const json::value& more) {
    if (into.is_object() && more.is_object()) return merge(into.as_object(), more.as_object());
    if (!into.is_array() || !more.is_array()) return;
    into.as_array().insert(into.as_array().end(), more.as_array().begin(), more.as_array().end());
}

void merge(json::object& into, const json::object& more) {
    for (const auto& [name, value] : more) {
        const bool is_new = !into.contains(name);
        json::value& there = into[name];
        is_new ? void(there = value) : merge(there, value);
    }
}

// Lets another exclusion be added to the only one.
void widen_exclusion(json::object& schema) {
    json::value* const excluded = schema.if_contains("not");
    if (excluded == nullptr || excluded->as_object().contains("anyOf")) return;
    json::array all = {*excluded};
    *excluded = json::object{{"anyOf", std::move(all)}};
}

// The access of a page of the server; calls need permissions.
Reach reach_of_page(std::string_view path) {
    for (const ServerPage& page : kServerPages) {
        if (page.path == path && page.methods.starts_with("GET")) return page.needs.get.reach;
    }
    return Reach::server;
}

class Contract {
  public:
    Contract(json::object source, const LimitValue& limit) : document_(std::move(source)), limit_(limit) {
        groups_ = document_.at("x-problem-groups").as_object();
        document_.erase("x-problem-groups");
    }

    json::object expand() {
        add_fields(document_.at("components").at("schemas"));
        schemas_ = document_.at("components").at("schemas").as_object();
        json::object paths;
        for (auto& [path, item] : document_.at("paths").as_object()) add_path(paths, path, item.as_object());
        document_["paths"] = std::move(paths);
        json::object& components = document_.at("components").as_object();
        components["responses"] = std::move(responses_);
        json::value whole(std::move(document_));
        fill_in(whole);
        return std::move(whole.as_object());
    }

  private:
    // Adds the members that tables of fields describe.
    static void add_fields(json::value& value) {
        json::object* schema = value.if_object();
        if (schema == nullptr) return;
        for (auto& [name, each] : *schema) add_fields(each);
        const json::value* name = schema->if_contains("x-fields");
        if (name == nullptr) return;
        const FieldTable* table = find_described_table(text_of(*name));
        if (table == nullptr) throw std::invalid_argument(std::string(text_of(*name)));
        schema->erase("x-fields");
        json::object made = field_schema(*table);
        if (schema->contains("not")) {
            widen_exclusion(*schema);
            widen_exclusion(made);
        }
        merge(*schema, made);
    }

    void add_path(json::object& paths, std::string_view path, json::object item) {
        json::object twin = item;
        bool has_twin = path.starts_with("/v1/");
        const auto complete_own = [&](json::object& operation) {
            switch (reach_of_page(path)) {
                case Reach::no_token:
                    return complete(operation, {"any"});
                case Reach::any_token:
                    return complete(operation, {"any", "access"});
                default:
                    return complete(operation, {"any", "access", "rights"});
            }
        };
        for (const std::string_view method : kMethods) {
            if (json::value* operation = item.if_contains(method)) {
                has_twin = operation->as_object().erase("x-without-namespace") == 0 && has_twin;
                complete_own(operation->as_object());
            }
            if (json::value* operation = twin.if_contains(method)) {
                json::object& inner = operation->as_object();
                inner["operationId"] = std::string(text_of(inner.at("operationId"))) + "InNamespace";
                complete(inner, {"any", "access", "rights", "namespace"});
            }
        }
        add_head(item);
        add_head(twin);
        paths[path] = std::move(item);
        if (!has_twin) return;
        json::array parameters = {reference("parameters", "namespace")};
        if (const json::value* own = twin.if_contains("parameters")) {
            parameters.insert(parameters.end(), own->as_array().begin(), own->as_array().end());
        }
        twin["parameters"] = std::move(parameters);
        paths[std::string(kNamespacePath) + std::string(path.substr(3))] = std::move(twin);
    }

    static void add_head(json::object& item) {
        if (const json::value* get = item.if_contains("get")) item["head"] = head_of(get->as_object());
    }

    // Adds the problems of the operation as responses, and those that every operation has.
    void complete(json::object& operation, std::initializer_list<std::string_view> groups) {
        Codes codes;
        for (const std::string_view group : groups) add_codes(group, codes);
        for (const json::value& each : operation.at("x-problems").as_array()) add_codes(text_of(each), codes);
        operation.erase("x-problems");
        std::map<int, Codes> by_status;
        for (const std::string& code : codes) by_status[find_error_code(code)->status].insert(code);
        json::object& responses = operation.at("responses").as_object();
        for (auto& [status, response] : responses) {
            response.as_object()["headers"] = json::object{{"traceparent", reference("headers", "traceparent")}};
        }
        for (const auto& [status, of_status] : by_status) add_problem(responses, status, of_status);
        json::array parameters = {reference("parameters", "traceparent")};
        if (const json::value* own = operation.if_contains("parameters")) {
            parameters.insert(parameters.begin(), own->as_array().begin(), own->as_array().end());
        }
        operation["parameters"] = std::move(parameters);
    }

    // Adds the code, or the codes of the group.
    void add_codes(std::string_view name, Codes& into) const {
        if (const json::value* group = groups_.if_contains(name)) {
            for (const json::value& each : group->as_array()) add_codes(text_of(each), into);
            return;
        }
        if (const ErrorCodeRow* row = find_error_code(name); row == nullptr || row->status == 0)
            throw std::invalid_argument(std::string(name));
        into.insert(std::string(name));
    }

    void add_problem(json::object& responses, int status, const Codes& codes) {
        json::object problem = problem_response(status, codes);
        const std::string number = std::to_string(status);
        if (json::value* other = responses.if_contains(number)) {  // a state of the server also has this status
            json::object& content = other->at("content").as_object();
            content["application/problem+json"] = problem.at("content").at("application/problem+json");
            return;
        }
        constexpr std::size_t kNamedCodesMax = 2;
        if (codes.size() > kNamedCodesMax) {
            responses[number] = std::move(problem);
            return;
        }
        std::string name;
        for (const std::string& code : codes) name += (name.empty() ? "" : "_or_") + code;
        responses[number] = reference("responses", name);
        responses_[name] = std::move(problem);
    }

    static json::object problem_response(int status, const Codes& codes) {
        json::array names;
        std::set<std::string_view> titles;
        std::string description;
        for (const std::string& code : codes) {
            names.emplace_back(code);
            const std::string_view title = find_error_code(code)->title;
            if (titles.insert(title).second) description.append(description.empty() ? "" : "; ").append(title);
        }
        json::object schema = reference("schemas", "Problem");
        schema["properties"] = json::object{{"status", json::object{{"const", status}}},
                                            {"code", json::object{{"enum", std::move(names)}}}};
        json::object headers = {{"traceparent", reference("headers", "traceparent")}};
        if (status == 307) headers["Location"] = reference("headers", "Location");
        if (has_retry_after(status)) headers["Retry-After"] = reference("headers", "RetryAfter");
        return {{"description", description + "."},
                {"headers", std::move(headers)},
                {"content", json::object{{"application/problem+json", json::object{{"schema", std::move(schema)}}}}}};
    }

    const json::object& schema_at(const json::value& target) const {
        return schemas_.at(text_of(target).substr(kSchemas.size())).as_object();
    }

    // What responses show of a schema of settings.
    json::object shown_of(const json::object& schema) const {
        if (const json::value* target = schema.if_contains("$ref")) {
            json::object shown = shown_of(schema_at(*target));
            return shown == schema_at(*target) ? schema : shown;
        }
        json::object shown = schema;
        if (const json::value* properties = schema.if_contains("properties")) {
            const json::object& members = properties->as_object();
            json::object kept;
            for (const auto& [name, each] : members) {
                if (is_shown(members, name)) kept[name] = shown_of(each.as_object());
            }
            // The rules about members that exclude each other are about requests.
            for (const char* rule : {"not", "anyOf", "oneOf"}) {
                if (kept.size() < members.size()) shown.erase(rule);
            }
            shown["properties"] = std::move(kept);
        }
        if (json::value* choices = shown.if_contains("oneOf")) {
            for (json::value& each : choices->as_array()) each = shown_of(each.as_object());
        }
        return shown;
    }

    // The schema of a merge patch for a schema of settings.
    json::value patch_of(const json::object& schema) const {
        if (const json::value* target = schema.if_contains("$ref")) {
            const json::object& inner = schema_at(*target);
            const bool is_plain = !inner.contains("properties") && !inner.contains("additionalProperties");
            return is_plain ? json::value(schema) : patch_of(inner);
        }
        json::object patch = schema;
        for (const char* name : {"required", "not", "anyOf", "oneOf", "default"}) {
            if (patch.contains("properties")) patch.erase(name);
        }
        const auto nullable = [this](json::value& each) {
            json::value changed = patch_of(each.as_object());
            each = json::object{{"anyOf", json::array{std::move(changed), json::object{{"type", "null"}}}}};
        };
        if (json::value* properties = patch.if_contains("properties")) {
            for (auto& [name, each] : properties->as_object()) nullable(each);
        }
        json::value* others = patch.if_contains("additionalProperties");
        if (others != nullptr && others->is_object()) nullable(*others);
        if (json::value* choices = patch.if_contains("oneOf")) {
            for (json::value& each : choices->as_array()) each = patch_of(each.as_object());
        }
        return patch;
    }

    void fill_in(json::value& value) const {
        if (json::array* array = value.if_array()) {
            for (json::value& each : *array) fill_in(each);
        }
        json::object* object = value.if_object();
        if (object == nullptr) return;
        if (const json::value* name = object->if_contains("x-limit")) {
            value = limit_(text_of(*name));
        } else if (const json::value* settings = object->if_contains("x-patch-of")) {
            value = patch_of(schemas_.at(text_of(*settings)).as_object());
            fill_in(value);
        } else if (const json::value* shown_name = object->if_contains("x-shown-of")) {
            json::value shown = shown_of(schemas_.at(text_of(*shown_name)).as_object());
            if (const json::value* required = object->if_contains("required"))
                shown.as_object()["required"] = *required;
            fill_in(shown);
            value = std::move(shown);
        } else if (object->contains("x-codes")) {
            json::array codes;
            for (const ErrorCodeRow& row : kErrorCodes) {
                if (row.status != 0) codes.emplace_back(row.name);
            }
            value = std::move(codes);
        } else {
            for (auto& [member, each] : *object) fill_in(each);
        }
    }

    json::object document_;
    json::object groups_;
    json::object schemas_;    // as in the source
    json::object responses_;  // shared by several operations, by code
    const LimitValue& limit_;
};

}  // namespace

std::string contract_text(const LimitValue& limit) noexcept {
    const std::string_view source = openapi_source();
    return json::serialize(Contract(json::parse(source).as_object(), limit).expand());
}

}  // namespace duewheel
