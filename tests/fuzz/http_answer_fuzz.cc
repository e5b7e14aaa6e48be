// Answers as a server may send them to the client: cut into pieces at every place, they are the same answers.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "net/answer_parser.h"

namespace duewheel::http_answer_fuzz {
namespace {

constexpr std::size_t kCutsMax = 64;

AnswerLimits small_limits() {
    AnswerLimits limits;
    limits.start_line_bytes_max = 40;
    limits.header_bytes_max = 200;
    limits.header_count_max = 6;
    limits.body_bytes_max = 100;
    return limits;
}

struct Heard {
    std::vector<std::string> answers;
    bool refused = false;

    bool operator==(const Heard&) const = default;
};

void judge(AnswerParser& parser, std::string_view method, const AnswerLimits& limits) {
    const HttpAnswer& answer = parser.answer();
    require(answer.status >= 200 && answer.status <= 999 && answer.status != 101, "an answer has no final status");
    require(answer.body.size() <= limits.body_bytes_max, "a body is over its limit");
    const bool bodiless = method == "HEAD" || answer.status == 204 || answer.status == 304;
    require(!bodiless || answer.body.empty(), "an answer has a body that must have none");
    const auto length = answer.header("Content-Length");
    require(!length || !answer.header("Transfer-Encoding"), "an answer was taken that can be framed in two ways");
    require(!length || bodiless || std::stoull(std::string(*length)) == answer.body.size(),
            "a body is not as long as was said");
    require(bodiless || length || answer.header("Transfer-Encoding") || !parser.keeps_connection(),
            "an answer without an end keeps its connection");
}

std::string told(AnswerParser& parser) {
    std::string text = std::to_string(parser.answer().status) + (parser.keeps_connection() ? "k" : "c");
    for (const HttpHeader& header : parser.answer().headers) {
        text.append(";").append(header.name).append("=").append(header.value);
    }
    return text.append("|").append(parser.answer().body);
}

// One answer after the other while the connection is kept; the bytes come in pieces, then the connection ends.
Heard listen(std::string_view input, std::string_view method, const std::vector<std::size_t>& cuts) {
    const AnswerLimits limits = small_limits();
    Heard heard;
    std::vector<AnswerParser> parser(1, AnswerParser(method, limits));
    std::string waiting;
    std::size_t from = 0;
    for (std::size_t piece = 0; piece <= cuts.size(); ++piece) {
        const std::size_t until = piece < cuts.size() ? cuts[piece] : input.size();
        waiting.append(input.substr(from, until - from));
        from = until;
        const std::string bytes(waiting);
        std::string_view rest = bytes;
        while (!rest.empty()) {
            std::size_t consumed = 0;
            const AnswerParser::State state = parser.back().read(rest, consumed);
            require(consumed <= rest.size(), "more was consumed than there is");
            rest.remove_prefix(consumed);
            if (state == AnswerParser::State::refused) {
                require(!parser.back().objection().empty(), "a refusal says nothing");
                heard.refused = true;
                return heard;
            }
            if (state != AnswerParser::State::complete) break;
            judge(parser.back(), method, limits);
            heard.answers.push_back(told(parser.back()));
            if (!parser.back().keeps_connection()) return heard;
            parser.emplace_back(method, limits);
        }
        waiting = rest;
    }
    if (parser.back().end() == AnswerParser::State::complete) heard.answers.push_back(told(parser.back()));
    return heard;
}

}  // namespace

void fuzz(std::string_view input) {
    if (input.size() > 2000) return;
    for (const std::string_view method : {"GET", "HEAD"}) {
        const Heard whole = listen(input, method, {});
        const std::size_t step = std::max<std::size_t>(1, input.size() / kCutsMax);
        for (std::size_t cut = 1; cut < input.size(); cut += step) {
            require(listen(input, method, {cut}) == whole, "cut in two it is something else, at", std::to_string(cut));
        }
        std::vector<std::size_t> everywhere;
        for (std::size_t cut = 1; cut < input.size(); ++cut) everywhere.push_back(cut);
        require(listen(input, method, everywhere) == whole, "byte by byte it is something else");
    }
}

}  // namespace duewheel::http_answer_fuzz
