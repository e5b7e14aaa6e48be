// duewheel namespace: the quotas of namespaces and their use. Each verb is one call.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "arguments.h"
#include "net/http_target.h"
#include "pages.h"
#include "plain_text.h"
#include "settings_arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

// What can be limited: the name in requests and responses, and the name for users.
struct Limit {
    const char* member;
    const char* option;
    const char* help;
};
constexpr Limit kLimits[] = {
    {"pending", "--pending", "Maximum number of unfinished messages in all of its queues"},
    {"queues", "--queues", "Maximum number of queues"},
    {"schedules", "--schedules", "Maximum number of schedules"},
    {"watchdogs", "--watchdogs", "Maximum number of watchdogs"},
    {"put_rate", "--put-rate", "Maximum number of puts per second, with a burst of one second"},
};
struct SetArguments {
    std::string name;
    std::optional<std::uint64_t> limits[std::size(kLimits)];
    std::optional<std::uint64_t> weight;
    SettingsArguments settings;
};

// "7 of 100", "7", or for a rate "100 a second"; "-" if there is neither a count nor a limit.
std::string use_of(const json::object& space, std::string_view member) {
    const json::object* settings = object_of(space, "settings");
    const json::object* limits = settings != nullptr ? object_of(*settings, "limits") : nullptr;
    const std::int64_t most = limits != nullptr ? number_of(*limits, member) : 0;
    if (member == "put_rate") return most == 0 ? "-" : std::to_string(most) + " a second";
    const std::string used = std::to_string(number_of(space, member));
    return most == 0 ? used : used + " of " + std::to_string(most);
}

std::string weight_of(const json::object& space) {
    const json::object* settings = object_of(space, "settings");
    const std::int64_t weight = settings != nullptr ? number_of(*settings, "weight") : 0;
    return std::to_string(std::max<std::int64_t>(weight, 1));
}

int show_namespace(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        Rows rows = {{"namespace", printable(word_of(answer.members, "namespace"))}};
        for (const Limit& limit : kLimits) {
            const bool is_rate = std::string_view(limit.member) == "put_rate";
            rows.push_back({is_rate ? "puts" : limit.member, use_of(answer.members, limit.member)});
        }
        rows.push_back({"weight", weight_of(answer.members)});
        std::printf("%s", fields(rows).c_str());
    });
}

std::string path_of(const std::string& name) {
    return "/v1/namespaces/" + percent_encode(name);
}

int set(Session& session, const SetArguments& arguments) {
    json::object limits;
    for (std::size_t i = 0; i < std::size(kLimits); ++i) {
        if (arguments.limits[i]) limits[kLimits[i].member] = *arguments.limits[i];
    }
    json::object request;
    if (!limits.empty()) request["limits"] = std::move(limits);
    if (arguments.weight) request["weight"] = *arguments.weight;
    arguments.settings.put_into(request);
    return show_namespace(session, session.ask(arguments.settings.method(), path_of(arguments.name), request));
}

int show(Session& session, const NameArguments& arguments) {
    return show_namespace(session, session.ask("GET", path_of(arguments.name)));
}

int remove(Session& session, const NameArguments& arguments) {
    const ServerAnswer answer = session.ask("DELETE", path_of(arguments.name));
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const bool had_some = is_true(answer.members, "removed");
        std::printf(had_some ? "settings removed; its content stays and has no limits\n" : "it had no settings\n");
    });
}

int list(Session& session, const LimitArguments& arguments) {
    const Listing listing = {.path = "/v1/namespaces",
                             .member = "namespaces",
                             .limit = arguments.limit,
                             .heading = {"namespace", "pending", "queues", "schedules", "watchdogs", "puts", "weight"},
                             .none = "no namespaces"};
    return show_list(session, listing, [&](const json::object& space) {
        std::vector<std::string> row = {printable(word_of(space, "namespace"))};
        for (const Limit& limit : kLimits) row.push_back(use_of(space, limit.member));
        row.push_back(weight_of(space));
        return row;
    });
}

}  // namespace

void add_namespace(CLI::App& program, Session& session) {
    CLI::App& space = add_group(program, "namespace", "Quotas of namespaces",
                                "duewheel namespace set team --pending 1000000 --put-rate 500\n"
                                "  duewheel namespace list");
    const NamedVerbs verbs(space, session, "NAME", "The namespace");
    Verb<SetArguments> setting(
        space, session, "set", "Change limits and weight of a namespace; the other settings stay unchanged",
        "duewheel namespace set team --pending 1000000 --queues 100 --put-rate 500 --weight 2", set);
    setting.app->add_option("NAME", setting.options->name, "The namespace")->required();
    for (std::size_t i = 0; i < std::size(kLimits); ++i) {
        setting.app->add_option(kLimits[i].option, setting.options->limits[i], kLimits[i].help)->type_name("NUMBER");
    }
    setting.app
        ->add_option("--weight", setting.options->weight,
                     "Share of the server relative to a namespace of weight 1, while both have requests waiting")
        ->type_name("NUMBER");
    setting.options->settings.add_to(*setting.app);
    add_listing(space, session, "List namespaces by name; with --json one per line",
                "duewheel namespace list --limit 1000", list);
    verbs.add("show", "Show a namespace: its use and its limits",
              "duewheel namespace set team --queues 100\n  duewheel namespace show team", show);
    verbs.add("rm", "Remove the settings of a namespace; its content stays", "duewheel namespace rm team", remove);
}

}  // namespace duewheel
