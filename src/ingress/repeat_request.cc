#include "ingress/repeat_request.h"

#include <string>

#include "ingress/request_members.h"
#include "ingress/rule_field.h"

namespace duewheel {
namespace {

Error no_rest(std::string_view field) {
    return {"missing_member",
            "a loop needs the rest between two occurrences: give `every`, such as 10m, with what else is to be said",
            std::string(field)};
}

}  // namespace

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
    if (!every) return no_rest("repeat.every");
    choice.every_ms = *every;
    return std::optional<RepeatChoice>(choice);
}

Result<RepeatChoice> read_repeat_field(std::string_view text, std::string_view field_name) {
    using Kind = RuleMember::Kind;
    RepeatChoice choice;
    std::optional<std::int64_t> every;
    const RuleMember members[] = {{"every", Kind::duration, &every},
                                  {"times", Kind::whole, &choice.times},
                                  {"factor", Kind::thousandths, &choice.factor_permille},
                                  {"max", Kind::duration, &choice.max_ms},
                                  {"until", Kind::instant, &choice.until_ms}};
    if (Status read = read_rule_field(text, field_name, members); !read) return std::move(read).error();
    if (!every) return no_rest(field_name);
    choice.every_ms = *every;
    return choice;
}

}  // namespace duewheel
