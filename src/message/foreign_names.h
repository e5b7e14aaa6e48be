// Names that other products have for members of our requests and options of our command line, for the hint in an error
// about an unknown name: `countdown` is what users of Celery write for `delay`.
//
// Names are compared without regard to case, hyphens and underscores: `maxRetries` is `max_retries`. It translates
// names only. Values keep their form, which the error about the value then explains.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace duewheel {

struct NameMeant {
    std::string_view name;    // of a member; `retry.attempts`: of a member of the object `retry`
    std::string_view note{};  // a sentence for did_you_mean(), if the name does only a part of the job
};

// What an unknown name stands for, in a call that has the names `known`: one of them in another case, the one that does
// the job of that name in another product, or the nearest one. O(number of names).
std::optional<NameMeant> name_meant_by(std::string_view written, std::span<const std::string_view> known);

}  // namespace duewheel
