// Options as JSON, and JSON as answers, by the members that model_members.h names.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "duewheel/client/client.h"
#include "json_text.h"
#include "model_members.h"

namespace duewheel::client {

// Whole milliseconds, rounded up: nothing is early. Such as "1500ms".
std::string duration_text(Duration duration);
// RFC 3339 in UTC, in whole milliseconds, rounded up.
std::string instant_text(Instant instant);

// A reason that the server accepts: with `?` in place of what is not UTF-8, and without the middle of a very long one,
// which it would cut out anyway and which may make a request too large.
std::string reason_text(std::string_view reason);

// A name as one segment of a path, or a value of a query.
std::string segment(std::string_view name);

// JSON of an object, member by member. Absent values are skipped: see models.h.
class ObjectWriter {
  public:
    // A member whose value is JSON already.
    void add(std::string_view name, std::string_view json) {
        text_ += text_.size() > 1 ? ",\"" : "\"";
        ((text_ += name) += "\":") += json;
    }
    // The data of a put. Throws Failure, `bad_data`, if it cannot be JSON.
    void add_content(const Content& content);

    void operator()(std::string_view name, const std::string& text) {
        if (!text.empty()) add(name, json_of(Content::text(text)).text);
    }
    void operator()(std::string_view name, const Json& json) {
        if (!json.text.empty()) add(name, json_of(Content::json(json.text)).text);
    }
    void operator()(std::string_view name, bool is) {
        if (is) add(name, "true");
    }
    void operator()(std::string_view name, const Headers& headers) {
        if (headers.empty()) return;
        ObjectWriter values;
        for (const auto& [header, value] : headers) values.add_named(header, value);
        add(name, std::move(values).json());
    }
    template <class T>
    void operator()(std::string_view name, const std::optional<T>& value) {
        if (!value) return;
        if constexpr (std::same_as<T, Duration> || std::same_as<T, Instant> || std::is_arithmetic_v<T>) {
            add(name, Value(*value).json());
        } else {
            ObjectWriter members;
            for_each_member(*value, members);
            add(name, std::move(members).json());
        }
    }

    std::string json() && { return std::move(text_) + "}"; }
    // To follow other members.
    std::string members() && { return text_.size() > 1 ? "," + text_.substr(1) : ""; }

  private:
    void add_named(const std::string& name, const std::string& value);

    std::string text_ = "{";
};

// Reads the members of an object, which are mostly in the order of the calls.
class ObjectReader {
  public:
    explicit ObjectReader(std::string_view object) : members_(members_of(object)) {}

    template <class T>
    void operator()(std::string_view name, T& target) {
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const auto& [each, value] = members_[(next_ + i) % members_.size()];
            if (each != name) continue;
            next_ += i + 1;
            if (value != "null") read(value, target);
            return;
        }
    }

    const std::vector<std::pair<std::string_view, std::string_view>>& members() const { return members_; }

  private:
    template <class T>
    static void read(std::string_view json, T& target);

    std::vector<std::pair<std::string_view, std::string_view>> members_;
    std::size_t next_ = 0;
};

template <class Model>
Model read_model(std::string_view json) {
    Model model;
    ObjectReader reader(json);
    for_each_member(model, reader);
    model.raw = json;
    if constexpr (requires { model.content; }) {
        for (const auto& [name, written] : reader.members()) {
            if (name == "body") model.content = Content::text(unquoted(written).value_or(""));
            if (name == "body_base64") model.content = Content::bytes(from_base64(written));
            if (name == "json") model.content = Content::json(std::string(written));
        }
    }
    return model;
}

template <class T>
void ObjectReader::read(std::string_view json, T& target) {
    const auto number = [json](auto value) {
        std::from_chars(json.data(), json.data() + json.size(), value);
        return value;
    };
    if constexpr (std::same_as<T, std::string>) {
        target = unquoted(json).value_or(std::string(json));
    } else if constexpr (std::same_as<T, bool>) {
        target = json == "true";
    } else if constexpr (std::is_arithmetic_v<T>) {
        target = number(target);
    } else if constexpr (std::same_as<T, Json>) {
        target.text = json;
    } else if constexpr (std::same_as<T, Duration>) {
        target = std::chrono::milliseconds(number(std::int64_t{0}));
    } else if constexpr (std::same_as<T, Instant>) {
        target = Instant(std::chrono::milliseconds(number(std::int64_t{0})));
    } else if constexpr (std::same_as<T, Headers>) {
        for (const auto& [name, value] : members_of(json)) {
            target[unquoted('"' + std::string(name) + '"').value_or("")] = unquoted(value).value_or("");
        }
    } else if constexpr (requires { target.emplace_back(); }) {
        for (const std::string_view each : elements_of(json)) read(each, target.emplace_back());
    } else if constexpr (requires { target.emplace(); }) {
        read(json, target.emplace());
    } else {
        target = read_model<T>(json);
    }
}

// The members of calls that end or extend a lease, each with a comma before it. They throw Failure if one is no JSON.
std::string ack_members(const Json& result);
std::string fail_members(const std::string& reason, const FailOptions& options);
std::string extend_members(const ExtendOptions& options);
std::string release_members(Duration delay);

}  // namespace duewheel::client
