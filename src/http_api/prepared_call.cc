#include "http_api/prepared_call.h"

#include "http_api/request_command.h"

namespace duewheel {
namespace {

bool is_prepared(CallPath::What what) {
    using Call = CallPath::What;
    return what == Call::put || what == Call::lease || what == Call::ack || what == Call::fail ||
           what == Call::extend || what == Call::release;
}

}  // namespace

std::unique_ptr<PreparedCall> prepare_call(const HttpRequest& request, const HttpApiOptions& options) {
    const std::optional<CallPath> call = call_of(request.route);
    if (!call || request.method != "POST" || request.is_head_only) return nullptr;
    auto prepared = std::make_unique<PreparedCall>();
    if (is_batch(call->what)) {
        prepared->batch = read_batch(request, *call, options);
    } else if (is_prepared(call->what)) {
        prepared->command = read_command(request, *call, options, false);
    } else {
        return nullptr;
    }
    return prepared;
}

}  // namespace duewheel
