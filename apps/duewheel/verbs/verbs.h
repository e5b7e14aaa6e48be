// The verbs of the command line, one function for the verbs of each file: it adds them, their options and their help to
// the program. A verb that is called sets Session::verb. A comment names the verbs where the function does not.
#pragma once

namespace CLI {
class App;
}

namespace duewheel {

class Session;

void add_put_verbs(CLI::App& program, Session& session);  // put prepare
// commit rollback get wait cancel move fire hold kick discard
void add_message_verbs(CLI::App& program, Session& session);
void add_list_verbs(CLI::App& program, Session& session);  // list history forecast
void add_lease(CLI::App& program, Session& session);
void add_lease_verbs(CLI::App& program, Session& session);  // ack fail extend release
void add_queue(CLI::App& program, Session& session);
void add_group_verbs(CLI::App& program, Session& session);
void add_schedule(CLI::App& program, Session& session);
void add_watchdog(CLI::App& program, Session& session);
void add_namespace(CLI::App& program, Session& session);
void add_token(CLI::App& program, Session& session);
void add_server_verbs(CLI::App& program, Session& session);  // clock stats health call
void add_top(CLI::App& program, Session& session);
void add_kafka(CLI::App& program, Session& session);
void add_demo(CLI::App& program, Session& session);
void add_bench(CLI::App& program, Session& session);
void add_directory_verbs(CLI::App& program, Session& session);  // check backup restore
void add_audit(CLI::App& program, Session& session);
void add_export(CLI::App& program, Session& session);
void add_import(CLI::App& program, Session& session);
void add_completion(CLI::App& program, Session& session);

}  // namespace duewheel
