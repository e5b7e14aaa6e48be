// Every verb of the command line: each adds itself, its options and its help to the program, and sets Session::verb
// when it is called. The verbs of messages and those of leases share a file each; every other verb has its own.
#pragma once

namespace CLI {
class App;
}

namespace duewheel {

class Session;

void add_put(CLI::App& program, Session& session);
void add_prepare(CLI::App& program, Session& session);
void add_commit(CLI::App& program, Session& session);
void add_rollback(CLI::App& program, Session& session);
void add_get(CLI::App& program, Session& session);
void add_cancel(CLI::App& program, Session& session);
void add_move(CLI::App& program, Session& session);
void add_fire(CLI::App& program, Session& session);
void add_list(CLI::App& program, Session& session);
void add_forecast(CLI::App& program, Session& session);
void add_history(CLI::App& program, Session& session);
void add_lease(CLI::App& program, Session& session);
void add_ack(CLI::App& program, Session& session);
void add_fail(CLI::App& program, Session& session);
void add_extend(CLI::App& program, Session& session);
void add_release(CLI::App& program, Session& session);
void add_hold(CLI::App& program, Session& session);
void add_kick(CLI::App& program, Session& session);
void add_discard(CLI::App& program, Session& session);
void add_queue(CLI::App& program, Session& session);
void add_schedule(CLI::App& program, Session& session);
void add_watchdog(CLI::App& program, Session& session);
void add_token(CLI::App& program, Session& session);
void add_namespace(CLI::App& program, Session& session);
void add_clock(CLI::App& program, Session& session);
void add_stats(CLI::App& program, Session& session);
void add_health(CLI::App& program, Session& session);
void add_top(CLI::App& program, Session& session);
void add_bench(CLI::App& program, Session& session);
void add_check(CLI::App& program, Session& session);
void add_audit(CLI::App& program, Session& session);
void add_kafka(CLI::App& program, Session& session);
void add_backup(CLI::App& program, Session& session);
void add_restore(CLI::App& program, Session& session);
void add_export(CLI::App& program, Session& session);
void add_import(CLI::App& program, Session& session);
void add_completion(CLI::App& program, Session& session);

}  // namespace duewheel
