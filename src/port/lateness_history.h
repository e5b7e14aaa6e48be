// The lateness of deliveries and the wait before it (engine/commands/lateness.h) over the last hour, in rows of five
// seconds: of the server, and of its busiest queues.
//
// A row keeps only the number of deliveries and six figures, so an hour of 101 series takes 2.5 MB. Percentiles
// are exact below 32 ms, and up to a 16th too high above.
//
// A queue that delivers gets a series while there is one. Later, the queues without a series are counted in each row,
// as far as a list of fixed size goes (the Space-Saving algorithm of Metwally et al.), and the busiest of them replaces
// the series with the fewest recent deliveries, if it has more. Its rows begin with the next one.
//
// Takes the time as an argument; single-threaded.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/core/engine_counters.h"
#include "message/message.h"

namespace duewheel {

class LatenessHistory {
    // Like Histogram, with 16 buckets for each power of two, of values below 2^40.
    class Counts {
      public:
        void record(std::int64_t value);
        std::uint32_t count() const { return count_; }
        std::uint32_t max() const { return max_; }
        // The last value of the bucket that `permille` of the values do not exceed. O(buckets).
        std::uint32_t percentile(std::uint64_t permille) const;
        void clear() { *this = Counts(); }

      private:
        static constexpr int kBits = 4;
        static constexpr std::size_t kBuckets = (40 - kBits + 1) << kBits;

        std::array<std::uint32_t, kBuckets> counts_{};
        std::uint32_t count_ = 0;
        std::uint32_t max_ = 0;
    };
    // The current row.
    struct Current {
        Counts lateness;
        Counts wait;

        void record(std::int64_t late_ms, std::int64_t wait_ms) {
            lateness.record(late_ms);
            wait.record(wait_ms);
        }
    };

  public:
    static constexpr DueMs kRowMs = 5'000;
    static constexpr std::size_t kRows = 720;
    static constexpr std::size_t kQueuesMax = 100;

    struct Row {
        DueMs time_ms = 0;  // its start
        std::uint32_t count = 0;
        std::uint32_t p50_ms = 0;
        std::uint32_t p99_ms = 0;
        std::uint32_t max_ms = 0;
        std::uint32_t wait_p50_ms = 0;
        std::uint32_t wait_p99_ms = 0;
        std::uint32_t wait_max_ms = 0;

        bool operator==(const Row&) const = default;
    };
    // All rows of a queue together; the percentiles are the highest of its rows.
    struct QueueRows {
        QueueName name;
        std::uint64_t count = 0;
        std::uint32_t p99_ms = 0;
        std::uint32_t max_ms = 0;
        std::uint32_t wait_p99_ms = 0;
        std::uint32_t wait_max_ms = 0;
    };

    // Deliveries from one queue at one time.
    class Deliveries {
      public:
        void record(std::int64_t late_ms, std::int64_t wait_ms) {
            server_->record(late_ms, wait_ms);
            if (queue_ != nullptr) queue_->record(late_ms, wait_ms);
        }

      private:
        friend class LatenessHistory;
        Current* server_ = nullptr;
        Current* queue_ = nullptr;  // null: it has no series
    };

    LatenessHistory();

    // `now` never goes back; `number` is that of the deliveries to be recorded. Valid until the next call.
    Deliveries deliver(DueMs now, const QueueName& name, std::size_t number);

    // The rows that ended in the `window_ms` before `now`, without those that have no deliveries, in the order of time.
    std::vector<Row> rows(DueMs now, DueMs window_ms) const;
    // The same of one queue; none if it has no series.
    std::vector<Row> rows_of(const QueueName& name, DueMs now, DueMs window_ms) const;
    // The queues that have rows in this time, those with the most deliveries first.
    std::vector<QueueRows> queues(DueMs now, DueMs window_ms) const;

    std::size_t memory_bytes() const;

  private:
    struct Kept {
        std::uint32_t count = 0, p50_ms = 0, p99_ms = 0, max_ms = 0, wait_p50_ms = 0, wait_p99_ms = 0, wait_max_ms = 0;
    };
    struct Series {
        QueueName name;
        Current now;
        std::vector<Kept> rows = std::vector<Kept>(kRows);
        std::uint64_t recent = 0;  // deliveries, those of the last minute or so
    };
    struct Candidate {
        QueueName name;
        std::uint64_t count = 0;
        std::uint64_t too_high = 0;  // how much of the count may be of other queues
    };

    static Kept figures(const Current& row);
    void turn_to(DueMs now);
    void end_row();
    void promote_candidates();
    void count_candidate(const QueueName& name, std::size_t number);
    std::vector<Row> rows(const Series& series, DueMs now, DueMs window_ms) const;

    Series server_;
    std::vector<Series> queues_;
    std::unordered_map<std::string, std::size_t> places_;  // of queues_, by namespace and name
    std::vector<Candidate> candidates_;
    std::int64_t current_ = 0;  // the number of the row, since 1970
};

}  // namespace duewheel
