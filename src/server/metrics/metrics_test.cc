// The table of metrics, and the page docs/metrics.md that is generated from it. After a change, DUEWHEEL_RECORD=1
// server_test writes the page again. tests/integration/metrics_test.py tests the metrics of the real server.
#include <set>

#include <gtest/gtest.h>

#include "server/metrics/metric_table.h"
#include "server/metrics/metrics_text.h"
#include "server/metrics/queue_series.h"
#include "server/process/process_stats.h"
#include "support/generated_table.h"

namespace duewheel::metrics_test {
namespace {

const std::string kPage = DUEWHEEL_SOURCE_DIR "/docs/metrics.md";
constexpr std::string_view kBegin = "<!-- Made from src/server/metrics/metric_table.cc. -->\n\n";

TEST(Metrics, the_documentation_holds_the_table) {
    expect_table_in_page(kPage, kBegin, metrics_table());
}

// The rules of `promtool check metrics`, and that a counter without its _total is not the name of another family, as
// OpenMetrics demands.
TEST(Metrics, names_follow_the_conventions_of_prometheus) {
    std::set<std::string> names;
    for (const Metric& metric : all_metrics()) {
        SCOPED_TRACE(metric.name);
        const bool is_counter = metric.type == MetricType::counter;
        const std::size_t letters = metric.name.size() - (is_counter ? std::string_view("_total").size() : 0);
        EXPECT_TRUE(names.insert(std::string(metric.name.substr(0, letters))).second);
        EXPECT_TRUE(metric.name.starts_with("duewheel_") || metric.name.starts_with("process_"));
        for (const char* wrong : {"milli", "micro", "minute", "kilo", "mega"}) {
            EXPECT_EQ(metric.name.find(wrong), std::string_view::npos) << wrong;
        }
        for (const char* wrong : {"_ms", "_us", "_count", "_sum", "_bucket"})
            EXPECT_FALSE(metric.name.ends_with(wrong));
        EXPECT_TRUE(metric.help.ends_with('.'));
        EXPECT_EQ(metric.help.find_first_of("\\\n"), std::string_view::npos) << "would need an escape";
    }
}

TEST(Metrics, times_are_written_in_seconds_exactly) {
    EXPECT_EQ(MetricValue::of_milliseconds(1'798'783'200'250).text(), "1798783200.25");
    EXPECT_EQ(MetricValue::of_milliseconds(-7).text(), "-0.007");
    EXPECT_EQ(MetricValue::of_milliseconds(0).text(), "0");
    EXPECT_EQ(MetricValue::of_milliseconds(300'000).text(), "300");
    EXPECT_EQ(MetricValue::of_microseconds(500).text(), "0.0005");
    EXPECT_EQ(MetricValue(true).text(), "1");
    EXPECT_EQ(MetricValue(std::uint64_t{100}).text(), "100");
}

TEST(Metrics, are_written_as_prometheus_reads_them) {
    MetricsText text;
    text.single({"duewheel_queues", "Queues that exist."}, std::uint64_t{2});
    text.family({"duewheel_x_total", "Of a queue."});
    text.series({{"namespace", "default"}, {"queue", "a\"b\\c"}}, std::uint64_t{3});
    Histogram of_us;
    of_us.record(400);
    of_us.record(2'000'000);
    constexpr std::int64_t kBounds[] = {500, 1'000'000};
    text.histogram({"duewheel_y_seconds", "A time.", "", MetricType::histogram}, of_us, kBounds);
    EXPECT_EQ(text.take(),
              "# HELP duewheel_queues Queues that exist.\n# TYPE duewheel_queues gauge\nduewheel_queues 2\n"
              "# HELP duewheel_x_total Of a queue.\n# TYPE duewheel_x_total counter\n"
              "duewheel_x_total{namespace=\"default\",queue=\"a\\\"b\\\\c\"} 3\n"
              "# HELP duewheel_y_seconds A time.\n# TYPE duewheel_y_seconds histogram\n"
              "duewheel_y_seconds_bucket{le=\"0.0005\"} 1\nduewheel_y_seconds_bucket{le=\"1\"} 1\n"
              "duewheel_y_seconds_bucket{le=\"+Inf\"} 2\nduewheel_y_seconds_sum 2.0004\nduewheel_y_seconds_count 2\n");
}

TEST(Metrics, the_process_knows_itself) {
    const std::optional<ProcessStats> stats = process_stats();
    ASSERT_TRUE(stats.has_value());
    EXPECT_GT(stats->resident_bytes, 1u << 20);
    EXPECT_GT(stats->virtual_bytes, stats->resident_bytes);
    EXPECT_GE(stats->threads, 1u);
    EXPECT_GE(stats->max_fds, stats->open_fds);
    EXPECT_GT(stats->start_ms, 1'700'000'000'000);
    std::ifstream one_more("/proc/self/status");
    EXPECT_EQ(process_stats()->open_fds, stats->open_fds + 1);
}

// Named queues with what was received in them; the first `max` have series of their own.
QueueTraffic traffic(std::vector<std::pair<std::string, std::uint64_t>> queues, std::size_t others) {
    QueueTraffic traffic;
    for (const auto& [name, received] : queues) {
        QueueCounters& queue = traffic.busiest.emplace_back();
        queue.name = {"default", name};
        queue.totals.received = received;
    }
    traffic.other_queues = others;
    return traffic;
}

QueueTotals received(std::uint64_t count) {
    return {.received = count};
}

TEST(QueueSeries, the_series_of_the_others_has_the_rest) {
    QueueSeries series;
    EXPECT_EQ(series.count_others(traffic({{"a", 5}, {"b", 3}}, 2), received(10)), received(2));
    EXPECT_EQ(series.count_others(traffic({{"a", 7}, {"b", 3}}, 2), received(13)), received(3));
}

TEST(QueueSeries, while_each_has_its_own_nothing_is_left_for_others) {
    QueueSeries series;
    EXPECT_EQ(series.count_others(traffic({{"a", 5}}, 0), received(5)), received(0));
    EXPECT_EQ(series.count_others(traffic({{"a", 5}, {"b", 9}}, 0), received(14)), received(0));
}

// A counter that goes down is one that began again: Prometheus would add all of it once more.
TEST(QueueSeries, the_count_of_the_others_never_goes_down) {
    QueueSeries series;
    series.count_others(traffic({{"a", 5}, {"b", 3}}, 1), received(10));
    // "c" overtakes "b", and brings its count along.
    EXPECT_EQ(series.count_others(traffic({{"a", 5}, {"c", 4}}, 1), received(12)), received(4));
    // "b" overtakes "c": what "c" received meanwhile is counted with the others.
    EXPECT_EQ(series.count_others(traffic({{"b", 9}, {"a", 5}}, 1), received(19)), received(11));
    // "a" was forgotten and is there again.
    EXPECT_EQ(series.count_others(traffic({{"b", 9}, {"a", 1}}, 1), received(20)), received(11));
}

}  // namespace
}  // namespace duewheel::metrics_test
