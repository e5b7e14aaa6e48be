#include "beanstalk/beanstalk_command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

namespace duewheel {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kBadFormat = "BAD_FORMAT\r\n";
constexpr std::string_view kUnknownCommand = "UNKNOWN_COMMAND\r\n";
constexpr std::string_view kJobTooBig = "JOB_TOO_BIG\r\n";
constexpr std::string_view kOutOfMemory = "OUT_OF_MEMORY\r\n";
constexpr std::string_view kExpectedCrlf = "EXPECTED_CRLF\r\n";
constexpr std::size_t kTubeBytesMax = 200;
constexpr std::size_t kLineBytesMax = 11 + kTubeBytesMax + 1 + 12;  // with its end: as in beanstalkd

constexpr std::string_view kTubeLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-+/;.$_()";

struct Word {
    std::string_view text;
    BeanstalkVerb verb;

    bool has_arguments() const { return text.back() == ' '; }
};

// A line belongs to the first word that it begins with.
constexpr std::array<Word, kBeanstalkVerbs> kWords{{
    {"put ", BeanstalkVerb::put},
    {"peek ", BeanstalkVerb::peek},
    {"peek-ready", BeanstalkVerb::peek_ready},
    {"peek-delayed", BeanstalkVerb::peek_delayed},
    {"peek-buried", BeanstalkVerb::peek_buried},
    {"reserve-with-timeout ", BeanstalkVerb::reserve_with_timeout},
    {"reserve-job ", BeanstalkVerb::reserve_job},
    {"reserve", BeanstalkVerb::reserve},
    {"delete ", BeanstalkVerb::remove},
    {"release ", BeanstalkVerb::release},
    {"bury ", BeanstalkVerb::bury},
    {"kick ", BeanstalkVerb::kick},
    {"kick-job ", BeanstalkVerb::kick_job},
    {"touch ", BeanstalkVerb::touch},
    {"use ", BeanstalkVerb::use},
    {"watch ", BeanstalkVerb::watch},
    {"ignore ", BeanstalkVerb::ignore},
    {"list-tubes-watched", BeanstalkVerb::list_tubes_watched},
    {"list-tube-used", BeanstalkVerb::list_tube_used},
    {"list-tubes", BeanstalkVerb::list_tubes},
    {"stats-job ", BeanstalkVerb::stats_job},
    {"stats-tube ", BeanstalkVerb::stats_tube},
    {"stats", BeanstalkVerb::stats},
    {"pause-tube ", BeanstalkVerb::pause_tube},
    {"quit", BeanstalkVerb::quit},
}};

const Word* find_word(std::string_view line) {
    const auto* const word =
        std::find_if(kWords.begin(), kWords.end(), [&](const Word& each) { return line.starts_with(each.text); });
    return word == kWords.end() ? nullptr : word;
}

// A request line, or the field that each request of HTTP has. No command has capital letters.
bool is_http(std::string_view line) {
    constexpr std::string_view kBeginnings[] = {"GET ",     "HEAD ",    "POST ",  "PUT ",   "DELETE ",
                                                "CONNECT ", "OPTIONS ", "TRACE ", "PATCH ", "PRI * HTTP/"};
    constexpr std::string_view kHost = "host:";
    constexpr std::string_view kVersion = " HTTP/";
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    const bool is_host = line.size() >= kHost.size() && std::equal(kHost.begin(), kHost.end(), line.begin(),
                                                                   [&](char a, char b) { return a == lower(b); });
    const std::size_t version = line.rfind(' ');
    return is_host || (version != std::string_view::npos && line.substr(version).starts_with(kVersion)) ||
           std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                       [&](std::string_view each) { return line.starts_with(each); });
}

// The arguments of a line, read from left to right; each is preceded by any number of spaces.
class Arguments {
  public:
    explicit Arguments(std::string_view text) : left_(text) {}

    template <typename Number>
    bool read(Number& number) {
        skip_spaces();
        const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), number);
        if (error != std::errc()) return false;
        left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
        return true;
    }
    bool read_tube(std::string& tube) {
        const std::size_t size = std::min(left_.find_first_not_of(kTubeLetters), left_.size());
        tube = left_.substr(0, size);
        left_.remove_prefix(size);
        return !tube.empty() && tube.size() <= kTubeBytesMax && tube.front() != '-';
    }
    void skip_spaces() { left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size())); }
    bool at_end() const { return left_.empty(); }

  private:
    std::string_view left_;
};

bool read_arguments(BeanstalkCommand& command, Arguments arguments) {
    switch (command.verb) {
        case BeanstalkVerb::peek:
        case BeanstalkVerb::reserve_job:
        case BeanstalkVerb::remove:
        case BeanstalkVerb::kick_job:
        case BeanstalkVerb::touch:
        case BeanstalkVerb::stats_job:
            return arguments.read(command.id) && arguments.at_end();
        case BeanstalkVerb::release:
            return arguments.read(command.id) && arguments.read(command.priority) && arguments.read(command.delay_s) &&
                   arguments.at_end();
        case BeanstalkVerb::bury:
            return arguments.read(command.id) && arguments.read(command.priority) && arguments.at_end();
        // As beanstalkd, which takes what follows these numbers, and a negative timeout for none.
        case BeanstalkVerb::kick:
            return arguments.read(command.number);
        case BeanstalkVerb::reserve_with_timeout:
            return arguments.read(command.timeout_s);
        case BeanstalkVerb::use:
        case BeanstalkVerb::watch:
        case BeanstalkVerb::ignore:
        case BeanstalkVerb::stats_tube:
            return arguments.read_tube(command.tube) && arguments.at_end();
        case BeanstalkVerb::pause_tube:
            arguments.skip_spaces();
            return arguments.read_tube(command.tube) && arguments.read(command.delay_s) && arguments.at_end();
        default:
            return true;
    }
}

}  // namespace

