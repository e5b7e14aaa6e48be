// What the command line reads from arguments and files: the content and the headers of a message, and files of lines.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

#include "base/status.h"

namespace duewheel {

// More than any server accepts, so that a mistake such as "@/dev/zero" ends.
inline constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;

// The text itself, "-" for standard input, or "@file" for the content of a file. Codes: unreadable_body,
// body_too_large.
Result<std::string> read_body_argument(const std::string& argument);

// The object as text, with one more member, whose value is JSON and stays as it is written.
std::string with_member(const boost::json::object& object, std::string_view name, std::string_view json);

// Adds the member `headers` of "name=value" if there are any. Codes: bad_header, duplicate_member.
Status put_headers_into(const std::vector<std::string>& headers, boost::json::object& request);

// BODY with --json-body, --content-type and --header, for each verb that sets the content of a message.
struct ContentArguments {
    std::string text;  // as given on the command line
    bool is_json = false;
    std::optional<std::string> content_type;
    std::vector<std::string> headers;  // "name=value"

    const CLI::Option* option = nullptr;

    // `help`: of BODY.
    void add_to(CLI::App& verb, const char* help);
    // True also for an empty BODY.
    bool is_given() const { return option->count() != 0; }
    // Adds `headers`; `body` if the bytes are text, `body_base64` if they are not, and `content_type`. JSON is also
    // sent as text, which preserves its numbers as written. Codes: those above; bad_json.
    Status put_into(boost::json::object& request) const;
};

// Reads the lines of a file one by one, so that files of any size need little memory.
class LineFile {
  public:
    // "-": standard input. An unreadable file is reported with the first line.
    explicit LineFile(const std::string& name);

    // The next line without its line feed, which the last line need not have. None at the end of the file. Codes:
    // `unreadable_file`, `body_too_large`.
    Result<std::optional<std::string_view>> next();

    // Copies the remaining lines to an unnamed temporary file, which is read from then on, so that they can be read
    // twice. Codes: `unreadable_file`, `no_space`.
    Status keep();
    // Returns to the beginning; only for a file that is not a pipe, or was copied.
    Status rewind();

    std::uint64_t bytes_read() const { return bytes_read_; }
    // 0 if it has no size, such as a pipe.
    std::uint64_t bytes() const;

  private:
    Error unreadable() const;

    struct Closes {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string name_;
    std::FILE* file_;
    std::unique_ptr<std::FILE, Closes> opened_;
    int error_ = 0;  // why it could not be opened
    std::string line_;
    std::uint64_t bytes_read_ = 0;
};

}  // namespace duewheel
