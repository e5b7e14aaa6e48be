#include "http_api/calls/group_call.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/error_codes.h"
#include "http_api/fields/field_reader.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/request_members.h"
#include "http_api/requests/list_request.h"
#include "http_api/requests/query_request.h"

namespace duewheel {
namespace {

using Change = std::function<Status(GroupSettings&, DueMs now)>;

constexpr std::string_view kBackoffMembers[] = {"for", "for_ms"};
constexpr std::string_view kOrders[] = {"backlog", "oldest", "leased", "name"};

const FieldTable& group_settings_table() {
    return fields_of<GroupSettings>();
}

Result<Change> read_settings(const HttpRequest& request) {
    const Result<JsonRequest> json = read_members(request, group_settings_table().members_of({}));
    if (!json) return json.error();
    GroupSettings given;
    if (Status read = read_fields(*json, group_settings_table(), &given); !read) return std::move(read).error();
    return Change([given](GroupSettings& settings, DueMs) {
        const GroupSettings before = std::exchange(settings, given);
        settings.revision = before.revision;
        settings.backoff_until_ms = before.backoff_until_ms;
        return Status();
    });
}

Result<Change> read_settings_patch(const HttpRequest& request) {
    const Result<std::shared_ptr<const MergePatch>> patch = read_patch(request, group_settings_table().members_of({}));
    if (!patch) return patch.error();
    return Change([patch = *patch](GroupSettings& settings, DueMs) {
        return read_fields(patch->json, group_settings_table(), &settings);
    });
}

Result<Change> read_backoff(const HttpRequest& request) {
    const Result<JsonRequest> json = read_members(request, kBackoffMembers);
    if (!json) return json.error();
    const Result<std::optional<std::int64_t>> duration = json->duration_ms("for");
    if (!duration) return duration.error();
    if (!*duration) {
        return Error{"missing_member"_code,
                     "`for` is missing: give how long nothing of the group is delivered, such as \"30s\"; \"0s\" ends "
                     "its backoff",
                     "for"};
    }
    const std::int64_t for_ms = **duration;
    if (for_ms > kGroupBackoffMaxMs) {
        return Error{"out_of_range"_code, "`for` must be at most a day", "for"};
    }
    return Change([for_ms](GroupSettings& settings, DueMs now) {
        settings.backoff_until_ms = for_ms == 0 ? 0 : now + for_ms;
        return Status();
    });
}

Result<Change> read_change(const HttpRequest& request, CallPath::What what) {
    if (what == CallPath::What::back_off_group) return read_backoff(request);
    if (request.method == "PUT") return read_settings(request);
    if (request.method == "PATCH") return read_settings_patch(request);
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    return Change([](GroupSettings& settings, DueMs) {
        settings = GroupSettings{.revision = settings.revision};
        return Status();
    });
}

}  // namespace

Result<Command> read_group_call(const HttpRequest& request, CallPath::What what, std::string name_space,
                                std::string queue, std::string group) {
    if (request.method == "GET" || request.method == "HEAD") {
        if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
        return Command(DescribeGroupCommand{std::move(name_space), std::move(queue), std::move(group)});
    }
    Result<Change> change = read_change(request, what);
    if (!change) return std::move(change).error();
    return Command(ChangeGroupCommand{std::move(name_space), std::move(queue), std::move(group), *std::move(change),
                                      request.body.size()});
}

Result<Command> read_group_list(const HttpRequest& request, std::string name_space, std::string queue) {
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"order", "limit", "after", "limited"});
    if (!query) return query.error();
    ListGroupsCommand list{.name_space = std::move(name_space), .queue = std::move(queue)};
    if (Status read = assign(query->integer("limit", 1, kListLimitMax), list.limit); !read) {
        return std::move(read).error();
    }
    if (const std::optional<std::string_view> order = query->text("order")) {
        const auto* const word = std::find(std::begin(kOrders), std::end(kOrders), *order);
        if (word == std::end(kOrders)) {
            return Error{"bad_parameter"_code, "`order` must be one of backlog, oldest, leased, name", "order"};
        }
        list.order = static_cast<GroupOrder>(word - std::begin(kOrders));
    }
    if (const std::optional<std::string_view> after = query->text("after")) {
        if (list.order != GroupOrder::name) {
            return Error{"bad_parameter"_code, "`after` continues a list by name: give `order=name` too", "after"};
        }
        list.after = *after;
    }
    const Result<bool> limited = query->flag("limited");
    if (!limited) return limited.error();
    list.only_limited = *limited;
    return Command(std::move(list));
}

}  // namespace duewheel
