#include "http_api/access/path_names.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "base/error_codes.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/name_rule.h"
#include "net/http/http_target.h"

namespace duewheel {
namespace {

Result<std::string> decode(std::string_view raw) {
    Result<std::string> decoded = percent_decode(raw);
    if (!decoded) return Error{"bad_path"_code, "a percent sign in a path must be followed by two hexadecimal digits"};
    return decoded;
}

Result<std::string> read_name(std::string_view raw, const HttpApiOptions& options, const NameOwner& owner) {
    Result<std::string> name = decode(raw);
    if (!name) return name;
    if (Status fits = check_name(*name, options.queue_name_bytes_max, owner); !fits) return std::move(fits).error();
    return name;
}

}  // namespace

Result<std::string> read_namespace(const CallPath& path, const HttpApiOptions& options) {
    return read_name(path.name_space, options, kNamespaceName);
}

Result<std::string> read_queue(const CallPath& path, const HttpApiOptions& options) {
    return read_name(path.name, options, kQueueName);
}

Result<std::string> read_schedule_name(const CallPath& path, const HttpApiOptions& options) {
    return read_name(path.name, options, kScheduleName);
}

Result<std::string> read_watchdog_name(const CallPath& path, const HttpApiOptions& options) {
    return read_name(path.name, options, kWatchdogName);
}

Result<std::string> read_group(const CallPath& path) {
    Result<std::string> name = decode(path.inner_name);
    if (name && !is_label(*name, kGroupBytesMax)) {
        return Error{"bad_group"_code,
                     "a group has a name of 1 to " + std::to_string(kGroupBytesMax) +
                         " bytes in UTF-8 without control characters; a slash in it is %2F, and a colon %3A",
                     "group"};
    }
    return name;
}

Result<MessageId> read_message_id(const CallPath& path) {
    const Result<std::string> text = decode(path.name);
    if (!text) return text.error();
    return parse_message_id(*text);
}

Result<MessageId> parse_message_id(std::string_view text) {
    MessageId id = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, id);
    if (failed != std::errc() || stopped != end || text.front() == '0' || id > kMessageIdMax) {
        return Error{"bad_id"_code, "a message id is the integer from the response to the put", "id"};
    }
    return id;
}

Result<std::string> check_queue_name(std::string name, const HttpApiOptions& options) {
    if (Status fits = check_name(name, options.queue_name_bytes_max, kQueueName); !fits) return std::move(fits).error();
    return name;
}

}  // namespace duewheel
