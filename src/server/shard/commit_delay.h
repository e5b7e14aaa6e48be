// How long the next commit waits for the callers that the last one answered, so that one sync serves all of them.
//
// Without a wait, callers that send their next command after each answer fall into two groups that take turns: one sync
// serves the first group while the second one collects, and the other way round. Each sync then serves about half of
// the callers, and each caller waits for two syncs. The wait is a fraction of the time that a sync takes, so a fast
// disk has none; and where the callers do not come back within it, it is tried less and less often.
//
// PostgreSQL has this as its settings commit_delay and commit_siblings. Here both follow from what was measured.
#pragma once

#include <cstddef>
#include <cstdint>

namespace duewheel {

class CommitDelay {
  public:
    // A sync faster than this is not worth a wait: the commands' own work takes as long.
    static constexpr std::int64_t kShortestSyncNs = 500'000;
    // The longest wait is this part of the sync before it, and never longer than kLongestNs.
    static constexpr std::int64_t kPartOfSync = 2;
    static constexpr std::int64_t kLongestNs = 5'000'000;
    // With more commands than this a commit is large enough.
    static constexpr std::size_t kMostCommands = 1024;

    // A commit with this many commands is durable after `took_ns`, and `waiting` others have arrived meanwhile.
    void committed(std::int64_t now_ns, std::int64_t took_ns, std::size_t commands, std::size_t waiting);
    // The next commit is on its way, for whatever reason.
    void begun() { until_ns_ = 0; }

    // Whether the next commit has to wait, given the commands that have arrived for it. To be called again when another
    // one has arrived, and at until_ns().
    bool holds(std::int64_t now_ns, std::size_t waiting);
    bool is_holding() const { return until_ns_ != 0; }
    std::int64_t until_ns() const { return until_ns_; }

  private:
    void end(bool was_worth_it);

    std::int64_t until_ns_ = 0;  // 0: the next commit does not wait
    std::size_t expected_ = 0;   // commands
    unsigned skipped_ = 0;       // commits without a wait after one that was in vain
    unsigned skips_left_ = 0;
};

}  // namespace duewheel
