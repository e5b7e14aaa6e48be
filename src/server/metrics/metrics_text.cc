#include "server/metrics/metrics_text.h"

#include <cstdlib>

#include "base/enum_name.h"

namespace duewheel {

std::string_view metric_type_name(MetricType type) {
    return enum_name<MetricType::histogram>(type, {"counter", "gauge", "histogram"});
}

std::string MetricValue::decimal(std::int64_t value, int digits) {
    std::string text = std::to_string(std::abs(value));
    const auto width = static_cast<std::size_t>(digits);
    if (text.size() <= width) text.insert(0, width + 1 - text.size(), '0');
    text.insert(text.size() - width, ".");
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return value < 0 ? "-" + text : text;
}

void MetricsText::family(const Metric& metric) {
    name_ = metric.name;
    text_.append("# HELP ").append(name_).append(" ").append(metric.help).append("\n");
    text_.append("# TYPE ").append(name_).append(" ").append(metric_type_name(metric.type)).append("\n");
}

void MetricsText::series(std::initializer_list<Label> labels, const MetricValue& value) {
    line("", labels, value);
}

void MetricsText::single(const Metric& metric, const MetricValue& value) {
    family(metric);
    line("", {}, value);
}

void MetricsText::histogram(const Metric& metric, const Histogram& of_us, std::span<const std::int64_t> bounds_us) {
    family(metric);
    for (const std::int64_t bound_us : bounds_us) {
        const std::string bound = MetricValue::of_microseconds(bound_us).text();
        line("_bucket", {{"le", bound}}, of_us.count_up_to(static_cast<std::uint64_t>(bound_us)));
    }
    line("_bucket", {{"le", "+Inf"}}, of_us.count());
    line("_sum", {}, MetricValue::of_microseconds(static_cast<std::int64_t>(of_us.sum())));
    line("_count", {}, of_us.count());
}

void MetricsText::line(std::string_view suffix, std::initializer_list<Label> labels, const MetricValue& value) {
    text_.append(name_).append(suffix);
    char before = '{';
    for (const auto& [name, content] : labels) {
        text_.append(1, std::exchange(before, ',')).append(name).append("=\"");
        for (const char c : content) {
            if (c == '\\' || c == '"') text_.push_back('\\');
            text_.push_back(c);
        }
        text_.push_back('"');
    }
    text_.append(before == ',' ? "} " : " ").append(value.text()).append("\n");
}

}  // namespace duewheel
