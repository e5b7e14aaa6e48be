// Writes metrics in Prometheus' text format, version 0.0.4: one family at a time, followed by its series.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/histogram.h"
#include "server/metrics/metric.h"

namespace duewheel {

class MetricsText {
  public:
    using Label = std::pair<std::string_view, std::string_view>;

    // The series of this family follow.
    void family(const Metric& metric);
    void series(std::initializer_list<Label> labels, const MetricValue& value);
    // A family of one series.
    void single(const Metric& metric, const MetricValue& value);
    // A family of one histogram in microseconds, with these upper bounds. A bucket may count values up to 1/64 above
    // its bound, see base/histogram.h.
    void histogram(const Metric& metric, const Histogram& of_us, std::span<const std::int64_t> bounds_us);

    std::string take() { return std::move(text_); }

  private:
    void line(std::string_view suffix, std::initializer_list<Label> labels, const MetricValue& value);

    std::string text_;
    std::string_view name_;
};

}  // namespace duewheel
