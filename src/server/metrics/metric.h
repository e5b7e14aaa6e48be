// The content of /metrics: families with a name, a type, labels and a help text, and the format of their values.
//
// Names follow the conventions of Prometheus: `duewheel_`, what is counted, the unit (seconds or bytes), and
// `_total` for a counter. The families are in metric_table.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace duewheel {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

std::string_view metric_type_name(MetricType type);

struct Metric {
    std::string_view name;
    std::string_view help;
    std::string_view labels{};  // of each series, separated by a comma and a space; empty: none
    MetricType type = name.ends_with("_total") ? MetricType::counter : MetricType::gauge;
};

// A formatted value. Integers stay integers; times become seconds, exactly.
class MetricValue {
  public:
    template <std::unsigned_integral Number>
    MetricValue(Number number) : text_(std::to_string(number)) {}
    MetricValue(bool is_so) : text_(is_so ? "1" : "0") {}
    static MetricValue of_milliseconds(std::int64_t value) { return MetricValue(decimal(value, 3)); }
    static MetricValue of_microseconds(std::int64_t value) { return MetricValue(decimal(value, 6)); }

    const std::string& text() const { return text_; }

  private:
    explicit MetricValue(std::string text) : text_(std::move(text)) {}
    static std::string decimal(std::int64_t value, int digits);

    std::string text_;
};

}  // namespace duewheel
