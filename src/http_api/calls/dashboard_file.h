// The files of the dashboard: the pages that the server shows in a browser. The build embeds what is in web/dist
// (cmake/embed_dashboard.cmake), so that the server needs no files beside itself.
//
// They are the same for every user and contain no data: what the pages show, they request from the HTTP API. Names in
// /assets/ change with the content, so browsers keep these files; "/" is checked each time. A strict content security
// policy keeps content of messages from being run as script, should a page ever fail to escape it.
#pragma once

#include <span>
#include <string_view>

#include "net/http/http_message.h"

namespace duewheel {

struct DashboardFile {
    std::string_view path;  // "/" or "/assets/NAME"; its ending says the media type
    std::string_view bytes;
    std::string_view gzip;  // the same, compressed; empty: only the bytes are sent
    std::string_view hash;  // of the bytes
};

// All of them, the page first. Defined in the generated source.
std::span<const DashboardFile> dashboard_files();

// The response to GET or HEAD with this file, or 304 if the client has it. `caching` is the value of Cache-Control.
HttpResponse answer_file(const HttpRequest& request, const DashboardFile& file, std::string_view caching);

// The response to GET or HEAD for the path of the request: the file, or 304 if the client has it. Code: unknown_path.
HttpResponse answer_dashboard_file(const HttpRequest& request);

}  // namespace duewheel
