#include "ingress/namespace_request.h"

#include <optional>
#include <utility>

#include "ingress/json_request.h"
#include "ingress/name_page.h"
#include "ingress/request_members.h"

namespace duewheel {
namespace {

constexpr std::string_view kNamespaceMembers[] = {"limits", "weight"};

// A number that is at least 1 if it is given; the engine checks its maximum.
Status read_number(const JsonRequest& from, std::string_view member, std::string field, std::uint64_t& into) {
    std::optional<std::int64_t> given;
    reset_if_removed(from, member, into);
    if (Status read = take(from.integer(member), given); !read) return read;
    if (!given) return {};
    if (*given < 1) {
        return Error{"out_of_range", "`" + field + "` must be at least 1: omit it for no limit", field};
    }
    into = static_cast<std::uint64_t>(*given);
    return {};
}

Status read_limit(const JsonRequest& limits, std::string_view member, std::uint64_t& into) {
    return read_number(limits, member, "limits." + std::string(member), into);
}

// Reads into settings that contain the values that a patch keeps.
Status read_members(const JsonRequest& json, NamespaceSettings& settings) {
    if (Status weighs = read_number(json, "weight", "weight", settings.weight); !weighs) return weighs;
    const std::pair<std::string_view, std::uint64_t*> members[] = {{"pending", &settings.pending_max},
                                                                   {"queues", &settings.queues_max},
                                                                   {"schedules", &settings.schedules_max},
                                                                   {"watchdogs", &settings.watchdogs_max},
                                                                   {"put_rate", &settings.put_rate}};
    for (const auto& [name, into] : members) reset_if_removed(json, "limits", *into);
    const Result<std::optional<JsonRequest>> limits = json.object("limits");
    if (!limits) return limits.error();
    if (!*limits) return {};
    Status read = (*limits)->only({"pending", "queues", "schedules", "watchdogs", "put_rate"});
    for (const auto& [name, into] : members) {
        if (read) read = read_limit(**limits, name, *into);
    }
    return read;
}

Result<Command> read_settings(const HttpRequest& request, std::string name_space) {
    const Result<JsonRequest> json = read_members(request, kNamespaceMembers);
    if (!json) return json.error();
    ConfigureNamespaceCommand configure{std::move(name_space), false, {}};
    if (Status read = read_members(*json, configure.settings); !read) return std::move(read).error();
    return Command(std::move(configure));
}

Result<Command> read_settings_patch(const HttpRequest& request, std::string name_space) {
    const Result<std::shared_ptr<const MergePatch>> patch = read_patch(request, kNamespaceMembers);
    if (!patch) return patch.error();
    const auto change = [patch = *patch](NamespaceSettings& settings) { return read_members(patch->json, settings); };
    return Command(PatchNamespaceCommand{std::move(name_space), change, request.body.size()});
}

}  // namespace

Result<Command> read_namespace_call(const HttpRequest& request, std::string name_space) {
    if (request.method == "PUT") return read_settings(request, std::move(name_space));
    if (request.method == "PATCH") return read_settings_patch(request, std::move(name_space));
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    if (request.method == "DELETE") return Command(ConfigureNamespaceCommand{std::move(name_space), true, {}});
    return Command(DescribeNamespaceCommand{std::move(name_space)});
}

Result<Command> read_namespace_list(const HttpRequest& request) {
    return read_name_list<ListNamespacesCommand>(request, NameList::namespaces, "the list of namespaces");
}

}  // namespace duewheel
