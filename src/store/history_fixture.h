// For the tests of this folder: a log that random moves write, and an index beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "store/index.h"
#include "store/index_recovery.h"
#include "store/trial_moves.h"
#include "support/memory_rows.h"

namespace duewheel {

struct TrialHistory {
    explicit TrialHistory(std::uint64_t seed) : moves(shard, seed) {}

    void write_segment(std::uint64_t commits) {
        for (; commits > 0; --commits) moves.commit();
        moves.close_segment();
    }
    void seal() { ASSERT_TRUE(seal_missing(shard.catalog(), *index).ok()); }

    TrialShard shard;
    TrialMoves moves;
    MemoryRowStorage storage;
    Retention retention;
    std::unique_ptr<Index> index = *Index::open(storage, retention);
};

// Up to the first fatal failure.
template <class Check>
void for_each_history(std::uint64_t seeds, Check check) {
    for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFatalFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        TrialHistory history(seed);
        check(history);
    }
}

}  // namespace duewheel
