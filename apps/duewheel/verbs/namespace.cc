// duewheel namespace: the quotas of namespaces and their use.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "field_options.h"
#include "resource/namespace_settings.h"
#include "resource_verbs.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

constexpr ResourceKind kNamespace = {"namespaces", "NAME", "The namespace", false};
constexpr const char* kCounts[] = {"pending", "queues", "schedules", "watchdogs"};

struct SetNamespaceArguments {
    std::string name;
    SetOptions settings;
};

// The counts, and the settings with the names that --unset takes.
int show_namespace(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        Rows rows = {{"namespace", printable(answer.word("namespace"))}};
        for (const char* member : kCounts) rows.push_back({member, count_of(answer.members, member)});
        if (const json::object* settings = object_of(answer.members, "settings")) add_settings(rows, *settings);
        std::printf("%s", fields(rows).c_str());
    });
}

int set_namespace(Session& session, const SetNamespaceArguments& arguments) {
    json::object request;
    arguments.settings.put_into(request);
    return show_namespace(session,
                          session.ask(arguments.settings.method(), kNamespace.path(session, arguments.name), request));
}

// "7 of 100", or "7" without a limit.
std::vector<std::string> row_of_namespace(const json::object& space) {
    const json::object* settings = object_of(space, "settings");
    const json::object* limits = settings != nullptr ? object_of(*settings, "limits") : nullptr;
    std::vector<std::string> row = {printable(word_of(space, "namespace"))};
    for (const char* member : kCounts) {
        const std::int64_t most = limits != nullptr ? number_of(*limits, member) : 0;
        row.push_back(count_of(space, member) + (most == 0 ? "" : " of " + std::to_string(most)));
    }
    const std::int64_t rate = limits != nullptr ? number_of(*limits, "put_rate") : 0;
    row.push_back(rate == 0 ? "-" : std::to_string(rate) + " a second");
    row.push_back(std::to_string(std::max<std::int64_t>(settings != nullptr ? number_of(*settings, "weight") : 0, 1)));
    return row;
}

}  // namespace

void add_namespace(CLI::App& program, Session& session) {
    CLI::App& space = add_group(program, "namespace", "Quotas of namespaces",
                                "duewheel namespace set team --pending 1000000 --put-rate 500\n"
                                "  duewheel namespace list");
    const ResourceVerbs verbs(space, session, kNamespace);
    Verb<SetNamespaceArguments> setting(
        space, session, "set", "Change limits and weight of a namespace; the other settings stay unchanged",
        "duewheel namespace set team --pending 1000000 --queues 100 --put-rate 500 --weight 2", set_namespace);
    setting.app->add_option("NAME", setting.options->name, kNamespace.help)->required();
    setting.options->settings.add_to(*setting.app, fields_of<NamespaceSettings>().rows());
    verbs.add_list("List namespaces by name; with --json one per line",
                   {.heading = {"namespace", "pending", "queues", "schedules", "watchdogs", "puts", "weight"},
                    .none = "no namespaces"},
                   row_of_namespace);
    verbs.add("show", "Show a namespace: its use and its limits",
              "duewheel namespace set team --queues 100\n  duewheel namespace show team", "GET", "", show_namespace);
    verbs.add_rm("Remove the settings of a namespace; its content stays", "duewheel namespace rm team",
                 "settings removed; its content stays and has no limits", "it had no settings");
}

}  // namespace duewheel
