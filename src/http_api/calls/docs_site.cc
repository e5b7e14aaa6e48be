#include "http_api/calls/docs_site.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error_codes.h"
#include "http_api/answers/error_page.h"
#include "http_api/calls/dashboard_file.h"
#include "http_api/problem.h"

namespace duewheel {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "/docs/";

std::string hash_of(std::string_view bytes) {
    return std::to_string(std::hash<std::string_view>()(bytes));
}

}  // namespace

DocsSite::DocsSite(const std::string& directory) {
    std::error_code failed;
    if (directory.empty() || !fs::is_regular_file(fs::path(directory) / "errors.html", failed)) return;
    for (fs::recursive_directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code vanished;
        if (fs::symlink_status(*entry, vanished).type() != fs::file_type::regular) continue;
        std::ifstream file(entry->path(), std::ios::binary);
        std::string bytes(std::istreambuf_iterator<char>(file), {});
        std::string hash = hash_of(bytes);
        files_[entry->path().lexically_relative(directory).generic_string()] = {std::move(bytes), std::move(hash)};
    }
}

HttpResponse DocsSite::answer(const HttpRequest& request) const {
    HttpResponse response;
    if (!request.path.starts_with(kFolder)) {
        response.status = 308;
        response.headers = {{"Location", std::string(kFolder)}};
        return response;
    }
    std::string name(request.path.substr(kFolder.size()));
    if (name.empty()) name = "index";
    auto file = files_.find(name);
    if (file == files_.end()) file = files_.find(name += ".html");
    if (file != files_.end())
        return answer_file(request, {name, file->second.bytes, {}, file->second.hash}, "no-cache");
    if (name == "errors.html" || (files_.empty() && name == "index.html")) {
        return answer_file(request, {name, error_page(), {}, hash_of(error_page())}, "no-cache");
    }
    return problem({"unknown_path"_code,
                    files_.empty() ? "this server has no pages of the documentation but /docs/errors: install the "
                                     "package duewheel-doc, or name their directory in the setting http.docs"
                                   : "the documentation has no such page: /docs/ leads to all of them"});
}

}  // namespace duewheel
