// Configuration files from bytes: refused in whole lines with a position, or accepted; then the printed configuration
// gives the same settings.
#include <algorithm>
#include <string>

#include "configuration/configuration.h"
#include "configuration/configuration_text.h"
#include "fuzz/fuzz_target.h"

namespace duewheel::settings_fuzz {
namespace {

void judge_errors(const Configuration& configuration) {
    for (const std::string& error : configuration.errors()) {
        const bool clean = std::none_of(error.begin(), error.end(),
                                        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
        require(clean, "an error holds a control character:", error);
        require(error.starts_with("a.toml:") || error.starts_with("default"),
                "an error does not name its place:", error);
        require(error.ends_with('.'), "an error is no sentence:", error);
    }
}

}  // namespace

void fuzz(std::string_view input) {
    Configuration configuration;
    configuration.take_file("a.toml", input);
    configuration.check_orders();
    judge_errors(configuration);
    if (!configuration.errors().empty()) return;
    static_cast<void>(configuration.options());
    const std::string page = settings_in_force(configuration);
    Configuration again;
    again.take_file("a.toml", page);
    require(again.errors().empty(), "what is in force was refused:", again.errors().empty() ? "" : again.errors()[0]);
    for (const Setting& setting : settings()) {
        require(again.of(setting).value == configuration.of(setting).value, "a setting is another:", setting.name);
    }
}

}  // namespace duewheel::settings_fuzz
