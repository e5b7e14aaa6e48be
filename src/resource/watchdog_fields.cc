#include "resource/watchdog_fields.h"

#include "resource/content_rows.h"

namespace duewheel {
namespace {

using content_rows::of_rule;

constexpr Field kWatchdogRows[] = {
    content_rows::kQueueOfRule<WatchdogRule>,
    duration<&WatchdogRule::timeout_ms>(
        0, "timeout", "It fires this long after its last feed: 30s, 25h; required for a new watchdog",
        {.page = "required: how long after its last feed it fires, 1 ms to 100 years",
         .when_absent = "give the time after the last feed at which it fires, such as \"25h\"",
         .is_required = true}),
    duration<&WatchdogRule::max_ms>(
        0, "max", "It fires this long after its first feed at the latest",
        {.page = "the latest time at which it fires, counted from the first feed since it last fired, however often it "
                 "is fed; at least `timeout`. No bound by default",
         .min = 1,
         .when_absent = "no limit"}),
    duration<&WatchdogRule::repeat_every_ms>(
        0, "repeat_every", "It fires again at this interval until it is fed",
        {.page = "the interval at which it fires again until it is fed; by default it sleeps until it is fed",
         .min = 1,
         .when_absent = "a watchdog that sleeps until it is fed"}),
    by_hand(FieldKind::flag, "feed", "Feed a watchdog that exists already. A new one is always fed",
            {.page = "whether this put feeds an existing watchdog; `false` by default",
             .schema = R"({"writeOnly": true})"}),
    of_rule(content_rows::kBody),
    of_rule(content_rows::kBodyBase64),
    of_rule(content_rows::kJson),
    of_rule(content_rows::kHeaders),
    of_rule(content_rows::kKafka),
    of_rule(content_rows::kContentType),
    content_rows::kPriorityOfRule<WatchdogRule>,
    content_rows::kOrderKeyOfRule<WatchdogRule>,
    content_rows::kGroupOfRule<WatchdogRule>,
    content_rows::kExpiryOfRule<WatchdogRule>,
    content_rows::kRetryOfRule<WatchdogRule>,
};

}  // namespace

template <>
const FieldTable& fields_of<WatchdogRule>() {
    static const FieldTable table("a watchdog's settings hold", kWatchdogRows);
    return table;
}

}  // namespace duewheel
