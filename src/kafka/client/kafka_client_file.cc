#include "kafka/client/kafka_client_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/error_codes.h"
#include "net/setting_file.h"

namespace duewheel {
namespace {

constexpr std::size_t kClientFileBytesMax = std::size_t{64} << 10;

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

SettingFile of_setting(const std::string& path) {
    return {"bad_kafka_client_file"_code, "kafka.client_file", path};
}

}  // namespace

Error kafka_client_file_error(const std::string& path, int line, std::string_view what) {
    return of_setting(path).error("line " + std::to_string(line) + ": " + std::string(what));
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
    const Result<Secret> content = read_setting_file(of_setting(path), kClientFileBytesMax, "password",
                                                     "is larger than 64 KiB; give a file of name=value lines");
    if (!content) return content.error();
    return parse_kafka_client_file(path, content->reveal());
}

}  // namespace duewheel
