// The limits of what is kept in memory and on disk (server/limits/limit.h).
#include "base/error_codes.h"
#include "server/limits/limit_rows.h"

namespace duewheel::limit_rows {

std::span<const Limit> of_storage() {
    static constexpr Limit kRows[] = {
        bound<kEngine, &Engine::redrive_max>("retry.redrive_max", Unit::count,
                                             "Maximum number of dead letters that one call redrives.",
                                             {.codes = {"bad_max"_code}}),
        bound<kEngine, &Engine::unsealed_segments_max>(
            "store.unsealed_segments_max", Unit::count,
            "Maximum number of full log segments that are not in the index yet. Beyond it puts wait.",
            {.otherwise = "puts wait", .use = of_engine<&EngineCounters::unsealed_segments>}),
        at<kEngine, &Engine::window_entries_max>(
            "memory.entries_max", Unit::count,
            "Maximum number of messages with an entry in memory, of 72 bytes and a timer each. Beyond it the "
            "server reads less ahead.",
            {.min = 10'000,
             .max = 100'000'000,
             .otherwise = "the server reads less ahead",
             .use = of_engine<&EngineCounters::in_memory>}),
        bound<kEngine, &Engine::ready_max>(
            "memory.ready_max", Unit::count,
            "Maximum number of due messages of a queue in memory, or twice as many if they became due within "
            "the last second. Further messages wait on disk once they are in the index.",
            {.otherwise = "further messages wait on disk"}),
        at<kEngine, &Engine::record_cache_bytes>(
            "memory.bodies_max", Unit::bytes,
            "Maximum total size of the bodies kept in memory for messages that are due soon.",
            {.min = 0,
             .max = 64 * kGiB,
             .otherwise = "further bodies are read from disk",
             .use = of_engine<&EngineCounters::cached_bytes>}),
    };
    return kRows;
}

}  // namespace duewheel::limit_rows
