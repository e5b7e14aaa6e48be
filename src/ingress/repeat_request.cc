#include "ingress/repeat_request.h"

#include "ingress/request_members.h"

namespace duewheel {

Result<std::optional<RepeatChoice>> read_repeat(const JsonRequest& request) {
    const Result<std::optional<JsonRequest>> object = request.object("repeat");
    if (!object) return object.error();
    if (!*object) return std::optional<RepeatChoice>();
    const JsonRequest& repeat = **object;
    RepeatChoice choice;
    std::optional<std::int64_t> every;
    Status read = repeat.only({"every", "every_ms", "times", "factor", "max", "max_ms", "until", "until_ms"});
    if (read) read = take(repeat.duration_ms("every"), every);
    if (read) read = take(repeat.integer("times"), choice.times);
    if (read) read = take(repeat.thousandths("factor"), choice.factor_permille);
    if (read) read = take(repeat.duration_ms("max"), choice.max_ms);
    if (read) read = take(repeat.instant_ms("until"), choice.until_ms);
    if (!read) return std::move(read).error();
    if (!every) {
        return Error{"missing_member",
                     "a recurring message needs the interval between two occurrences: give `every`, such as 10m",
                     "repeat.every"};
    }
    choice.every_ms = *every;
    return std::optional<RepeatChoice>(choice);
}

}  // namespace duewheel
