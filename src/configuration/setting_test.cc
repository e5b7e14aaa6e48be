#include "configuration/setting.h"

#include <set>

#include <gtest/gtest.h>

#include "configuration/setting_text.h"

namespace duewheel::setting_test {
namespace {

// Some allowed value that is not the default.
SettingValue another_value(const Setting& setting) {
    const SettingValue value = setting.default_value();
    if (const bool* yes = std::get_if<bool>(&value)) return !*yes;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        if (setting.kind == SettingKind::choice) return *number == 0 ? std::int64_t{1} : std::int64_t{0};
        return *number == setting.max ? setting.min : setting.max;
    }
    if (std::holds_alternative<std::string>(value)) return std::string("another");
    return std::vector<std::string>{"another"};
}

TEST(Setting, names_flags_and_variables_are_each_used_once) {
    std::set<std::string> names, flags, variables;
    for (const Setting& setting : settings()) {
        EXPECT_TRUE(names.insert(std::string(setting.name)).second) << setting.name;
        EXPECT_TRUE(flags.insert(setting.flag()).second) << setting.flag();
        EXPECT_TRUE(variables.insert(setting.environment()).second) << setting.environment();
        EXPECT_EQ(find_setting(setting.name), &setting);
    }
    EXPECT_EQ(find_setting("http"), nullptr);
}

TEST(Setting, flag_and_variable_follow_from_the_name) {
    const Setting& timeout = *find_setting("http.idle_timeout");
    EXPECT_EQ(timeout.section(), "http");
    EXPECT_EQ(timeout.key(), "idle_timeout");
    EXPECT_EQ(timeout.flag(), "--http-idle-timeout");
    EXPECT_EQ(timeout.environment(), "DUEWHEEL_HTTP_IDLE_TIMEOUT");
    EXPECT_EQ(find_setting("http.listen")->flag(), "--http");
    EXPECT_EQ(find_setting("http.listen")->environment(), "DUEWHEEL_HTTP");
    EXPECT_EQ(find_setting("kafka.in.topics")->section(), "kafka.in");
    EXPECT_EQ(find_setting("kafka.in.topics")->key(), "topics");
    EXPECT_EQ(find_setting("kafka.in.topics")->environment(), "DUEWHEEL_KAFKA_IN_TOPICS");
    EXPECT_EQ(find_setting("data")->section(), "");
    EXPECT_EQ(find_setting("data")->key(), "data");
    EXPECT_EQ(find_setting("data")->environment(), "DUEWHEEL_DATA");
}

TEST(Setting, sections_stand_together_and_the_nameless_one_first) {
    std::set<std::string_view> left;
    std::string_view section;
    for (const Setting& setting : settings()) {
        if (setting.section() == section) continue;
        EXPECT_FALSE(left.contains(setting.section())) << setting.name;
        left.insert(section);
        section = setting.section();
        EXPECT_EQ(find_setting(section), nullptr) << "a section and a setting of one name";
    }
}

// `leases.grace` was a row of the table, and the pages named it, but its section was in no list: the daemon refused it.
TEST(Setting, every_row_of_the_tables_can_be_given) {
    EXPECT_NE(find_setting("leases.grace"), nullptr);
    for (const Limit& limit : limits()) {
        EXPECT_EQ(find_setting(limit.name) == nullptr, limit.is_fixed()) << limit.name;
    }
}

TEST(Setting, every_default_is_a_valid_value) {
    for (const Setting& setting : settings()) {
        if (const auto checked = check_bounds(setting, setting.default_value()); !checked) {
            ADD_FAILURE() << checked.error().message;
        }
        EXPECT_TRUE(setting.sentence.ends_with('.')) << setting.name;
    }
}

TEST(Setting, each_changes_a_member_of_its_own) {
    for (const Setting& setting : settings()) {
        ServerOptions options;
        const SettingValue wanted = another_value(setting);
        setting.write(options, wanted);
        for (const Setting& each : settings()) {
            EXPECT_EQ(each.read(options) == each.default_value(), &each != &setting)
                << setting.name << " " << each.name;
        }
        EXPECT_EQ(setting.read(options), wanted) << setting.name;
    }
}

TEST(Setting, settings_that_limit_each_other_can_be_compared) {
    for (const SettingOrder& order : setting_orders()) {
        const Setting* smaller = find_setting(order.smaller);
        const Setting* larger = find_setting(order.larger);
        ASSERT_TRUE(smaller != nullptr && larger != nullptr) << order.smaller << " " << order.larger;
        EXPECT_EQ(smaller->kind, larger->kind);
        EXPECT_LE(smaller->default_value(), larger->default_value());
    }
}

}  // namespace
}  // namespace duewheel::setting_test
