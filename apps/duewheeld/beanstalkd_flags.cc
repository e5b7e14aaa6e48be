#include "beanstalkd_flags.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace duewheel {
namespace {

constexpr int kExitRefused = 5;  // of beanstalkd for a wrong flag

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

// To a multiple of a mebibyte, as files of the log need it; other text is left to be refused.
std::string rounded_up(const std::string& size) {
    constexpr std::uint64_t kUnit = 1 << 20;
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), bytes);
    if (error != std::errc() || end != size.data() + size.size() || bytes == 0) return size;
    return std::to_string((bytes / kUnit + (bytes % kUnit != 0 ? 1 : 0)) * kUnit);
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
                std::printf("beanstalkd (duewheel %s)\n", DUEWHEEL_VERSION);
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
                flags.exit_code = kExitRefused;
                return flags;
            default:
                std::fprintf(stderr, "beanstalkd: %s -%c; see beanstalkd -h\n",
                             flag == ':' ? "no value for" : "unknown option", ::optopt);
                flags.exit_code = kExitRefused;
                return flags;
        }
    }
    if (::optind < argc) {
        std::fprintf(stderr, "beanstalkd: unexpected argument %s; see beanstalkd -h\n", argv[::optind]);
        flags.exit_code = kExitRefused;
        return flags;
    }
    if (address.starts_with("unix:")) {
        flags.arguments.push_back("--beanstalk=" + address);
    } else {
        const bool is_v6 = address.find(':') != std::string::npos;
        flags.arguments.push_back("--beanstalk=" + (is_v6 ? "[" + address + "]" : address) + ":" + port);
    }
    if (!directory.empty()) flags.arguments.push_back("--data=" + directory);
    if (!job_max.empty()) flags.arguments.push_back("--beanstalk-job-max=" + job_max + "B");
    if (!file_size.empty()) flags.arguments.push_back("--store-segment-size=" + rounded_up(file_size) + "B");
    if (logs_more) flags.arguments.push_back("--log-level=debug");
    flags.is_temporary = directory.empty() && !is_in_environment("DUEWHEEL_DATA");
    // Several may run beside each other.
    if (!is_in_environment("DUEWHEEL_HTTP")) flags.arguments.push_back("--http=127.0.0.1:0");
    return flags;
}

}  // namespace duewheel
