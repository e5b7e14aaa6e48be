// The pages of the documentation at /docs, as `./dev docs` builds them and the package duewheel-doc installs them.
//
// All files are read at the start: a request never waits for a disk, and can name no other file. They take a few MiB of
// memory. Without them, /docs/ and /docs/errors are the page of error codes that the server always has, so that the
// `type` of a problem document leads to an explanation.
#pragma once

#include <map>
#include <string>

#include "net/http/http_message.h"

namespace duewheel {

class DocsSite {
  public:
    // Reads the files of this directory and those in it, except links. There are none if it has no errors.html.
    explicit DocsSite(const std::string& directory);

    // The response to GET or HEAD for "/docs" or a path that begins with "/docs/"; the ending .html may be missing.
    // Code: unknown_path.
    HttpResponse answer(const HttpRequest& request) const;

  private:
    struct File {
        std::string bytes;
        std::string hash;
    };
    std::map<std::string, File, std::less<>> files_;  // by path, such as "tutorial/library.html"
};

}  // namespace duewheel
