#include "content.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <sys/stat.h>

#include "base/error_codes.h"
#include "http_api/fields/json_text.h"
#include "plain_text.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

using OpenFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Result<std::string> read_all(std::FILE* file, const std::string& name) {
    std::string bytes;
    char piece[16 * 1024];
    while (const std::size_t size = std::fread(piece, 1, sizeof piece, file)) {
        bytes.append(piece, size);
        if (bytes.size() > kBodyBytesMax) {
            return Error{"body_too_large"_code,
                         name + " is larger than a message body can be: store it elsewhere and send its address."};
        }
    }
    if (std::ferror(file))
        return Error{"unreadable_body"_code, "Cannot read " + name + ": " + std::strerror(errno) + "."};
    return bytes;
}

// Valid UTF-8, without control characters, each of which takes six bytes in JSON.
bool is_text(std::string_view bytes) {
    return is_utf8(bytes) && std::none_of(bytes.begin(), bytes.end(), [](char c) {
               return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
           });
}

std::string base64(std::string_view bytes) {
    static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t here = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            bits = bits << 8 | (i < here ? static_cast<unsigned char>(bytes[at + i]) : 0u);
        }
        for (std::size_t i = 0; i < 4; ++i) text += i <= here ? kLetters[bits >> (18 - 6 * i) & 63] : '=';
    }
    return text;
}

// No server accepts more, so that a mistake such as /dev/zero ends.
constexpr std::size_t kLineBytesMax = std::size_t{64} << 20;

}  // namespace

Result<std::string> read_body_argument(const std::string& argument) {
    if (argument == "-") return read_all(stdin, "standard input");
    if (!argument.starts_with('@')) return argument;
    const std::string path = argument.substr(1);
    const OpenFile file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) {
        return Error{
            "unreadable_body"_code,
            "Cannot read " + path + ": " + std::strerror(errno) +
                ". A body that begins with @ is the name of a file; to send such a text, use standard input (`-`)."};
    }
    return read_all(file.get(), path);
}

std::string with_member(const boost::json::object& object, std::string_view name, std::string_view json) {
    std::string text = plain_json(object);
    text.pop_back();
    if (!object.empty()) text += ',';
    return text.append("\"").append(name).append("\":").append(json).append("}");
}

Status put_headers_into(const std::vector<std::string>& headers, boost::json::object& request) {
    boost::json::object pairs;
    for (const std::string& header : headers) {
        const std::size_t equals = header.find('=');
        if (equals == std::string::npos || equals == 0) {
            return Error{"bad_header"_code, "A header has the form NAME=VALUE, not " + header + ".", "--header"};
        }
        const std::string name = header.substr(0, equals);
        if (pairs.contains(name))
            return Error{"duplicate_member"_code, "The header " + name + " is given twice.", "--header"};
        pairs[name] = header.substr(equals + 1);
    }
    if (!pairs.empty()) request["headers"] = std::move(pairs);
    return {};
}

void ContentArguments::add_to(CLI::App& verb, const char* help) {
    CLI::Option* const body = verb.add_option("BODY", text, help);
    CLI::Option* const json =
        verb.add_flag("--json-body", is_json, "The content is JSON, and is returned as JSON")->needs(body);
    verb.add_option("--content-type", content_type, "Media type of the content")->type_name("TYPE")->excludes(json);
    verb.add_option("--header", headers, "Header delivered with the message; can be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    option = body;
}

Status ContentArguments::put_into(boost::json::object& request) const {
    if (Status read = put_headers_into(headers, request); !read) return read;
    if (is_given()) {
        const Result<std::string> bytes = read_body_argument(text);
        if (!bytes) return bytes.error();
        if (is_json && !is_json_text(*bytes)) {
            return Error{
                "bad_json"_code,
                "The content is not valid JSON, or is nested too deeply; without --json-body any content is allowed.",
                "BODY"};
        }
        request[is_text(*bytes) ? "body" : "body_base64"] = is_text(*bytes) ? *bytes : base64(*bytes);
    }
    if (is_json) request["content_type"] = "application/json";
    if (content_type) request["content_type"] = *content_type;
    return {};
}

LineFile::LineFile(const std::string& name)
    : name_(name == "-" ? "standard input" : name),
      file_(name == "-" ? stdin : std::fopen(name.c_str(), "rb")),
      opened_(name == "-" ? nullptr : file_),
      error_(file_ == nullptr ? errno : 0) {}

Result<std::optional<std::string_view>> LineFile::next() {
    if (file_ == nullptr) return unreadable();
    line_.clear();
    bool has_begun = false;
    for (int c = getc_unlocked(file_); c != EOF; c = getc_unlocked(file_)) {
        has_begun = true;
        ++bytes_read_;
        if (c == '\n') return std::optional<std::string_view>(line_);
        line_ += static_cast<char>(c);
        if (line_.size() > kLineBytesMax) {
            return Error{"body_too_large"_code, "A line of " + name_ + " is longer than a message can be."};
        }
    }
    if (std::ferror(file_)) return unreadable();
    return has_begun ? std::optional<std::string_view>(line_) : std::nullopt;
}

Status LineFile::keep() {
    if (file_ == nullptr) return unreadable();
    std::unique_ptr<std::FILE, Closes> kept(std::tmpfile());
    char piece[64 * 1024];
    std::size_t got = 0;
    while (kept && (got = std::fread(piece, 1, sizeof piece, file_)) > 0) {
        if (std::fwrite(piece, 1, got, kept.get()) != got) kept.reset();
    }
    if (!kept || std::fflush(kept.get()) != 0) {
        return Error{"no_space"_code, "Cannot store the input from " + name_ + " in a temporary file: " +
                                          std::strerror(errno) + ". Write it to a file and give its name."};
    }
    if (std::ferror(file_)) return unreadable();
    file_ = kept.get();
    opened_ = std::move(kept);
    return rewind();
}

Status LineFile::rewind() {
    if (file_ == nullptr || std::fseek(file_, 0, SEEK_SET) != 0) return unreadable();
    bytes_read_ = 0;
    return {};
}

std::uint64_t LineFile::bytes() const {
    struct stat found {};
    if (file_ == nullptr || ::fstat(::fileno(file_), &found) != 0 || !S_ISREG(found.st_mode)) return 0;
    return static_cast<std::uint64_t>(found.st_size);
}

Error LineFile::unreadable() const {
    return {"unreadable_file"_code,
            "Cannot read " + name_ + ": " + std::strerror(file_ == nullptr ? error_ : errno) + "."};
}

}  // namespace duewheel