std::optional<BeanstalkParser::Parsed> BeanstalkParser::read(std::string_view& bytes) {
    while (!bytes.empty()) {
        std::optional<Parsed> parsed = skip_left_ > 0   ? skip_body(bytes)
                                       : body_left_ > 0 ? read_body(bytes)
                                                        : read_line(bytes);
        if (parsed) return parsed;
    }
    return std::nullopt;
}

std::optional<BeanstalkParser::Parsed> BeanstalkParser::read_line(std::string_view& bytes) {
    // The line end may be cut between the pieces.
    const bool ends_at_once = !line_.empty() && line_.back() == '\r' && bytes.front() == '\n';
    const std::size_t end = ends_at_once ? 1 : bytes.find(kLineEnd);
    const std::size_t size = ends_at_once ? 1 : end == std::string_view::npos ? bytes.size() : end + kLineEnd.size();
    const bool is_complete = end != std::string_view::npos;
    const std::string_view piece = bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (line_too_long_ || line_.size() + piece.size() > kLineBytesMax) {
        if (!line_too_long_ && is_of_other_protocol(line_ + std::string(piece.substr(0, kLineBytesMax)))) {
            return OtherProtocol{};
        }
        line_too_long_ = !is_complete;
        // Only the last byte of a line that is too long matters: it may be half of the line end.
        line_.assign(is_complete ? std::string_view() : piece.substr(piece.size() - 1));
        if (!is_complete) return std::nullopt;
        return kBadFormat;
    }
    if (!is_complete) {
        line_ += piece;
        return std::nullopt;
    }
    if (line_.empty()) return understand(piece.substr(0, piece.size() - kLineEnd.size()));
    line_ += piece;
    const std::string line = std::exchange(line_, {});
    return understand(std::string_view(line).substr(0, line.size() - kLineEnd.size()));
}

// To be called once for each line, with its first bytes.
bool BeanstalkParser::is_of_other_protocol(std::string_view line_start) {
    const bool is_first = std::exchange(is_first_line_, false);
    return (is_first && find_word(line_start) == nullptr) || is_http(line_start);
}

std::optional<BeanstalkParser::Parsed> BeanstalkParser::understand(std::string_view line) {
    if (is_of_other_protocol(line)) return OtherProtocol{};
    if (line.find('\0') != std::string_view::npos) return kBadFormat;
    const Word* const word = find_word(line);
    if (word == nullptr) return kUnknownCommand;
    const std::string_view arguments = line.substr(word->text.size());
    if (word->verb == BeanstalkVerb::put) return begin_put(arguments);
    if (!word->has_arguments() && !arguments.empty() && word->verb != BeanstalkVerb::quit) return kBadFormat;
    BeanstalkCommand command{.verb = word->verb};
    if (!read_arguments(command, Arguments(arguments))) return kBadFormat;
    return command;
}

std::optional<BeanstalkParser::Parsed> BeanstalkParser::begin_put(std::string_view text) {
    Arguments arguments(text);
    put_ = {.verb = BeanstalkVerb::put};
    std::uint32_t size = 0;
    if (!arguments.read(put_.priority) || !arguments.read(put_.delay_s) || !arguments.read(put_.ttr_s) ||
        !arguments.read(size)) {
        return kBadFormat;
    }
    if (size > job_bytes_max_) {
        skip_left_ = std::uint64_t{size} + kLineEnd.size();
        refusal_ = kJobTooBig;
        return std::nullopt;
    }
    if (!arguments.at_end()) return kBadFormat;
    body_left_ = size + kLineEnd.size();
    return std::nullopt;
}

std::optional<BeanstalkParser::Parsed> BeanstalkParser::read_body(std::string_view& bytes) {
    const std::size_t size = std::min(body_left_, bytes.size());
    put_.body += bytes.substr(0, size);
    bytes.remove_prefix(size);
    body_left_ -= size;
    if (body_left_ > 0) return std::nullopt;
    BeanstalkCommand put = std::exchange(put_, {});
    if (!put.body.ends_with(kLineEnd)) return kExpectedCrlf;
    put.body.resize(put.body.size() - kLineEnd.size());
    return put;
}

std::optional<BeanstalkParser::Parsed> BeanstalkParser::skip_body(std::string_view& bytes) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(skip_left_, bytes.size()));
    bytes.remove_prefix(size);
    skip_left_ -= size;
    if (skip_left_ > 0) return std::nullopt;
    return refusal_;
}

void BeanstalkParser::drop_job() {
    if (body_left_ == 0) return;
    skip_left_ = std::exchange(body_left_, 0);
    refusal_ = kOutOfMemory;
    put_ = {};
}

}  // namespace duewheel
