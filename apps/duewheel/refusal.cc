#include "refusal.h"

#include "session.h"

namespace duewheel {

Refusal refusal_of(const boost::json::object& problem) {
    return {std::string(word_of(problem, "code")), std::string(word_of(problem, "detail")),
            std::string(word_of(problem, "field"))};
}

}  // namespace duewheel
