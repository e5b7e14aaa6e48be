// duewheel queue VERB: what concerns a whole queue.
#include <CLI/CLI.hpp>

#include "queue_verbs.h"
#include "verbs.h"

namespace duewheel {

void add_queue(CLI::App& program, Session& session) {
    CLI::App* queue = program.add_subcommand("queue", "What concerns a whole queue: redrive");
    queue->fallthrough();
    queue->require_subcommand(1);
    add_queue_redrive(*queue, session);
}

}  // namespace duewheel
