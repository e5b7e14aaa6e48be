#include "http_api/requests/namespace_request.h"

#include <optional>
#include <utility>

#include "http_api/answers/name_page.h"
#include "http_api/fields/field_reader.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/request_members.h"

namespace duewheel {
namespace {

const FieldTable& settings_table() {
    return fields_of<NamespaceSettings>();
}

Result<Command> read_settings(const HttpRequest& request, std::string name_space) {
    const Result<JsonRequest> json = read_members(request, settings_table().members_of({}));
    if (!json) return json.error();
    ConfigureNamespaceCommand configure{std::move(name_space), false, {}};
    if (Status read = read_fields(*json, settings_table(), &configure.settings); !read) return std::move(read).error();
    return Command(std::move(configure));
}

Result<Command> read_settings_patch(const HttpRequest& request, std::string name_space) {
    const Result<std::shared_ptr<const MergePatch>> patch = read_patch(request, settings_table().members_of({}));
    if (!patch) return patch.error();
    const auto change = [patch = *patch](NamespaceSettings& settings) {
        return read_fields(patch->json, settings_table(), &settings);
    };
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
