// duewheel queue redrive: returns the dead letters of a queue to it. The server redrives up to a maximum per call; this
// repeats the call until none is left.
#include <cstdint>
#include <cstdio>
#include <optional>

#include "arguments.h"
#include "plain_json.h"
#include "queue_verbs.h"

namespace duewheel {
namespace {

struct RedriveArguments {
    std::string queue;
    std::optional<std::uint64_t> max;
};

constexpr std::chrono::minutes kPatience{10};

int redrive(Session& session, const RedriveArguments& arguments) {
    boost::json::object request;
    if (arguments.max) request["max"] = *arguments.max;
    std::int64_t redriven = 0;
    for (;;) {
        const ServerAnswer answer =
            session.ask("POST", session.path("queues", arguments.queue, ":redrive"), request, kPatience);
        if (!answer) return answer.exit_code;
        redriven += answer.number("redriven");
        const bool has_more = is_true(answer.members, "more");
        if (has_more && !arguments.max && answer.number("redriven") > 0) continue;
        ServerAnswer sum = answer;
        sum.members["redriven"] = redriven;
        sum.text = plain_json(sum.members);
        return session.show(sum, [&] {
            std::printf("%lld returned to the queue%s\n", static_cast<long long>(redriven),
                        has_more ? "; there are more" : "");
        });
    }
}

}  // namespace

void add_queue_redrive(CLI::App& queue, Session& session) {
    Verb<RedriveArguments> verb(queue, session, "redrive",
                                "Redrive dead letters: return them to their queue, oldest first",
                                "duewheel queue redrive mail --max 100", redrive);
    verb.app->add_option("QUEUE", verb.options->queue, "The queue's name")->required();
    verb.app->add_option("--max", verb.options->max, "Maximum number; default: all");
}

}  // namespace duewheel
