// The log for the operator: structured events, and the sink that writes them.
//
// An event has a level, a name that scripts can match ("segment_sealed"), a sentence for people, and fields. A class
// that logs gets a LogSink& in its constructor. There is no global log, so a test passes its own sink, and two servers
// in one process do not mix. The format of an event, and whether it has a time, is decided by the sink.
// Events are for rare occurrences, not for each message; use a counter or a histogram for those.
//
//     log.warning("queue_full", "The queue is full; puts are refused until it drains.", {{"queue", name}});
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace duewheel {

enum class LogLevel {
    debug,    // for developers
    info,     // normal operation
    warning,  // continues, but needs attention
    error,    // something does not work as promised
};

std::string_view name_of(LogLevel level);

// Refers to its texts and lives as long as the call.
class LogField {
  public:
    using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, bool>;

    LogField(std::string_view key, std::string_view value) : key_(key), value_(value) {}
    LogField(std::string_view key, const std::string& value) : LogField(key, std::string_view(value)) {}
    LogField(std::string_view key, const char* value) : LogField(key, std::string_view(value)) {}
    template <std::integral Number>
    LogField(std::string_view key, Number value) : key_(key), value_(widened(value)) {}

    std::string_view key() const { return key_; }
    const Value& value() const { return value_; }

  private:
    template <std::integral Number>
    static Value widened(Number value) {
        if constexpr (std::is_same_v<Number, bool>) {
            return value;
        } else if constexpr (std::is_signed_v<Number>) {
            return static_cast<std::int64_t>(value);
        } else {
            return static_cast<std::uint64_t>(value);
        }
    }

    std::string_view key_;
    Value value_;
};

// Any thread may call a sink. A sink must not report failures to the caller.
class LogSink {
  public:
    using Fields = std::initializer_list<LogField>;

    virtual ~LogSink() = default;

    virtual void write(LogLevel level, std::string_view event, std::string_view message,
                       std::span<const LogField> fields) = 0;

    void debug(std::string_view event, std::string_view message, Fields fields = {}) {
        write(LogLevel::debug, event, message, {fields.begin(), fields.size()});
    }
    void info(std::string_view event, std::string_view message, Fields fields = {}) {
        write(LogLevel::info, event, message, {fields.begin(), fields.size()});
    }
    void warning(std::string_view event, std::string_view message, Fields fields = {}) {
        write(LogLevel::warning, event, message, {fields.begin(), fields.size()});
    }
    void error(std::string_view event, std::string_view message, Fields fields = {}) {
        write(LogLevel::error, event, message, {fields.begin(), fields.size()});
    }
};

// One event as one line, without the line break:
//     warning queue_full: The queue is full; puts are refused until it drains. queue="a b" length=9
// Texts may come from clients: control characters, which could forge a line or control a terminal, are escaped (\n,
// \x1b), and a text that is not a plain word is quoted.
std::string log_line(LogLevel level, std::string_view event, std::string_view message,
                     std::span<const LogField> fields);

}  // namespace duewheel
