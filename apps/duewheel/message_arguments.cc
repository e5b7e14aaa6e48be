#include "message_arguments.h"

#include "pages.h"

namespace duewheel {

void MessageArguments::add_to(CLI::App& verb) {
    CLI::Option* by_id = verb.add_option("ID", id, "The id that `put` printed");
    CLI::Option* of_queue = verb.add_option("--queue", queue, "The queue of the message, with --key instead of the id");
    CLI::Option* by_key = verb.add_option("--key", key, "The key that it was put with");
    of_queue->needs(by_key)->excludes(by_id);
    by_key->needs(of_queue)->excludes(by_id);
}

Result<std::string> MessageArguments::path(const Session& session) const {
    if (!id.empty()) return session.path("messages", id);
    if (key.empty()) {
        return Error{"missing_argument", "Name the message: give its ID, or --queue and --key.", "ID"};
    }
    std::string path = session.path("messages");
    add_parameter(path, "queue", queue);
    add_parameter(path, "key", key);
    return path;
}

}  // namespace duewheel
