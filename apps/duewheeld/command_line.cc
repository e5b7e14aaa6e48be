#include "command_line.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <utility>

#include <CLI/CLI.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "base/version.h"
#include "configuration/configuration_text.h"
#include "server/limits/options_check.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr int kExitRefused = 1;
constexpr int kExitUsage = 2;
constexpr int kExitData = 65;  // sysexits.h: the data is wrong
constexpr std::string_view kFileVariable = "DUEWHEEL_CONFIG";

std::vector<std::pair<std::string, std::string>> environment() {
    std::vector<std::pair<std::string, std::string>> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const std::size_t equals = text.find('=');
        if (equals != std::string_view::npos) variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return variables;
}

std::string_view type_in_help(SettingKind kind) {
    switch (kind) {
        case SettingKind::number:
        case SettingKind::decimal:
            return "NUMBER";
        case SettingKind::duration:
            return "DURATION";
        case SettingKind::size:
            return "SIZE";
        case SettingKind::texts:
            return "TEXT,TEXT";
        default:
            return "TEXT";
    }
}

struct Flags {
    std::string file;
    bool print = false;
    std::vector<std::string> values;  // in the order of settings()
};

void declare(CLI::App& app, Flags& flags) {
    flags.values.resize(settings().size());
    app.add_option("--config", flags.file, "Configuration file. Also DUEWHEEL_CONFIG in the environment")
        ->type_name("FILE");
    app.add_flag("--print-config", flags.print, "Print the settings in force and the origin of each, then exit");
    app.set_version_flag("--version", kFullVersion);
    for (std::size_t i = 0; i < settings().size(); ++i) {
        const Setting& setting = settings()[i];
        const bool bare = setting.kind == SettingKind::yes_or_no;
        CLI::Option* option = bare ? app.add_flag(setting.flag(), flags.values[i], help_of(setting))
                                   : app.add_option(setting.flag(), flags.values[i], help_of(setting));
        if (!bare) option->type_name(std::string(type_in_help(setting.kind)));
        option->group(setting.section().empty() ? "Settings" : "Settings: " + std::string(setting.section()));
    }
    app.footer(
        "Each setting can also be given in the environment (DUEWHEEL_HTTP_IDLE_TIMEOUT for --http-idle-timeout) or in\n"
        "the configuration file (idle_timeout in the section [http]). A flag overrides the environment, and the\n"
        "environment overrides the file.\n"
        "Exit codes: 0 stopped, 1 cannot start now, 2 wrong configuration, 65 unusable data directory, 74 fatal error, "
        "75 replaced by another node.\n"
        "Example:\n  duewheeld --data ./duewheel-data --http 127.0.0.1:7420");
    app.allow_extras();
}

// Catches the exceptions of the parser.
std::optional<int> parse(CLI::App& app, const std::vector<std::string>& arguments) {
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // it takes them from the end
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
        std::fprintf(stderr, "duewheeld: %s\n", error.what());
        return kExitUsage;
    }
    for (const std::string& left : app.remaining()) {
        const std::string name = left.substr(0, left.find('='));
        const bool flag = name.starts_with("-");
        const std::string hint = see_help(flag ? nearest_flag(name) : std::nullopt);
        std::fprintf(stderr, "duewheeld: %s `%s`%s.\n", flag ? "unknown flag" : "unexpected argument", name.c_str(),
                     hint.c_str());
        return kExitUsage;
    }
    return std::nullopt;
}

// False, with a message on standard error, when the file cannot be read, or when other users can change it: they could
// turn access tokens off.
bool read_file(const std::string& path, std::string& into) {
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 && (about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        std::fprintf(stderr, "%s: other users can change the configuration file; run chmod go-w on it, and check it\n",
                     path.c_str());
        return false;
    }
    std::ifstream file(path, std::ios::binary);
    std::array<char, 4096> part;
    while (file.read(part.data(), part.size()) || file.gcount() > 0) {
        into.append(part.data(), static_cast<std::size_t>(file.gcount()));
    }
    if (file.eof()) return true;
    std::fprintf(stderr, "%s: cannot read the configuration file; check its path and permissions\n", path.c_str());
    return false;
}

