// Every timer scheme with a history of operations, compared with an ordered list: the first byte selects the scheme,
// the rest is the history (schemes/history_trial.h).
//
// The scheme's own checker runs after every operation and at every firing.
#include <cstddef>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"
#include "schemes/history_trial.h"
#include "schemes/tested_schemes.h"

namespace duewheel::timer_schemes_fuzz {
namespace {

constexpr std::size_t kStepsMax = 150;
constexpr unsigned kSinksMax = 8;

// The number of bytes that an amount takes is chosen too, so that small ones, which are the usual ones, are short.
TimerOperation draw_operation(InputScript& script) {
    TimerOperation operation;
    operation.kind = static_cast<TimerOperation::Kind>(script.below(TimerOperation::kKinds));
    operation.shape = script.below(TimerOperation::kShapes);
    for (unsigned bytes = script.one_of({1U, 1U, 2U, 8U}); bytes > 0; --bytes) {
        operation.amount = operation.amount << 8 | script.byte();
    }
    operation.which = script.byte();
    return operation;
}

History draw_history(InputScript& script) {
    History history;
    history.start = script.chance(4) ? script.number() : script.byte();
    for (unsigned sinks = script.below(kSinksMax); sinks > 0; --sinks) {
        std::vector<TimerOperation> sink;
        for (unsigned operations = script.below(4); operations > 0; --operations)
            sink.push_back(draw_operation(script));
        history.sinks.push_back(sink);
    }
    while (!script.at_end() && history.steps.size() < kStepsMax) history.steps.push_back(draw_operation(script));
    return history;
}

}  // namespace

void fuzz(std::string_view input) {
    InputScript script(input);
    const std::vector<TestedScheme>& schemes = tested_small_schemes();
    const TestedScheme& scheme = schemes[script.below(static_cast<unsigned>(schemes.size()))];
    try {
        try_history(scheme, draw_history(script));
    } catch (const Disagreement& disagreement) {
        require(false, disagreement.what(), scheme.name);
    }
}

}  // namespace duewheel::timer_schemes_fuzz
