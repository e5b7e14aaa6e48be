#include "duewheel/client/testing.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json_text.h"

namespace duewheel::client {

using namespace std::chrono_literals;

namespace {

constexpr auto kReadyWithin = 60s;
constexpr auto kIdleWithin = 30s;
constexpr auto kPollEvery = 20ms;
constexpr int kQuietPolls = 3;  // in a row: what a schedule creates may come a moment after an advance

long number_of(std::string_view object, std::string_view name) {
    const std::string_view text = member_of(object, name);
    long number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// The first line that a program writes; what there is after `timeout`.
std::string read_line(int end, std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    std::string line;
    while (line.find('\n') == std::string::npos) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd waited{end, POLLIN, 0};
        if (left.count() <= 0 || poll(&waited, 1, static_cast<int>(left.count())) == 0) break;
        std::array<char, 256> bytes{};
        const ssize_t size = ::read(end, bytes.data(), bytes.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        line.append(bytes.data(), static_cast<std::size_t>(size));
    }
    return line;
}

}  // namespace

TestServer::TestServer(const std::vector<std::string>& arguments) {
    std::string name = (std::filesystem::temp_directory_path() / "duewheel-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("there is no temporary directory " + name);
    directory_ = name;
    const char* const folder = std::getenv("DUEWHEEL_BIN");
    const std::string program = folder != nullptr ? std::string(folder) + "/duewheeld" : "duewheeld";
    const std::string log = directory_ + "/log";
    std::vector<std::string> words{program, "--http", "127.0.0.1:0", "--test-clock", "--data", directory_ + "/data"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("there is no pipe for duewheeld");
    process_ = fork();
    if (process_ == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(::open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), STDERR_FILENO);
        execvp(argv[0], argv.data());
        _exit(127);
    }
    ::close(ends[1]);
    const std::string line = read_line(ends[0], kReadyWithin);
    ::close(ends[0]);
    const std::string mark = "ready http=";
    const std::size_t end = line.find_first_of(" \n", mark.size());
    if (!line.starts_with(mark) || end == std::string::npos) {
        std::ifstream file(log);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        shut_down();
        throw std::runtime_error(
            "duewheeld did not start: install the package duewheel, or name its folder in DUEWHEEL_BIN. Its log:\n" +
            text);
    }
    url_ = "http://" + line.substr(mark.size(), end - mark.size());
    client_ = std::make_unique<Client>(url_);
}

TestServer::~TestServer() {
    shut_down();
}

void TestServer::shut_down() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

void TestServer::wait_until(const char* what, bool (*holds)(long ready, long leased)) const {
    const auto deadline = std::chrono::steady_clock::now() + kIdleWithin;
    for (int quiet = 0; quiet < kQuietPolls; std::this_thread::sleep_for(kPollEvery)) {
        const std::string stats = client_->call("GET", "/stats").value().text;
        const long ready = number_of(stats, "ready");
        const long leased = number_of(stats, "leased");
        quiet = holds(ready, leased) ? quiet + 1 : 0;
        if (quiet == 0 && std::chrono::steady_clock::now() > deadline) {
            throw std::runtime_error("after 30 s it does not hold that " + std::string(what) + ": " +
                                     std::to_string(ready) + " ready, " + std::to_string(leased) +
                                     " leased. Does a worker handle each queue, and do its handlers return?");
        }
    }
}

void TestServer::advance(Duration by) {
    wait_until("no message is leased", [](long, long leased) { return leased == 0; });
    static_cast<void>(client_->advance(by).value());
}

void TestServer::run_until_idle() {
    wait_until("no message is ready or leased", [](long ready, long leased) { return ready == 0 && leased == 0; });
}

std::vector<Message> TestServer::messages(const std::string& queue) const {
    std::vector<Message> all;
    ListOptions options;
    do {
        const Page page = client_->list(queue, options).value();
        for (const Message& listed : page.messages) all.push_back(client_->get(listed.id).value());
        options.cursor = page.cursor;
    } while (!options.cursor.empty());
    return all;
}

}  // namespace duewheel::client
