// What the program tells its operator: structured events, and the sink they go to.
//
// An event has a level, a name that a script can look for ("segment_sealed"), a sentence for people, and fields.
// Whoever has something to tell is given a LogSink& by its constructor; there is no global log, so a test gives its own
// sink and two servers in one process do not mix. How an event looks, and whether it has a time, is the sink's affair.
// Events are for what happens now and then, not for each message: a counter or a histogram tells that.
//     log.warning("queue_full", "The queue is full; puts are refused until it drains.", {{"queue", name}, {"length",
//     9}});
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
    debug,    // for whoever works on the program
    info,     // went as it should, and is worth knowing
    warning,  // goes on, but somebody should look
    error,    // something that was promised does not work
};

std::string_view name_of(LogLevel level);

// Refers to its texts: it lives as long as the call.
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

// Any thread may call a sink. It must not fail in a way that the caller notices.
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

// One event as one line, without the line's end:
//     warning queue_full: The queue is full; puts are refused until it drains. queue="a b" length=9
// Texts may come from outside: control characters, which could forge a line or drive a terminal, are escaped (\n,
// \x1b), and a text value that is not a plain word stands in quotes.
std::string log_line(LogLevel level, std::string_view event, std::string_view message,
                     std::span<const LogField> fields);

}  // namespace duewheel
