#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "message/work_state.h"
#include "work.h"

extern char** environ;

namespace duewheel {
namespace {

constexpr int kPollMs = 50;

void close_end(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
}

Error cannot_run(const char* what) {
    return {"cannot_run"_code, std::string("The command cannot be run: ") + what + ": " + std::strerror(errno) + "."};
}

// The last whole lines that fit into a reason; of a line that is longer, its end. A stack trace ends with the exception
// and where it was thrown.
std::string_view last_lines(std::string_view text) {
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    if (text.size() > kReasonBytesMax) {
        text.remove_prefix(text.size() - kReasonBytesMax);
        text.remove_prefix(text.find('\n') + 1);
    }
    return text.substr(std::min(text.find_first_not_of("\r\n"), text.size()));
}

// Variables of the command for one message. A worker may itself run in such a command, and those of the other message
// are not passed on.
bool is_of_a_message(std::string_view variable) {
    constexpr std::string_view kBeginnings[] = {"DUEWHEEL_MESSAGE_",
                                                "DUEWHEEL_WORKER=", "DUEWHEEL_CHECKPOINT=", "DUEWHEEL_PROGRESS_FILE="};
    return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                       [&](std::string_view beginning) { return variable.starts_with(beginning); });
}

// The caller's environment without its token, and with `variables` in place of those of the same name.
std::vector<char*> joined_environment(const std::vector<std::string>& variables) {
    std::vector<char*> joined;
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view text(*each);
        const std::string_view name = text.substr(0, text.find('=') + 1);
        const bool replaced = std::any_of(variables.begin(), variables.end(),
                                          [&](const std::string& variable) { return variable.starts_with(name); });
        if (!replaced && name != "DUEWHEEL_TOKEN=" && !is_of_a_message(text)) joined.push_back(*each);
    }
    for (const std::string& variable : variables) joined.push_back(const_cast<char*>(variable.c_str()));
    joined.push_back(nullptr);
    return joined;
}

struct Pipe {
    int read = -1;
    int write = -1;

    bool open() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
        read = ends[0];
        write = ends[1];
        return true;
    }
    ~Pipe() {
        close_end(read);
        close_end(write);
    }
};

}  // namespace

Result<Child> Child::start(const std::string& command, const std::vector<std::string>& variables, bool keeps_output) {
    Pipe input;
    Pipe errors;
    Pipe output;
    if (!input.open() || !errors.open() || (keeps_output && !output.open())) return cannot_run("no pipe");
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&files, input.read, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, errors.write, STDERR_FILENO);
    if (keeps_output) posix_spawn_file_actions_adddup2(&files, output.write, STDOUT_FILENO);
    sigset_t usual;
    sigset_t none;
    ::sigemptyset(&none);
    ::sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) ::sigaddset(&usual, signal);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    std::string shell = "sh";
    std::string option = "-c";
    std::string text = command;
    std::array<char*, 4> arguments = {shell.data(), option.data(), text.data(), nullptr};
    pid_t process = -1;
    const int failed =
        ::posix_spawn(&process, "/bin/sh", &files, &attributes, arguments.data(), joined_environment(variables).data());
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0) {
        errno = failed;
        return cannot_run("no process");
    }
    ::fcntl(input.write, F_SETFL, O_NONBLOCK);
    ::fcntl(errors.read, F_SETFL, O_NONBLOCK);
    if (keeps_output) ::fcntl(output.read, F_SETFL, O_NONBLOCK);
    return Child(process, std::exchange(input.write, -1), std::exchange(errors.read, -1),
                 std::exchange(output.read, -1));
}

Child::Child(Child&& other) noexcept
    : group_(other.group_),
      process_(std::exchange(other.process_, -1)),
      input_(std::exchange(other.input_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      output_(std::exchange(other.output_, -1)),
      status_(other.status_),
      said_(std::move(other.said_)),
      kept_(std::move(other.kept_)) {}

Child::~Child() {
    close_end(input_);
    close_end(errors_);
    close_end(output_);
    if (process_ > 0) {
        ::kill(-process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
}

ChildEnd Child::wait(std::string_view input, const std::function<int()>& each_while) {
    int sent = 0;
    if (input.empty()) close_end(input_);
    while (!has_ended(sent)) {
        if (const int signal = each_while(); signal != sent) ::kill(-group_, sent = signal);
        std::array<pollfd, 3> ends = {pollfd{input_, POLLOUT, 0}, pollfd{errors_, POLLIN, 0},
                                      pollfd{output_, POLLIN, 0}};
        // With both closed the process will end soon: check more often.
        ::poll(ends.data(), ends.size(), errors_ < 0 && output_ < 0 && sent == 0 ? 1 : kPollMs);
        if (ends[0].revents != 0) feed(input);
        if (ends[1].revents != 0) listen();
        if (ends[2].revents != 0) keep_output();
    }
    listen();
    keep_output();
    close_end(input_);
    close_end(errors_);
    close_end(output_);
    return end();
}

void Child::feed(std::string_view& input) {
    while (!input.empty()) {
        const ssize_t written = ::write(input_, input.data(), input.size());
        if (written < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (written < 0) break;  // it has stopped reading
        input.remove_prefix(static_cast<std::size_t>(written));
    }
    close_end(input_);
}

void Child::listen() {
    std::array<char, 4096> bytes;
    while (errors_ >= 0) {
        const ssize_t got = ::read(errors_, bytes.data(), bytes.size());
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) return close_end(errors_);
        const std::string_view text(bytes.data(), static_cast<std::size_t>(got));
        for (std::string_view rest = text; !rest.empty();) {
            const ssize_t passed = ::write(STDERR_FILENO, rest.data(), rest.size());
            if (passed <= 0) break;
            rest.remove_prefix(static_cast<std::size_t>(passed));
        }
        said_.append(text);
    }
}

// Reads all of it, so that the command can write, and keeps one byte more than a result may have.
void Child::keep_output() {
    std::array<char, 4096> bytes;
    while (output_ >= 0) {
        const ssize_t got = ::read(output_, bytes.data(), bytes.size());
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) return close_end(output_);
        kept_.append(bytes.data(), std::min(static_cast<std::size_t>(got), kResultBytesMax + 1 - kept_.size()));
    }
}

bool Child::has_ended(int sent) {
    if (process_ > 0 && ::waitpid(process_, &status_, WNOHANG) == process_) process_ = -1;
    const bool others_may_run = sent == SIGTERM && ::kill(-group_, 0) == 0;
    return process_ < 0 && !others_may_run;
}

ChildEnd Child::end() const {
    if (WIFEXITED(status_) && WEXITSTATUS(status_) == 0) return {true, {}, kept_};
    const std::string_view reason = last_lines(said_.end().empty() ? said_.beginning() : said_.end());
    if (!reason.empty()) return {false, std::string(reason), {}};
    if (WIFEXITED(status_)) return {false, "exit status " + std::to_string(WEXITSTATUS(status_)), {}};
    return {false, "killed by signal " + std::to_string(WTERMSIG(status_)), {}};
}

}  // namespace duewheel
