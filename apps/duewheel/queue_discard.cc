// duewheel queue discard: ends the dead letters of a queue for good. The server does so after its response.
#include <cstdio>

#include "arguments.h"
#include "calendar/instant_text.h"
#include "local_time.h"
#include "pages.h"
#include "queue_verbs.h"

namespace duewheel {
namespace {

struct DiscardArguments {
    std::string queue;
    StretchArguments stretch;  // only its end
};

int discard(Session& session, const DiscardArguments& arguments) {
    boost::json::object request;
    if (arguments.stretch.to) {
        const Result<InstantMs> before = arguments.stretch.instant(*arguments.stretch.to);
        if (!before) return session.complain(before.error(), kExitUsage);
        request["died_before"] = format_instant(*before);
    }
    const ServerAnswer answer = session.ask("POST", session.path("queues", arguments.queue, ":discard"), request);
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const std::int64_t dead = answer.number("dead");
        const boost::json::value* in_flight = answer.members.if_contains("discard");
        if (in_flight == nullptr || !in_flight->is_object()) {
            std::printf("the queue has no dead letters\n");
            return;
        }
        const std::int64_t before = number_of(in_flight->get_object(), "died_before_ms");
        std::printf("discarding those from before %s, of %lld dead letter%s; this cannot be undone\n",
                    format_local(before).c_str(), static_cast<long long>(dead), dead == 1 ? "" : "s");
    });
}

}  // namespace

void add_queue_discard(CLI::App& queue, Session& session) {
    Verb<DiscardArguments> verb(queue, session, "discard", "End dead letters of a queue for good",
                                "duewheel queue discard mail --died-before=-7d", discard);
    DiscardArguments& options = *verb.options;
    verb.app->add_option("QUEUE", options.queue, "The queue's name")->required();
    verb.app
        ->add_option(
            "--died-before", options.stretch.to,
            "Only those that became dead letters before this time: 2027-01-01T06:00, or =-10m (ago); default: all")
        ->type_name("TIME");
    verb.app
        ->add_option("--zone,--tz", options.stretch.zone, "Time zone of --died-before; default: this machine's zone")
        ->type_name("ZONE");
}

}  // namespace duewheel
