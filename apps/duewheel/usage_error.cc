#include "usage_error.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "message/foreign_names.h"
#include "plain_text.h"
#include "shared/nearest_name.h"

namespace duewheel {
namespace {

struct Translation {
    std::string_view foreign;
    std::string_view ours;
};

// A secret on the command line is a mistake, and must not be shown again: an error may end up in a log.
std::string without_secrets(std::string text) {
    constexpr std::string_view kTokenPrefix = "dw_";
    const auto is_of_token = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    };
    for (std::size_t at = 0; (at = text.find(kTokenPrefix, at)) != std::string::npos;) {
        at += kTokenPrefix.size();
        const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_of_token);
        text.replace(text.begin() + static_cast<std::ptrdiff_t>(at), end, "***");
    }
    return text;
}

// Whether the option is a misspelt one whose value is a secret: `--token`, or the like.
bool is_like_token_option(std::string_view word) {
    return word.starts_with("--tok") && word.find('=') == std::string_view::npos;
}

// Names of our verbs in other command lines. Each word has a row for each verb that it may mean; the first that is
// valid at its position is suggested: `add` means `put` alone and `set` after `schedule`.
constexpr Translation kVerbs[] = {
    {"add", "put"},        {"add", "set"},          {"clear", "purge"},  {"complete", "ack"},  {"consume", "lease"},
    {"create", "set"},     {"create", "put"},       {"delete", "rm"},    {"delete", "cancel"}, {"describe", "get"},
    {"describe", "show"},  {"done", "ack"},         {"empty", "purge"},  {"enqueue", "put"},   {"get", "show"},
    {"heartbeat", "feed"}, {"heartbeat", "extend"}, {"info", "stats"},   {"inspect", "get"},   {"ls", "list"},
    {"nack", "fail"},      {"new", "set"},          {"next", "preview"}, {"peek", "list"},     {"ping", "feed"},
    {"pop", "lease"},      {"publish", "put"},      {"push", "put"},     {"receive", "lease"}, {"reject", "fail"},
    {"remove", "rm"},      {"remove", "cancel"},    {"renew", "extend"}, {"reserve", "lease"}, {"rm", "cancel"},
    {"run", "fire"},       {"send", "put"},         {"show", "get"},     {"status", "stats"},  {"touch", "extend"},
    {"trigger", "fire"},   {"unpause", "resume"},   {"update", "set"},
};

// Options of other command lines. Those that are members of requests too have their rows in message/foreign_names.
constexpr Translation kOptions[] = {{"--host", "--server"}, {"--port", "--server"}, {"--url", "--server"}};

std::optional<std::string_view> translate(std::string_view word, std::span<const Translation> table,
                                          const std::vector<std::string_view>& known) {
    for (const Translation& each : table) {
        if (each.foreign == word && std::find(known.begin(), known.end(), each.ours) != known.end()) return each.ours;
    }
    return nearest_name(word, known);
}

