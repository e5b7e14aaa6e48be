// The daemon: parses its configuration, builds the parts, runs them.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "base/version.h"
#include "beanstalkd_flags.h"
#include "command_line.h"
#include "configuration/setting_text.h"
#include "server/node/standby.h"
#include "server/process/ignored_signals.h"
#include "server/process/last_resort.h"
#include "server/process/server_log.h"
#include "server/process/supervisor.h"
#include "server/server.h"

namespace {

using namespace duewheel;

// Makes the C library return large blocks to the system when they are freed: tables that grow and shrink with the load,
// and temporary memory of sealing. By default it adapts its threshold at the first such block and keeps later ones: 1
// million pending messages then take 140 MB instead of 70.
void return_large_blocks() {
    constexpr int kLargeBytes = 256 << 10;
    mallopt(M_MMAP_THRESHOLD, kLargeBytes);
    mallopt(M_TRIM_THRESHOLD, kLargeBytes);
    mallopt(M_ARENA_MAX, 2);
}

// The memory holds secrets, so it is never written to a core file, and other processes of the same user cannot read it.
// Only root can attach a debugger.
void protect_memory() {
    const rlimit none{0, 0};
    static_cast<void>(::setrlimit(RLIMIT_CORE, &none));
    static_cast<void>(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
}

// No file of the server is for other users: neither those of the index nor a socket.
void keep_files_private() {
    static_cast<void>(::umask(::umask(0) | S_IRWXO | S_IWGRP));
}

void log_start(LogSink& log, const CommandLine& command_line, const ServerOptions& options) {
    log.info("starting", "The server is starting.",
             {{"version", kVersion}, {"data", options.data_directory}, {"config", command_line.configuration_file}});
    for (const Setting& setting : settings()) {
        if (command_line.configuration.is_default(setting)) continue;
        const Configuration::InForce& in_force = command_line.configuration.of(setting);
        log.info("setting", "A setting differs from its default.",
                 {{"setting", setting.name},
                  {"value", format_setting(setting, in_force.value)},
                  {"origin", in_force.origin}});
    }
    for (const std::string& warning : command_line.configuration.warnings()) log.warning("unknown_variable", warning);
}

}  // namespace

int main(int argc, char** argv) {
    return_large_blocks();
    protect_memory();
    ignore_harmless_signals();
    keep_files_private();
    std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    std::optional<TemporaryStore> temporary;
    if (is_named_beanstalkd(argv[0])) {
        BeanstalkdFlags flags = read_beanstalkd_flags(argc, argv);
        if (flags.exit_code) return *flags.exit_code;
        arguments = std::move(flags.arguments);
        if (flags.is_temporary) arguments.push_back("--data=" + temporary.emplace().path());
    }
    const CommandLine command_line = read_command_line(arguments);
    if (command_line.exit_code) return *command_line.exit_code;
    const ServerOptions options = command_line.configuration.options();

    ServerLog log(options.log);
    end_with_one_line(log);
    log_start(log, command_line, options);
    const char* socket = std::getenv("NOTIFY_SOCKET");
    const Supervisor supervisor(socket != nullptr ? socket : "");
    const auto tell_supervisor = [&](std::string_view state) {
        if (const Status sent = supervisor.tell(state); !sent)
            log.warning("service_manager_unreachable", sent.error().message);
    };
    const auto refuse = [&](const Error& error) {
        const std::string place = place_of(command_line.configuration, error);
        if (place.empty()) {
            log.error("cannot_start", error.message, {{"code", name_of(error.code)}});
        } else {
            log.error("cannot_start", error.message, {{"code", name_of(error.code)}, {"place", place}});
        }
        return exit_code_of(error);
    };
    const auto alive = [&] { tell_supervisor("WATCHDOG=1"); };
    const auto alive_interval =
        watchdog_interval(std::getenv("WATCHDOG_USEC"), std::getenv("WATCHDOG_PID"), ::getpid());
    std::optional<Takeover> takeover;
    std::optional<KeepAlive> opening;  // the service manager watches a standby node, also while it opens the log
    if (options.kafka.log.replicate) {
        Result<std::optional<Takeover>> stood =
            stand_by(options, log,
                     {.listening =
                          [&](const std::string& address) {
                              std::printf("standby http=%s\n", address.c_str());
                              std::fflush(stdout);
                              tell_supervisor("READY=1\nSTATUS=Follows the log of another node.");
                          },
                      .alive = alive,
                      .alive_interval = alive_interval});
        if (!stood) return refuse(stood.error());
        if (!*stood) return EXIT_SUCCESS;
        takeover = *std::move(stood);
        opening.emplace(alive, alive_interval);
    }
    tell_supervisor("STATUS=Opens the data directory.");
    Result<std::unique_ptr<Server>> server = Server::open(options, log, std::move(takeover));
    opening.reset();
    if (!server) return refuse(server.error());
    (*server)->run({
        .ready =
            [&] {
                const std::string beanstalk = (*server)->beanstalk_address();
                std::printf("ready http=%s%s%s\n", (*server)->http_address().c_str(),
                            beanstalk.empty() ? "" : " beanstalk=", beanstalk.c_str());
                std::fflush(stdout);
                tell_supervisor("READY=1\nSTATUS=Accepts requests at " + (*server)->http_address() + ".");
            },
        .stopping = [&] { tell_supervisor("STOPPING=1\nSTATUS=Answers the requests that it has received."); },
        .alive = alive,
        .alive_interval = alive_interval,
    });
    return EXIT_SUCCESS;
}
