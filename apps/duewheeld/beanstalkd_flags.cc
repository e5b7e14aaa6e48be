#include "beanstalkd_flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <arpa/inet.h>
#include <unistd.h>

#include "base/version.h"

namespace duewheel {
namespace {

constexpr int kExitWrongFlag = 5;  // of beanstalkd for a wrong flag

constexpr std::string_view kHelp =
    "Use: beanstalkd [OPTIONS]\n"
    "This is duewheeld, which takes the options of beanstalkd under this name.\n\n"
    " -b DIR   keep jobs in DIR; without it they are kept while the process lives\n"
    " -f MS    no effect: each job is on disk before the reply\n"
    " -F       no effect, as -f\n"
    " -l ADDR  listen on address (default is 127.0.0.1), or on unix:PATH\n"
    " -p PORT  listen on port (default is 11300)\n"
    " -z BYTES maximum size of a job (default is 65535)\n"
    " -s BYTES size of each file of the log, rounded up to a multiple of 1048576\n"
    " -v       print the version\n"
    " -V       log more\n"
    " -c, -n   no effect\n"
    " -h       print this help\n\n"
    "Variables DUEWHEEL_* of the environment give all other settings. See duewheeld --help.\n";

bool is_in_environment(const char* name) {
    return std::getenv(name) != nullptr;
}

// None: it is not a number.
std::optional<std::uint64_t> bytes_of(const std::string& text) {
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (text.empty() || end != text.data() + text.size()) return std::nullopt;
    return error == std::errc() ? bytes : UINT64_MAX;
}

// To a multiple of a mebibyte, as files of the log need it; other text is left to be refused.
std::string rounded_up(const std::string& size) {
    constexpr std::uint64_t kUnit = 1 << 20;
    const std::optional<std::uint64_t> bytes = bytes_of(size);
    if (!bytes || *bytes > UINT64_MAX - kUnit) return size;
    return std::to_string(std::max<std::uint64_t>(*bytes / kUnit + (*bytes % kUnit != 0 ? 1 : 0), 1) * kUnit);
}

// A job of the maximum size must also be allowed to wait for the disk.
void add_job_max(const std::string& size, std::vector<std::string>& arguments) {
    constexpr std::uint64_t kMax = 1 << 30;           // of beanstalkd too
    constexpr std::uint64_t kWaitingMax = 256 << 20;  // by default
    const std::optional<std::uint64_t> given = bytes_of(size);
    if (!given) return arguments.push_back("--beanstalk-job-max=" + size + "B");
    if (*given > kMax)
        std::fprintf(stderr, "beanstalkd: the maximum size of a job is set to %ju\n", std::uintmax_t{kMax});
    const std::uint64_t bytes = std::min(*given, kMax);
    arguments.push_back("--beanstalk-job-max=" + std::to_string(bytes) + "B");
    if (bytes > kWaitingMax && !is_in_environment("DUEWHEEL_LIMITS_WAITING_MAX")) {
        arguments.push_back("--limits-waiting-max=" + std::to_string(bytes) + "B");
    }
}

// Short forms of IPv4 addresses, such as 0 for 0.0.0.0, are written out.
std::string written_out(const std::string& address) {
    in_addr parsed{};
    std::array<char, INET_ADDRSTRLEN> text{};
    if (::inet_aton(address.c_str(), &parsed) == 0) return address;
    return ::inet_ntop(AF_INET, &parsed, text.data(), text.size());
}

}  // namespace

TemporaryStore::TemporaryStore() {
    std::error_code ignored;
    path_ = (std::filesystem::temp_directory_path(ignored) / "beanstalkd-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
}

TemporaryStore::~TemporaryStore() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

bool is_named_beanstalkd(const char* program) {
    const std::string_view path = program == nullptr ? "" : program;
    return path.substr(path.rfind('/') + 1) == "beanstalkd";
}

BeanstalkdFlags read_beanstalkd_flags(int argc, char** argv) {
    BeanstalkdFlags flags;
    std::string address = "127.0.0.1";
    std::string port = "11300";
    std::string directory;
    std::string job_max;
    std::string file_size;
    bool logs_more = false;
    ::opterr = 0;
    for (int flag = 0; (flag = ::getopt(argc, argv, ":b:f:Fl:p:u:z:s:vVhcn")) != -1;) {
        switch (flag) {
            case 'b':
                directory = ::optarg;
                break;
            case 'l':
                address = ::optarg;
                break;
            case 'p':
                port = ::optarg;
                break;
            case 'z':
                job_max = ::optarg;
                break;
            case 's':
                file_size = ::optarg;
                break;
            case 'V':
                logs_more = true;  // -VVV is common
                break;
            case 'v':
                std::printf("beanstalkd (duewheel %s)\n", kVersion);
                flags.exit_code = EXIT_SUCCESS;
                return flags;
            case 'h':
                std::fputs(kHelp.data(), stdout);
                flags.exit_code = EXIT_SUCCESS;
                return flags;
            case 'f':
            case 'F':
            case 'c':
            case 'n':
                break;
            case 'u':
                std::fprintf(stderr, "beanstalkd: -u is not supported: start it as user %s\n", ::optarg);
                flags.exit_code = kExitWrongFlag;
                return flags;
            default:
                std::fprintf(stderr, "beanstalkd: %s -%c; see beanstalkd -h\n",
                             flag == ':' ? "no value for" : "unknown option", ::optopt);
                flags.exit_code = kExitWrongFlag;
                return flags;
        }
    }
    if (::optind < argc) {
        std::fprintf(stderr, "beanstalkd: unexpected argument %s; see beanstalkd -h\n", argv[::optind]);
        flags.exit_code = kExitWrongFlag;
        return flags;
    }
    if (address.starts_with("unix:")) {
        flags.arguments.push_back("--beanstalk=" + address);
    } else {
        const bool is_v6 = address.find(':') != std::string::npos;
        flags.arguments.push_back("--beanstalk=" + (is_v6 ? "[" + address + "]" : written_out(address)) + ":" + port);
    }
    if (!directory.empty()) flags.arguments.push_back("--data=" + directory);
    if (!job_max.empty()) add_job_max(job_max, flags.arguments);
    if (!file_size.empty()) flags.arguments.push_back("--store-segment-size=" + rounded_up(file_size) + "B");
    if (logs_more) flags.arguments.push_back("--log-level=debug");
    flags.is_temporary = directory.empty() && !is_in_environment("DUEWHEEL_DATA");
    // Several may run beside each other.
    if (!is_in_environment("DUEWHEEL_HTTP")) flags.arguments.push_back("--http=127.0.0.1:0");
    return flags;
}

}  // namespace duewheel
