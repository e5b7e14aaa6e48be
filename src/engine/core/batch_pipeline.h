// The batch that is being built or written. There is one at a time:
//
//     begin() ──► being built ── submit() ──► in flight ── committed() ──► durable ── take() … finish() ──► none
//                      └── discard(): nothing was added ──► none
//
// The operations of a durable batch are taken a part per iteration: thousands of records at once would block all
// clients. They are valid until finish().
//
// If no commit follows within a few milliseconds, an empty one confirms the newest: damage to the last acknowledged
// commit can then be told from a torn write.
//
// Single-threaded; it validates and applies nothing.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include "engine/core/batch.h"
#include "journal/journal.h"

namespace duewheel {

class BatchPipeline {
  public:
    // `totals`: of the log so far.
    explicit BatchPipeline(const Totals& totals) : totals_(totals) {}

    // The sums of the log as of the newest batch that was applied.
    const Totals& totals() const { return totals_; }
    // An id up to this counter was applied, although the rest of its batch was not.
    void raise_id_counter(std::uint64_t counter) { totals_.id_counter = counter; }

    // ---- building

    void begin();
    bool has_batch() const { return batch_ != nullptr; }
    Batch& batch() { return *batch_; }
    const Batch& batch() const { return *batch_; }
    void discard() { idle_ = std::move(batch_); }
    // The commit to write, with the bytes of the batch. `now` is saved with it.
    Commit submit(DueMs now, bool closes_segment);

    // ---- writing and applying

    // A commit was passed on and is not applied completely.
    bool is_in_flight() const { return in_flight_; }
    // It is durable.
    bool is_durable() const { return durable_; }
    // It returns the bytes.
    void committed(Commit commit);
    // The next operations, to be applied together: up to `max`, but all puts of a request.
    std::span<Operation> take(std::size_t max);
    bool is_taken() const { return taken_ == batch_->count(); }
    // All were applied: another batch may begin.
    void finish();

    // ---- confirming

    static constexpr DueMs kNever = std::numeric_limits<DueMs>::max();
    // From then on a commit is needed, even an empty one; kNever if the newest needs none.
    void confirm_at(DueMs at_ms) { confirm_at_ms_ = at_ms; }
    DueMs confirm_at_ms() const { return confirm_at_ms_; }

  private:
    Totals totals_;
    std::unique_ptr<Batch> batch_;
    std::unique_ptr<Batch> idle_;  // its memory is reused
    bool in_flight_ = false;
    bool durable_ = false;
    std::size_t taken_ = 0;  // operations of a durable one
    DueMs confirm_at_ms_ = kNever;
};

}  // namespace duewheel
