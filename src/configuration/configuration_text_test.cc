// docs/configuration.md and docs/duewheel.toml are generated from the table of settings. After a change of the table,
// DUEWHEEL_RECORD=1 build/release/bin/configuration_test writes them again.
#include "configuration/configuration_text.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "configuration/toml_text.h"

namespace duewheel::configuration_text_test {
namespace {

const std::string kPage = DUEWHEEL_SOURCE_DIR "/docs/configuration.md";
const std::string kExample = DUEWHEEL_SOURCE_DIR "/docs/duewheel.toml";
constexpr std::string_view kBegin = "<!-- Made from src/configuration/setting.cc. -->\n\n";
constexpr std::string_view kEnd = "\n<!-- The end of what is made. -->";

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void expect_content(const std::string& path, const std::string& wanted) {
    if (std::getenv("DUEWHEEL_RECORD") != nullptr) std::ofstream(path, std::ios::binary) << wanted;
    EXPECT_TRUE(content_of(path) == wanted)
        << path << " is not what the table of settings says. Write it anew with DUEWHEEL_RECORD=1.";
}

TEST(ConfigurationText, the_documentation_holds_the_table) {
    std::string page = content_of(kPage);
    const std::size_t begin = page.find(kBegin);
    const std::size_t end = page.find(kEnd);
    ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end) << kPage;
    page.replace(begin + kBegin.size(), end - begin - kBegin.size(), settings_tables());
    expect_content(kPage, page);
}

TEST(ConfigurationText, the_example_file_holds_every_setting_at_its_default) {
    expect_content(kExample, example_file());
}

TEST(ConfigurationText, the_example_file_changes_nothing_whether_its_lines_count_or_not) {
    std::string text = example_file();
    Configuration untouched;
    untouched.take_file("example", text);
    EXPECT_EQ(untouched.errors(), std::vector<std::string>{});
    for (const Setting& setting : settings()) EXPECT_EQ(untouched.of(setting).origin, "default") << setting.name;

    for (std::size_t at = 0; (at = text.find("\n#", at)) != std::string::npos; ++at) {
        if (text[at + 2] != ' ') text.erase(at + 1, 1);
    }
    Configuration all;
    all.take_file("example", text);
    EXPECT_EQ(all.errors(), std::vector<std::string>{});
    for (const Setting& setting : settings()) {
        EXPECT_TRUE(all.is_default(setting)) << setting.name;
        EXPECT_TRUE(all.of(setting).origin.starts_with("example:")) << setting.name;
    }
}

TEST(ConfigurationText, printed_settings_name_their_source_and_are_an_equivalent_file) {
    Configuration configuration;
    configuration.take_file("f.toml", "[log]\nlevel = \"debug\"");
    configuration.take_flag(*find_setting("data"), "a \"strange\" place\\");
    const std::string page = settings_in_force(configuration);
    EXPECT_NE(page.find("\ndata = \"a \\\"strange\\\" place\\\\\"  # --data\n"), std::string::npos) << page;
    EXPECT_NE(page.find("\nlevel = \"debug\"  # f.toml:2\n"), std::string::npos) << page;
    EXPECT_NE(page.find("\nconnections_max = 10000  # default\n"), std::string::npos) << page;

    Configuration again;
    again.take_file("again", page);
    EXPECT_EQ(again.errors(), std::vector<std::string>{});
    for (const Setting& setting : settings()) {
        EXPECT_EQ(again.of(setting).value, configuration.of(setting).value) << setting.name;
    }
}

}  // namespace
}  // namespace duewheel::configuration_text_test
