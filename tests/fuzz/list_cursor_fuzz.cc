// Cursors and parameters of listings: a cursor is accepted only for its own listing, and has one text.
//
// The input is the query of a listing's URL, or a cursor alone.
#include <string>
#include <variant>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"
#include "http_api/problem.h"
#include "http_api/requests/list_request.h"

namespace duewheel::list_cursor_fuzz {
namespace {

void judge_refusal(const Error& error) {
    require(is_for_clients(error.code), "a code is not listed:", name_of(error.code));
    require(!error.message.empty(), "a refusal says nothing");
}

void judge_cursor(std::string_view text, std::uint64_t query) {
    const Result<ListPosition> position = parse_list_cursor(text, query);
    if (!position) {
        require(position.error().code == "bad_cursor"_code, "a cursor is refused with another code");
        return;
    }
    require(list_cursor_text(*position, query) == text, "two texts are one cursor");
    require(!parse_list_cursor(text, query + 1).ok(), "a cursor was taken for another listing");
}

void judge_list(const ListCommand& list) {
    require(list.limit >= 1 && list.limit <= kListLimitMax, "a page has a size that it must not have");
    require((list.states.bits() & ~kUnfinishedStates.bits()) == 0 && !list.states.empty(), "a state is no live one");
    const std::string cursor = list_cursor_text({list.from.due_ms, list.from.id}, list.query);
    const Result<ListPosition> position = parse_list_cursor(cursor, list.query);
    require(position.ok() && position->at_ms == list.from.due_ms && position->id == list.from.id,
            "a cursor is another after writing");
}

}  // namespace

void fuzz(std::string_view input) {
    InputScript script(input);
    const std::uint64_t query = script.number();
    judge_cursor(input, query);
    const ListPosition position{static_cast<std::int64_t>(script.number()), script.number()};
    const std::string text = list_cursor_text(position, query);
    require(parse_list_cursor(text, query).ok() && *parse_list_cursor(text, query) == position,
            "a cursor is another after writing");

    HttpRequest request;
    request.method = "GET";
    request.query = input;
    ListCommand list;
    list.queue = "q";
    const Result<Command> listed = read_list(request, list);
    if (listed) {
        judge_list(std::get<ListCommand>(*listed));
    } else {
        judge_refusal(listed.error());
    }
    const Result<Command> history = read_history(request, {}, {});
    if (history) {
        const auto& command = std::get<HistoryCommand>(*history);
        require(command.limit >= 1 && command.limit <= kListLimitMax, "a page has a size that it must not have");
        require((command.outcomes.bits() & ~kEndedStates.bits()) == 0, "an outcome is no end");
        require(!command.queue.empty(), "a history is of no queue");
    } else {
        judge_refusal(history.error());
    }
}

}  // namespace duewheel::list_cursor_fuzz
