// The flags of beanstalkd, for a daemon that is started under that name: scripts and test suites of clients start the
// program themselves.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace duewheel {

struct BeanstalkdFlags {
    std::optional<int> exit_code;        // set if the daemon must not run: its output has been printed
    std::vector<std::string> arguments;  // of duewheeld, without its name
    bool is_temporary = false;           // without -b, jobs are kept only while the process lives
};

// A data directory that is removed at the end. Empty path: it could not be created.
class TemporaryStore {
  public:
    TemporaryStore();
    ~TemporaryStore();
    TemporaryStore(const TemporaryStore&) = delete;
    TemporaryStore& operator=(const TemporaryStore&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

bool is_named_beanstalkd(const char* program);

// Prints the requested output on standard output, and errors on standard error.
BeanstalkdFlags read_beanstalkd_flags(int argc, char** argv);

}  // namespace duewheel