// "--retry-attempts" as the member that it sets is written: "retry_attempts".
std::string as_member(std::string_view option) {
    std::string name(option.substr(std::min(option.find_first_not_of('-'), option.size())));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

// The end of an error about an unknown word.
std::string hint(std::optional<std::string_view> meant, std::string_view note = {}) {
    return meant ? "; " + did_you_mean(meant, note) : ".";
}

std::string option_hint(std::string_view option, const std::vector<std::string_view>& known) {
    std::vector<std::string> members;
    for (const std::string_view each : known) members.push_back(as_member(each));
    const std::vector<std::string_view> names(members.begin(), members.end());
    const std::optional<NameMeant> meant = name_meant_by(as_member(option), names);
    const auto at = meant ? std::find(names.begin(), names.end(), meant->name) : names.end();
    if (at == names.end()) return hint(translate(option, kOptions, known));
    return hint(known[static_cast<std::size_t>(at - names.begin())], meant->note);
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

// The program, then the given verbs.
std::vector<const CLI::App*> named_verbs(const CLI::App& program) {
    std::vector<const CLI::App*> apps = {&program};
    while (!apps.back()->get_subcommands().empty()) apps.push_back(apps.back()->get_subcommands().front());
    return apps;
}

std::string command_of(const std::vector<const CLI::App*>& apps) {
    std::string command;
    for (const CLI::App* app : apps) command += (command.empty() ? "" : " ") + app->get_name();
    return command;
}

// The first word that is not a verb where a verb is required: `que` in `que list`, `shwo` in `clock shwo`.
std::optional<UsageError> find_unknown_verb(const CLI::App& program, const std::vector<std::string>& words) {
    std::vector<const CLI::App*> verbs = verbs_of(program);
    std::string named_so_far = program.get_name();
    for (std::size_t i = 0; i < words.size() && !verbs.empty(); ++i) {
        const bool takes_the_next =
            words[i] == "--server" || words[i] == "--namespace" || is_like_token_option(words[i]);
        if (takes_the_next) ++i;
        if (takes_the_next || words[i].empty() || words[i].starts_with('-')) continue;
        const std::string& word = words[i];
        const auto named = [&](const CLI::App* verb) { return verb->get_name() == word; };
        if (const auto found = std::find_if(verbs.begin(), verbs.end(), named); found != verbs.end()) {
            verbs = verbs_of(**found);
            named_so_far += " " + word;
            continue;
        }
        std::vector<std::string> names;
        for (const CLI::App* verb : verbs) names.push_back(verb->get_name());
        const std::vector<std::string_view> known(names.begin(), names.end());
        return UsageError{"Unknown command: " + printable(word) + hint(translate(word, kVerbs, known)),
                          named_so_far + " --help"};
    }
    return std::nullopt;
}

// "duewheel schedule set NAME QUEUE BODY" if `option` is one of these; otherwise empty.
std::string usage_with_argument(const std::vector<const CLI::App*>& apps, std::string_view option) {
    bool has_it = false;
    std::string usage = command_of(apps);
    for (const CLI::Option* argument : apps.back()->get_options()) {
        if (!argument->get_positional()) continue;
        const std::string name = argument->get_name(true);
        usage += " " + name;
        has_it = has_it || CLI::detail::to_lower(name) == option;
    }
    return has_it ? usage : "";
}

std::string unknown_option(const CLI::App& program, const std::string& written) {
    const std::string option = written.substr(0, written.find('='));
    const std::vector<const CLI::App*> apps = named_verbs(program);
    const std::string what = "Unknown option: " + printable(option);
    const std::string_view bare = std::string_view(option).substr(option.find_first_not_of('-'));
    if (const std::string usage = usage_with_argument(apps, bare); !usage.empty()) {
        return what + ". It is a positional argument: " + usage;
    }
    std::vector<std::string> names;
    for (const CLI::App* app : apps) {
        for (const CLI::Option* known : app->get_options()) {
            for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
        }
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    return what + option_hint(option, known);
}

// The parser reports missing arguments before unknown ones; but for a user who wrote `--jsno` or `pt`, the unknown word
// is the helpful error.
std::string what_is_wrong(const CLI::App& program, const CLI::Error& error) {
    const std::vector<std::string> left_over = program.remaining(true);
    const auto is_option = [](const std::string& argument) {
        return argument.starts_with('-') && argument.find_first_not_of('-') != std::string::npos;
    };
    const auto option = std::find_if(left_over.begin(), left_over.end(), is_option);
    if (option != left_over.end()) return unknown_option(program, *option);
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ConversionError)) {
        return printable(error.what()) + ": expected an integer within range.";
    }
    if (!program.get_subcommands().empty()) return printable(error.what());
    return "No command given, such as put, get, cancel or lease; `duewheel --help` lists all.";
}

}  // namespace

UsageError explain_usage_error(const CLI::App& program, const CLI::Error& error,
                               const std::vector<std::string>& words) {
    std::optional<UsageError> found = find_unknown_verb(program, words);
    if (!found) found = UsageError{what_is_wrong(program, error), command_of(named_verbs(program)) + " --help"};
    found->what = without_secrets(std::move(found->what));
    return *std::move(found);
}

}  // namespace duewheel
