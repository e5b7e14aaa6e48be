// The verbs of `duewheel queue`. One file per verb, as for those in verbs.h.
#pragma once

namespace CLI {
class App;
}

namespace duewheel {

class Session;

void add_queue_discard(CLI::App& queue, Session& session);
void add_queue_redrive(CLI::App& queue, Session& session);

}  // namespace duewheel