// Settings that the start would refuse are refused here with the same exit status.
int print_settings(const Configuration& configuration) {
    if (const Status fine = check_options(configuration.options(), wall_now_ms()); !fine) {
        const std::string place = place_of(configuration, fine.error());
        std::fprintf(stderr, "duewheeld: %s%s%s (%s)\n", place.c_str(), place.empty() ? "" : ": ",
                     fine.error().message.c_str(), std::string(name_of(fine.error().code)).c_str());
        return exit_code_of(fine.error());
    }
    std::fputs(settings_in_force(configuration).c_str(), stdout);
    return EXIT_SUCCESS;
}

}  // namespace

int exit_code_of(const Error& refusal) {
    static constexpr ErrorCode kOfSettings[] = {"beanstalk_elsewhere"_code, "unsafe_beanstalk_listen"_code,
                                                "unsafe_listen"_code};
    static constexpr ErrorCode kOfData[] = {
        "damaged_log"_code,    "damaged_mark"_code,         "log_is_replicated"_code,    "newer_format"_code,
        "shards_changed"_code, "not_a_data_directory"_code, "unsafe_data_directory"_code};
    const auto is_one_of = [&refusal](std::span<const ErrorCode> codes) {
        return std::find(codes.begin(), codes.end(), refusal.code) != codes.end();
    };
    if (name_of(refusal.code).starts_with("bad_") || is_one_of(kOfSettings)) return kExitUsage;
    return is_one_of(kOfData) ? kExitData : kExitRefused;
}

std::string place_of(const Configuration& configuration, const Error& refusal) {
    static constexpr std::pair<ErrorCode, std::string_view> kSettings[] = {
        {"bad_address"_code, "http.listen"},
        {"bad_address_block"_code, "webhooks.allowed_networks"},
        {"bad_beanstalk_address"_code, "beanstalk.listen"},
        {"bad_beanstalk_group"_code, "beanstalk.socket_group"},
        {"bad_encryption_key"_code, "webhooks.encryption_key_file"},
        {"bad_host"_code, "http.hosts"},
        {"bad_kafka_client_file"_code, "kafka.client_file"},
        {"bad_old_encryption_key"_code, "webhooks.old_encryption_key_file"},
        {"bad_tls_certificate"_code, "tls.certificate"},
        {"bad_tls_client_ca"_code, "tls.client_ca"},
        {"bad_tls_key"_code, "tls.key"},
        {"bad_trusted_file"_code, "webhooks.trusted_file"},
        {"bad_webhook_secret"_code, "webhooks.secrets"},
        {"beanstalk_elsewhere"_code, "beanstalk.listen"},
        {"unsafe_beanstalk_listen"_code, "beanstalk.listen"},
        {"unsafe_listen"_code, "http.listen"}};
    const bool is_named = refusal.code == "bad_kafka_setting"_code || refusal.code == "bad_shard_setting"_code;
    const auto* found = std::find_if(std::begin(kSettings), std::end(kSettings),
                                     [&](const auto& each) { return each.first == refusal.code; });
    const std::string_view name = is_named ? refusal.field : found != std::end(kSettings) ? found->second : "";
    const Setting* setting = find_setting(name);
    return setting == nullptr || configuration.is_default(*setting) ? "" : configuration.of(*setting).place;
}

CommandLine read_command_line(const std::vector<std::string>& arguments) {
    CommandLine command_line;
    CLI::App app{"duewheeld is a durable server for delayed messages.", "duewheeld"};
    Flags flags;
    declare(app, flags);
    command_line.exit_code = parse(app, arguments);
    if (command_line.exit_code) return command_line;

    Configuration& configuration = command_line.configuration;
    const char* variable = std::getenv(kFileVariable.data());
    command_line.configuration_file = !flags.file.empty() ? flags.file : variable != nullptr ? variable : "";
    if (!command_line.configuration_file.empty()) {
        std::string text;
        if (!read_file(command_line.configuration_file, text)) {
            command_line.exit_code = kExitUsage;
            return command_line;
        }
        configuration.take_file(command_line.configuration_file, text);
    }
    configuration.take_environment(environment());
    for (std::size_t i = 0; i < settings().size(); ++i) {
        const Setting& setting = settings()[i];
        if (app.count(setting.flag()) > 0) configuration.take_flag(setting, flags.values[i]);
    }
    if (configuration.errors().empty()) configuration.check_orders();
    for (const std::string& error : configuration.errors()) std::fprintf(stderr, "%s\n", error.c_str());
    if (!configuration.errors().empty()) {
        command_line.exit_code = kExitUsage;
    } else if (flags.print) {
        command_line.exit_code = print_settings(configuration);
    }
    return command_line;
}

}  // namespace duewheel
