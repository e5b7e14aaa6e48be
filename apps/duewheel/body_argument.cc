#include "body_argument.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/utf8.h"
#include "ingress/json_text.h"

namespace duewheel {
namespace {

using OpenFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Result<std::string> read_all(std::FILE* file, const std::string& name) {
    std::string bytes;
    char piece[16 * 1024];
    while (const std::size_t size = std::fread(piece, 1, sizeof piece, file)) {
        bytes.append(piece, size);
        if (bytes.size() > kBodyBytesMax) {
            return Error{"body_too_large",
                         name + " is larger than a message body can be: store it elsewhere and send its address."};
        }
    }
    if (std::ferror(file)) return Error{"unreadable_body", "Cannot read " + name + ": " + std::strerror(errno) + "."};
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

}  // namespace

Result<std::string> read_body_argument(const std::string& argument) {
    if (argument == "-") return read_all(stdin, "standard input");
    if (!argument.starts_with('@')) return argument;
    const std::string path = argument.substr(1);
    const OpenFile file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) {
        return Error{
            "unreadable_body",
            "Cannot read " + path + ": " + std::strerror(errno) +
                ". A body that begins with @ is the name of a file; to send such a text, use standard input (`-`)."};
    }
    return read_all(file.get(), path);
}

void BodyArgument::add_to(CLI::App& verb, const char* help) {
    CLI::Option* const body = verb.add_option("BODY", text, help);
    CLI::Option* const json =
        verb.add_flag("--json-body", is_json, "The content is JSON, and is returned as JSON")->needs(body);
    verb.add_option("--content-type", content_type, "Media type of the content")->type_name("TYPE")->excludes(json);
    option = body;
}

Status BodyArgument::put_into(boost::json::object& request) const {
    if (is_given()) {
        const Result<std::string> bytes = read_body_argument(text);
        if (!bytes) return bytes.error();
        if (is_json && !is_json_text(*bytes)) {
            return Error{
                "bad_json",
                "The content is not valid JSON, or is nested too deeply; without --json-body any content is allowed.",
                "BODY"};
        }
        request[is_text(*bytes) ? "body" : "body_base64"] = is_text(*bytes) ? *bytes : base64(*bytes);
    }
    if (is_json) request["content_type"] = "application/json";
    if (content_type) request["content_type"] = *content_type;
    return {};
}

}  // namespace duewheel
