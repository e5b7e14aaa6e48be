// Lines of an export from any source: each is refused with a position, or is the same after it is written again; and a
// server accepts the put of a message's line.
#include <limits>
#include <string>

#include <boost/json.hpp>

#include "fuzz/fuzz_target.h"
#include "http_api/requests/put_request.h"
#include "transfer/export_reader.h"
#include "transfer/line_options.h"
#include "transfer/put_of_line.h"

namespace duewheel::import_line_fuzz {
namespace {

constexpr std::string_view kInstance = "0123456789abcdef0123456789abcdef";

void judge(const MessageLine& line) {
    std::string text;
    write_message_line(text, line);
    require(text.find('\n') == std::string::npos, "a line is two:", text);
    const Result<JsonRequest> json = JsonRequest::parse(text);
    require(json.ok(), "what was written is no JSON:", text);
    const Result<MessageLine> again = read_message_line(*json);
    require(again.ok() && *again == line, "a message is another after writing:", text);

    std::string put_text;
    Losses losses;
    write_put_of_line(put_text, line, kInstance, losses);
    const Result<PutCommand> put = read_json_put(put_text, line_options(), {});
    require(put.ok(), "no server takes the put:", put_text);
    const bool is_dead = line.state == State::dead;
    require(put->body == line.body && put->headers == line.headers &&
                put->order_key == (is_dead ? std::string() : line.order_key) && put->priority == line.priority &&
                put->content_type == line.content_type && put->transaction == line.transaction && !put->key.empty() &&
                put->is_held == (is_dead || line.state == State::held),
            "a put says something else than its line:", put_text);
    if (!put->repeat) return;
    const Result<RepeatRule> rule =
        chosen_repeat(*put->repeat, *put->when.at_ms, std::numeric_limits<std::int64_t>::max());
    require(rule.ok(), "no server takes the loop:", put_text);
}

void judge(const SettingsLine& line) {
    boost::json::error_code broken;
    const boost::json::value body = boost::json::parse(line.body, broken);
    require(!broken && body.is_object(), "a PUT is no JSON:", line.body);
    require(line.path().starts_with("/v1/namespaces/"), "a PUT goes elsewhere:", line.path());
    const std::string answer = R"({"paused":false,"settings":)" + line.body + "}";
    require(standing_of(line, 404, answer) == Standing::absent, "what is not there is there");
    static_cast<void>(standing_of(line, 200, line.body));
}

void judge(const ExportHeader& header) {
    std::string text;
    write_header_line(text, header);
    const Result<JsonRequest> json = JsonRequest::parse(text);
    require(json.ok() && read_header_line(*json).ok() && *read_header_line(*json) == header, "a header is another");
}

void judge(const ExportEnd& end) {
    std::string text;
    write_end_line(text, end);
    const Result<JsonRequest> json = JsonRequest::parse(text);
    require(json.ok() && read_end_line(*json).ok() && *read_end_line(*json) == end, "an end is another");
}

void read_all(ExportReader& reader, std::string_view input) {
    while (!input.empty()) {
        const std::size_t end = std::min(input.find('\n'), input.size());
        const Result<ExportLine> line = reader.read(input.substr(0, end));
        input.remove_prefix(std::min(end + 1, input.size()));
        if (line) {
            std::visit([](const auto& of) { judge(of); }, *line);
        } else {
            require(line.error().code != ErrorCode::none && !line.error().message.empty(), "a refusal says nothing");
        }
    }
    static_cast<void>(reader.finish());
}

}  // namespace

void fuzz(std::string_view input) {
    ExportReader whole;
    read_all(whole, input);
    // And behind a header, so that not every input has to begin with one.
    ExportReader after_header;
    ExportHeader header;
    header.instance = kInstance;
    std::string first;
    write_header_line(first, header);
    require(after_header.read(first).ok(), "a header is refused");
    read_all(after_header, input);
}

}  // namespace duewheel::import_line_fuzz
