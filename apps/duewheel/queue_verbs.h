// The verbs behind `duewheel queue`. One file a verb, as of those in verbs.h.
#pragma once

namespace CLI {
class App;
}

namespace duewheel {

class Session;

void add_queue_discard(CLI::App& queue, Session& session);
void add_queue_redrive(CLI::App& queue, Session& session);

}  // namespace duewheel
