#include "http_api/requests/list_request.h"

#include <array>
#include <cstring>
#include <utility>

#include "base/base64.h"
#include "base/error_codes.h"
#include "calendar/duration.h"
#include "http_api/access/path_names.h"
#include "http_api/fields/request_members.h"
#include "http_api/requests/query_request.h"
#include "shared/random.h"

namespace duewheel {
namespace {

constexpr std::size_t kCursorBytes = 24;
constexpr std::size_t kCursorLetters = 32;

class Mixer {
  public:
    void add(std::uint64_t word) {
        std::uint64_t state = sum_ ^ word;
        sum_ = splitmix64(state);
    }
    void add(std::string_view text) {
        add(text.size());
        for (const char letter : text) add(static_cast<unsigned char>(letter));
    }
    std::uint64_t sum() const { return sum_; }

  private:
    std::uint64_t sum_ = 0x2f1d5a3c0b77e961;
};

std::uint64_t check_of(const ListPosition& position, std::uint64_t query) {
    Mixer mixer;
    mixer.add(static_cast<std::uint64_t>(position.at_ms));
    mixer.add(position.id);
    mixer.add(query);
    return mixer.sum();
}

Error bad_cursor() {
    return {"bad_cursor"_code,
            "this is not a cursor of this listing: use the cursor of the previous page with the same parameters (limit "
            "may change), or start without one",
            "cursor"};
}

// `names` are those of the legal states.
Status read_states(const QueryRequest& query, std::string_view parameter, const StateSet& legal, std::string_view names,
                   StateSet& into) {
    const std::optional<std::string_view> given = query.text(parameter);
    if (!given) return {};
    std::string_view text = *given;
    StateSet states;
    while (true) {
        const std::string_view name = text.substr(0, text.find(','));
        bool known = false;
        for (int number = 1; number <= kStateCount; ++number) {
            const auto state = static_cast<State>(number);
            if (!legal.contains(state) || state_name(state) != name) continue;
            states.insert(state);
            known = true;
        }
        if (!known) {
            return Error{"bad_state"_code,
                         std::string(parameter) + " must be " + std::string(names) + "; omit it for all",
                         std::string(parameter)};
        }
        if (name.size() == text.size()) break;
        text.remove_prefix(name.size() + 1);
    }
    into = states;
    return {};
}

// Continues the list after the page with this cursor.
template <class List>
Status continue_at(const QueryRequest& query, List& list) {
    const std::optional<std::string_view> cursor = query.text("cursor");
    if (!cursor) return {};
    const Result<ListPosition> position = parse_list_cursor(*cursor, list.query);
    if (!position) return position.error();
    list.from = {position->at_ms, position->id};
    return {};
}

}  // namespace

std::string list_cursor_text(const ListPosition& position, std::uint64_t query) {
    const std::uint64_t check = check_of(position, query);
    std::array<char, kCursorBytes> bytes{};
    std::memcpy(bytes.data(), &position.at_ms, 8);
    std::memcpy(bytes.data() + 8, &position.id, 8);
    std::memcpy(bytes.data() + 16, &check, 8);
    return base64url({bytes.data(), bytes.size()});
}

Result<ListPosition> parse_list_cursor(std::string_view text, std::uint64_t query) {
    if (text.size() != kCursorLetters) return bad_cursor();
    const std::optional<std::string> bytes = parse_base64url(text);
    if (!bytes || bytes->size() != kCursorBytes) return bad_cursor();
    ListPosition position;
    std::uint64_t check = 0;
    std::memcpy(&position.at_ms, bytes->data(), 8);
    std::memcpy(&position.id, bytes->data() + 8, 8);
    std::memcpy(&check, bytes->data() + 16, 8);
    if (check != check_of(position, query)) return bad_cursor();
    return position;
}

std::uint64_t list_query(std::string_view name_space, std::string_view queue, std::uint64_t what, std::int64_t from_ms,
                         std::int64_t until_ms, MessageId id) {
    Mixer mixer;
    mixer.add(name_space);
    mixer.add(queue);
    mixer.add(what);
    mixer.add(static_cast<std::uint64_t>(from_ms));
    mixer.add(static_cast<std::uint64_t>(until_ms));
    if (id != 0) mixer.add(id);
    return mixer.sum();
}

Result<Command> read_list(const HttpRequest& request, ListCommand list) {
    const Result<QueryRequest> query =
        QueryRequest::parse(request.query, {"state", "due_after", "due_before", "limit", "cursor"});
    if (!query) return query.error();
    Status read = read_states(
        *query, "state", kListedStates,
        "one or more of prepared, scheduled, ready, leased, retrying and held, separated by commas, or dead alone",
        list.states);
    if (read) read = assign(query->instant_ms("due_after"), list.from.due_ms);
    if (read) read = assign(query->instant_ms("due_before"), list.until_ms);
    if (read) read = assign(query->integer("limit", 1, kListLimitMax), list.limit);
    if (!read) return std::move(read).error();
    list.query = list_query(list.name_space, list.queue, list.states.bits(), list.from.due_ms, list.until_ms);
    if (Status read_on = continue_at(*query, list); !read_on) return std::move(read_on).error();
    return Command(std::move(list));
}

Result<Command> read_history(const HttpRequest& request, HistoryCommand history, const HttpApiOptions& options) {
    const Result<QueryRequest> query =
        QueryRequest::parse(request.query, {"queue", "id", "from", "to", "outcome", "limit", "cursor"});
    if (!query) return query.error();
    const std::optional<std::string_view> queue = query->text("queue");
    if (!queue) return Error{"missing_parameter"_code, "name the queue: ?queue=NAME", "queue"};
    Result<std::string> name = check_queue_name(std::string(*queue), options);
    if (!name) return std::move(name).error();
    history.queue = *std::move(name);
    if (const std::optional<std::string_view> id = query->text("id")) {
        const Result<MessageId> read = parse_message_id(*id);
        if (!read) return read.error();
        history.id = *read;
    }
    Status read =
        read_states(*query, "outcome", kEndedStates,
                    "one or more of done, cancelled, expired and dead, separated by commas", history.outcomes);
    if (read) read = assign(query->instant_ms("from"), history.from.due_ms);
    if (read) read = assign(query->instant_ms("to"), history.until_ms);
    if (read) read = assign(query->integer("limit", 1, kListLimitMax), history.limit);
    if (!read) return std::move(read).error();
    history.query = list_query(history.name_space, history.queue, history.outcomes.bits(), history.from.due_ms,
                               history.until_ms, history.id);
    if (Status read_on = continue_at(*query, history); !read_on) return std::move(read_on).error();
    return Command(std::move(history));
}

Result<Command> read_forecast(const HttpRequest& request, ForecastCommand forecast, const HttpApiOptions& options) {
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"queue", "minutes", "step"});
    if (!query) return query.error();
    if (const std::optional<std::string_view> step = query->text("step")) {
        const Result<std::int64_t> step_ms = parse_duration(*step);
        if (!step_ms) return Error{step_ms.error().code, step_ms.error().message, "step"};
        constexpr std::int64_t kMinute = 60'000;
        constexpr std::int64_t kDay = 1'440 * kMinute;
        if (*step_ms < kMinute || *step_ms % kMinute != 0 || kDay % *step_ms != 0) {
            return Error{"out_of_range"_code,
                         "`step` must be whole minutes of which a day is a multiple, such as 1m, 15m, 1h or 1d",
                         "step"};
        }
        forecast.step_ms = *step_ms;
    }
    if (const std::optional<std::string_view> queue = query->text("queue")) {
        Result<std::string> name = check_queue_name(std::string(*queue), options);
        if (!name) return std::move(name).error();
        forecast.queue = *std::move(name);
    }
    Status read =
        assign(query->integer("minutes", 1, kForecastMinutesMax * (forecast.step_ms / 60'000)), forecast.minutes);
    if (!read) return std::move(read).error();
    return Command(std::move(forecast));
}

}  // namespace duewheel
