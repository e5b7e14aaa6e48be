#include "http_api/calls/dashboard_file.h"

#include <algorithm>
#include <string>

#include "base/error_codes.h"
#include "http_api/problem.h"

namespace duewheel {
namespace {

struct MediaType {
    std::string_view ending;
    std::string_view name;
};
constexpr MediaType kMediaTypes[] = {
    {".css", "text/css; charset=utf-8"},
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".json", "application/json"},
    {".png", "image/png"},
    {".svg", "image/svg+xml"},
    {".woff2", "font/woff2"},
};

std::string_view media_type(std::string_view path) {
    if (path == "/") return "text/html; charset=utf-8";
    const auto* found = std::find_if(std::begin(kMediaTypes), std::end(kMediaTypes),
                                     [&](const MediaType& type) { return path.ends_with(type.ending); });
    return found != std::end(kMediaTypes) ? found->name : "application/octet-stream";
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    return text;
}

// Calls `visit` with each part of the comma-separated values of the fields of this name.
template <class Visit>
void for_each_part(const HttpRequest& request, std::string_view name, Visit visit) {
    for (const HttpField& field : request.fields) {
        if (!equal_ignoring_case(field.name, name)) continue;
        std::string_view parts = field.value;
        while (!parts.empty()) {
            const std::size_t comma = std::min(parts.find(','), parts.size());
            visit(trimmed(parts.substr(0, comma)));
            parts.remove_prefix(std::min(comma + 1, parts.size()));
        }
    }
}

// RFC 9110, 12.5.3. A weight of 0 excludes the coding; other weights make no difference between two codings.
bool accepts_gzip(const HttpRequest& request) {
    bool by_name = false, by_wildcard = false, excluded = false;
    for_each_part(request, "Accept-Encoding", [&](std::string_view part) {
        const std::size_t semicolon = std::min(part.find(';'), part.size());
        const std::string_view coding = trimmed(part.substr(0, semicolon));
        const std::string_view weight = trimmed(part.substr(std::min(semicolon + 1, part.size())));
        const bool is_zero = weight.starts_with("q=0") && weight.find_first_not_of("0.", 2) == std::string_view::npos;
        if (equal_ignoring_case(coding, "gzip")) (is_zero ? excluded : by_name) = true;
        if (coding == "*" && !is_zero) by_wildcard = true;
    });
    return !excluded && (by_name || by_wildcard);
}

// RFC 9110, 13.1.2: the comparison is weak.
bool has_current(const HttpRequest& request, std::string_view etag) {
    bool found = false;
    for_each_part(request, "If-None-Match", [&](std::string_view part) {
        if (part.starts_with("W/")) part.remove_prefix(2);
        found = found || part == "*" || part == etag;
    });
    return found;
}

}  // namespace

HttpResponse answer_file(const HttpRequest& request, const DashboardFile& file, std::string_view caching) {
    const bool compressed = !file.gzip.empty() && accepts_gzip(request);
    const std::string etag = "\"" + std::string(file.hash) + (compressed ? "-gzip\"" : "\"");
    HttpResponse response;
    response.headers = {
        {"ETag", etag},
        {"Vary", "Accept-Encoding"},
        {"Cache-Control", std::string(caching)},
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
         "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"Referrer-Policy", "no-referrer"},
    };
    if (has_current(request, etag)) {
        response.status = 304;
        return response;
    }
    response.content_type = media_type(file.path);
    response.body = compressed ? file.gzip : file.bytes;
    if (compressed) response.headers.push_back({"Content-Encoding", "gzip"});
    return response;
}

HttpResponse answer_dashboard_file(const HttpRequest& request) {
    const std::span<const DashboardFile> files = dashboard_files();
    const auto file =
        std::find_if(files.begin(), files.end(), [&](const DashboardFile& each) { return each.path == request.path; });
    if (file == files.end()) {
        return problem(
            {"unknown_path"_code,
             "the dashboard of this server has no such file: reload the page, it may be of another version"});
    }
    return answer_file(request, *file, file->path == "/" ? "no-cache" : "public, max-age=31536000, immutable");
}

}  // namespace duewheel
