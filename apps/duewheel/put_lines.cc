#include "put_lines.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

#include "line_file.h"
#include "local_time.h"
#include "plain_text.h"

namespace duewheel {
namespace {

// The default limit of a request's size; a longer line is sent alone.
constexpr std::size_t kRequestBytes = std::size_t{4} << 20;
// Lines of a request, and the number of the first one in the file.
struct Request {
    std::string lines;
    std::size_t count = 0;
    std::size_t first = 1;
};

// Prints the outcome of each; returns whether all were put.
bool print_results(const Session& session, const Request& request, std::string_view answer) {
    bool all_put = true;
    for (std::size_t line = request.first; !answer.empty(); ++line) {
        const std::size_t end = std::min(answer.find('\n'), answer.size());
        const std::string result(answer.substr(0, end));
        answer.remove_prefix(std::min(end + 1, answer.size()));
        boost::json::error_code broken;
        const boost::json::value value = boost::json::parse(result, broken);
        const boost::json::object none;
        const boost::json::object& members = !broken && value.is_object() ? value.get_object() : none;
        const bool was_put = !word_of(members, "id").empty();
        all_put &= was_put;
        if (session.json) {
            std::printf("%s\n", printable_json(result).c_str());
        } else if (was_put) {
            std::printf("%s  %s, due %s\n", printable(word_of(members, "id")).c_str(),
                        printable(word_of(members, "state")).c_str(),
                        format_when(number_of(members, "due_ms")).c_str());
        } else {
            std::printf("line %zu: refused: %s (%s)\n", line, printable(word_of(members, "detail")).c_str(),
                        printable(word_of(members, "code")).c_str());
        }
    }
    std::fflush(stdout);
    return all_put;
}

}  // namespace

int put_lines(Session& session, const std::string& queue, const std::string& file, std::size_t batch) {
    const std::string path = session.path("queues", queue, "/messages:batch");
    LineFile lines(file);
    Request request;
    int exit_code = kExitDone;
    // False if the whole request failed.
    const auto send = [&] {
        if (request.count == 0) return true;
        const ServerAnswer answer = session.look_up_lines(path, request.lines);
        if (!answer) {
            const std::size_t last = request.first + request.count - 1;
            const char* what =
                answer.exit_code == kExitUnreachable ? "it is unknown whether they were put" : "none of them was put";
            std::fprintf(stderr, "duewheel: Stopped at lines %zu to %zu: %s. No later line was sent.\n", request.first,
                         last, what);
            exit_code = answer.exit_code;
            return false;
        }
        if (!print_results(session, request, answer.text)) exit_code = kExitRefused;
        request = {{}, 0, request.first + request.count};
        return true;
    };
    for (;;) {
        const Result<std::optional<std::string_view>> line = lines.next();
        if (!line) {  // the lines before it are complete
            if (!send()) return exit_code;
            return session.complain(line.error(), request.first == 1 ? kExitUsage : kExitRefused);
        }
        if (!*line) return static_cast<void>(send()), exit_code;
        const bool is_full = request.count == batch || request.lines.size() + (*line)->size() + 1 > kRequestBytes;
        if (is_full && !send()) return exit_code;
        request.lines.append(**line) += '\n';
        ++request.count;
    }
}

}  // namespace duewheel
