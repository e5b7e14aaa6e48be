#include "net/kafka_client_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk_guard.h"

namespace duewheel {
namespace {

constexpr std::size_t kClientFileBytesMax = std::size_t{64} << 10;
constexpr std::string_view kClientFileCode = "bad_kafka_client_file";

bool is_accepted(std::string_view name) {
    // One that runs a command, and two that load code.
    static constexpr std::array<std::string_view, 3> kRefused{"sasl.kerberos.kinit.cmd", "ssl.engine.location",
                                                              "ssl.providers"};
    static constexpr std::array<std::string_view, 3> kOthers{"security.protocol", "enable.ssl.certificate.verification",
                                                             "broker.address.family"};
    if (std::find(kRefused.begin(), kRefused.end(), name) != kRefused.end()) return false;
    return name.starts_with("ssl.") || name.starts_with("sasl.") ||
           std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end();
}

std::string_view without_spaces(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\r";
    const std::size_t first = text.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

Error file_error(const std::string& path, std::string_view what) {
    return {kClientFileCode, path + ", the setting kafka.client_file, " + std::string(what)};
}

}  // namespace

Error kafka_client_file_error(const std::string& path, int line, std::string_view what) {
    return file_error(path, "line " + std::to_string(line) + ": " + std::string(what));
}

Result<std::vector<KafkaClientProperty>> parse_kafka_client_file(const std::string& path, std::string_view text) {
    std::vector<KafkaClientProperty> properties;
    for (int number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view line = without_spaces(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.empty() || line.front() == '#') continue;
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) {
            return kafka_client_file_error(path, number, "there is no =; write name=value");
        }
        const std::string name(without_spaces(line.substr(0, equals)));
        if (!is_accepted(name)) {
            return kafka_client_file_error(path, number,
                                           "the property " + name +
                                               " is not accepted here; remove it: the file is for TLS and SASL "
                                               "(security.protocol, ssl.*, sasl.*)");
        }
        properties.push_back(
            {.name = name, .value = Secret(std::string(without_spaces(line.substr(equals + 1)))), .line = number});
    }
    return properties;
}

Result<std::vector<KafkaClientProperty>> read_kafka_client_file(const std::string& path) {
    assert_disk_is_allowed();
    struct Descriptor {
        const int fd;
        ~Descriptor() {
            if (fd >= 0) ::close(fd);
        }
    };
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat about {};
    if (file.fd < 0 || ::fstat(file.fd, &about) != 0) {
        return file_error(
            path, "cannot be read: " + std::string(std::strerror(errno)) + "; check the path and the permissions");
    }
    if (!S_ISREG(about.st_mode)) return file_error(path, "is not a file; check the path");
    if ((about.st_mode & (S_IWGRP | S_IRWXO)) != 0) {
        return file_error(path,
                          "can be read or changed by other users; run chmod 600 on it (640 if its group needs it), and "
                          "replace the password if it may have been read");
    }
    std::string text(kClientFileBytesMax + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t part = ::read(file.fd, text.data() + size, text.size() - size);
        if (part < 0) return file_error(path, "cannot be read: " + std::string(std::strerror(errno)));
        if (part == 0) break;
        size += static_cast<std::size_t>(part);
    }
    const Secret content{text.substr(0, size)};
    ::explicit_bzero(text.data(), text.size());
    if (size > kClientFileBytesMax) return file_error(path, "is larger than 64 KiB; give a file of name=value lines");
    return parse_kafka_client_file(path, content.reveal());
}

}  // namespace duewheel
