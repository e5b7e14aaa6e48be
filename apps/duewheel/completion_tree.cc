#include "completion_tree.h"

#include <CLI/CLI.hpp>

namespace duewheel {
namespace {

CompletedValue value_of(const std::string& value_name) {
    if (value_name == "DIR" || value_name == "BACKUP") return CompletedValue::directory;
    return value_name == "FILE" ? CompletedValue::file : CompletedValue::other;
}

CompletedOption completed(const CLI::Option& option) {
    CompletedOption result;
    result.description = option.get_description();
    result.repeated = option.get_items_expected_max() > 1;
    for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
    if (result.names.empty()) {
        result.value_name = option.get_name(true);
        result.value = value_of(result.value_name);
    } else if (option.get_items_expected_max() > 0) {
        const std::string type = option.get_type_name();
        result.value_name = type.substr(0, type.find(':'));
        result.value = value_of(result.value_name);
    }
    return result;
}

// `inherited`: global options, which may follow every command.
CompletedCommand completed(const CLI::App& app, const std::vector<std::string>& before,
                           const std::vector<CompletedOption>& inherited) {
    CompletedCommand command;
    command.words = before;
    command.words.push_back(app.get_name());
    command.description = app.get_description();
    std::vector<CompletedOption> handed_down = inherited;
    for (const CLI::Option* option : app.get_options()) {
        const CompletedOption found = completed(*option);
        (found.names.empty() ? command.arguments : command.options).push_back(found);
        const bool about_itself = option == app.get_help_ptr() || option->get_single_name() == "version";
        if (app.get_parent() == nullptr && !about_itself) handed_down.push_back(found);
    }
    command.options.insert(command.options.end(), inherited.begin(), inherited.end());
    for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
        command.commands.push_back(completed(*below, command.words, handed_down));
    }
    return command;
}

}  // namespace

std::string CompletedCommand::joined(const char* separator) const {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
    return text;
}

CompletedCommand completed_commands(const CLI::App& program) {
    return completed(program, {}, {});
}

}  // namespace duewheel
