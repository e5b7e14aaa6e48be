// duewheel health: whether a server responds, for health checks of containers and scripts.
#include <cstdio>

#include "arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct HealthArguments {};

int health(Session& session, const HealthArguments&) {
    if (const int exit_code = session.check_health(); exit_code != kExitDone) return exit_code;
    std::printf("%s\n", session.json ? R"({"healthy":true})" : "healthy");
    return kExitDone;
}

}  // namespace

void add_health(CLI::App& program, Session& session) {
    Verb<HealthArguments>(program, session, "health", "Check that the server responds within 5 seconds; exits 3 if not",
                          "duewheel health", health);
}

}  // namespace duewheel
