// The precedence of settings, and the exact text of every error, because an operator sees nothing else.
#include "configuration/configuration.h"

#include <gtest/gtest.h>

#include "configuration/setting_text.h"

namespace duewheel::configuration_test {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;
using Lines = std::vector<std::string>;

Lines errors_of(std::string_view text) {
    Configuration configuration;
    configuration.take_file("f.toml", text);
    if (configuration.errors().empty()) configuration.check_orders();
    return configuration.errors();
}

std::string in_force(const Configuration& configuration, std::string_view name) {
    const Setting& setting = *find_setting(name);
    return format_setting(setting, configuration.of(setting).value) + " from " + configuration.of(setting).origin;
}

TEST(Configuration, a_flag_wins_over_the_environment_and_that_over_the_file) {
    Configuration configuration;
    EXPECT_EQ(in_force(configuration, "http.idle_timeout"), "\"1m15s\" from default");
    configuration.take_file("f.toml", "[http]\nidle_timeout = \"2s\"\nconnections_max = 2\nbody_max = \"2MiB\"\n");
    configuration.take_environment(
        Variables{{"DUEWHEEL_HTTP_CONNECTIONS_MAX", "3"}, {"DUEWHEEL_HTTP_BODY_MAX", "3MiB"}, {"PATH", "x"}});
    configuration.take_flag(*find_setting("http.body_max"), "4MiB");
    EXPECT_EQ(configuration.errors(), Lines{});
    EXPECT_EQ(in_force(configuration, "http.idle_timeout"), "\"2s\" from f.toml:2");
    EXPECT_EQ(in_force(configuration, "http.connections_max"), "3 from DUEWHEEL_HTTP_CONNECTIONS_MAX");
    EXPECT_EQ(in_force(configuration, "http.body_max"), "\"4MiB\" from --http-body-max");
    EXPECT_EQ(in_force(configuration, "http.unsent_max"), "\"256MiB\" from default");

    const ServerOptions options = configuration.options();
    EXPECT_EQ(options.http.idle_timeout, std::chrono::seconds(2));
    EXPECT_EQ(options.http.connections_max, 3u);
    EXPECT_EQ(options.http.body_bytes_max, 4u << 20);
    EXPECT_EQ(options.http.unsent_bytes_max, 256u << 20);
}

TEST(Configuration, every_kind_can_stand_in_a_file) {
    Configuration configuration;
    configuration.take_file("f.toml",
                            "data = \"/data\"\nunsafe_plain_listen = true\n"
                            "http.connections_max = 5\n[retry]\nfactor = 1.5\njitter = 1\n"
                            "[store]\nsegment_size = \"8MiB\"\n[log]\nlevel = \"warning\"\n");
    EXPECT_EQ(configuration.errors(), Lines{});
    const ServerOptions options = configuration.options();
    EXPECT_EQ(options.data_directory, "/data");
    EXPECT_TRUE(options.unsafe_plain_listen);
    EXPECT_EQ(options.http.connections_max, 5u);
    EXPECT_EQ(options.engine.retry.factor_permille, 1500);
    EXPECT_EQ(options.engine.retry.jitter_permille, 1000);
    EXPECT_EQ(options.segment_bytes, 8u << 20);
    EXPECT_EQ(options.free_floor_bytes, std::nullopt);
    EXPECT_EQ(options.log.level, LogLevel::warning);
}

TEST(Configuration, a_key_that_is_not_known_is_an_error_with_its_place_and_the_nearest_one) {
    EXPECT_EQ(errors_of("\n  dta = 1\n"),
              Lines{"f.toml:2:3: unknown setting `dta`; did you mean `data`? See `duewheeld --help`."});
    EXPECT_EQ(errors_of("[http]\nidle_timout = \"1s\""),
              Lines{"f.toml:2:1: unknown setting `http.idle_timout`; did you mean `http.idle_timeout`? See `duewheeld "
                    "--help`."});
    EXPECT_EQ(errors_of("workers = 4"), Lines{"f.toml:1:1: unknown setting `workers`; see `duewheeld --help`."});
    EXPECT_EQ(errors_of("[amqp]"), Lines{"f.toml:1:2: unknown section `amqp`; see `duewheeld --help`."});
    // The key without its section.
    EXPECT_EQ(
        errors_of("segment_size = \"1MiB\""),
        Lines{
            "f.toml:1:1: unknown setting `segment_size`; did you mean `store.segment_size`? See `duewheeld --help`."});
    EXPECT_EQ(errors_of("[htpp]\nlisten = 1\nother = 2\n[htpp.deep]\nx = 1"),
              Lines{"f.toml:1:2: unknown section `htpp`; did you mean `http`? See `duewheeld --help`."});
    EXPECT_EQ(errors_of("http = \"127.0.0.1:1\""),
              Lines{"f.toml:1:1: `http` is a section; write [http] on a line of its own and its settings below it."});
    EXPECT_EQ(errors_of("[http.listen]\nx = 1").front(), "f.toml:1:7: `http.listen` must be a string, not a section.");
    EXPECT_EQ(errors_of("[data]").front(), "f.toml:1:2: `data` must be a string, not a section.");
}

TEST(Configuration, a_value_of_another_kind_is_an_error_at_the_value) {
    EXPECT_EQ(errors_of("data = 7"), Lines{"f.toml:1:8: `data` must be a string, not the number 7."});
    EXPECT_EQ(errors_of("unsafe_plain_listen = \"true\""),
              Lines{"f.toml:1:23: `unsafe_plain_listen` must be true or false, not the string \"true\"."});
    EXPECT_EQ(errors_of("[http]\nconnections_max = \"5\""),
              Lines{"f.toml:2:19: `http.connections_max` must be a whole number, not the string \"5\"."});
    EXPECT_EQ(errors_of("[http]\nconnections_max = 5.0"),
              Lines{"f.toml:2:19: `http.connections_max` must be a whole number, not a decimal number."});
    EXPECT_EQ(
        errors_of("[http]\nidle_timeout = 75"),
        Lines{"f.toml:2:16: `http.idle_timeout` must be a duration with a unit, such as \"30s\", not the number 75."});
    EXPECT_EQ(
        errors_of("[http]\nidle_timeout = 07:32:00"),
        Lines{"f.toml:2:16: `http.idle_timeout` must be a duration with a unit, such as \"30s\", not a date or time."});
    for (const std::string factor : {"1.0001", "-0.5", "1e+300", "inf", "nan"}) {
        EXPECT_EQ(errors_of("[retry]\nfactor = " + factor),
                  Lines{"f.toml:2:10: `retry.factor` must be a number with up to 3 decimals, such as 1.5, not " +
                        factor + "."});
    }
    EXPECT_EQ(errors_of("[retry]\nfactor = 0.5"), Lines{"f.toml:2:10: `retry.factor` is 0.5; choose 1 to 100."});
    EXPECT_EQ(errors_of("data = [\"a\"]"), Lines{"f.toml:1:8: `data` must be a string, not a list."});
    EXPECT_EQ(errors_of("data = true"), Lines{"f.toml:1:8: `data` must be a string, not true."});
}

TEST(Configuration, a_value_out_of_range_is_an_error_that_names_the_range) {
    EXPECT_EQ(errors_of("[http]\nconnections_max = 0"),
              Lines{"f.toml:2:19: `http.connections_max` is 0; choose 1 to 1000000."});
    EXPECT_EQ(errors_of("[store]\nsegment_size = \"1000KiB\""),
              Lines{"f.toml:2:16: `store.segment_size` is 1000KiB; choose auto, or 1MiB to 1GiB, a multiple of 1MiB."});
    EXPECT_EQ(errors_of("[log]\nlevel = \"loud\""),
              Lines{"f.toml:2:9: `log.level` must be one of debug, info, warning or error, not \"loud\"."});
    EXPECT_EQ(errors_of("data = \"\""), Lines{"f.toml:1:8: `data` is empty; give a value or remove the setting."});
}

// A name in quotes may hold a line break or an escape: the error that quoted it was two lines, or drove the terminal.
TEST(Configuration, an_error_is_one_line_whatever_it_quotes) {
    Configuration configuration;
    configuration.take_file("a.toml", "\"a\\n\\u001b[2J\" = 1\n");
    ASSERT_EQ(configuration.errors().size(), 1u);
    EXPECT_NE(configuration.errors()[0].find("`a\\x0a\\x1b[2J`"), std::string::npos) << configuration.errors()[0];
    EXPECT_EQ(configuration.errors()[0].find('\n'), std::string::npos);
}

TEST(Configuration, all_errors_are_reported_at_once) {
    EXPECT_EQ(errors_of("dta = 1\n[http]\nconnections_max = 0\nx = 1\n").size(), 3u);
}

TEST(Configuration, invalid_toml_is_reported_with_its_position) {
    const Lines errors = errors_of("data = \"x\"\nunsafe_plain_listen = yes\n");
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_TRUE(errors[0].starts_with("f.toml:2:23: invalid TOML: ")) << errors[0];
}

TEST(Configuration, two_conflicting_settings_are_an_error_at_the_changed_one) {
    EXPECT_EQ(errors_of("[retry]\nfirst = \"1h\"\nmax = \"1m\""),
              Lines{"f.toml:2:9: `retry.first` = \"1h\" is greater than `retry.max` = \"1m\"; the first backoff must "
                    "not exceed the maximum. Change one of them."});
    EXPECT_EQ(errors_of("[http]\nbody_max = \"512KiB\""),
              Lines{"f.toml:2:12: `limits.body_max` = \"1MiB\" is greater than `http.body_max` = \"512KiB\"; a message "
                    "body of the maximum size must fit into a request. Change one of them."});
}

TEST(Configuration, a_variable_or_a_flag_is_read_as_strictly) {
    Configuration configuration;
    configuration.take_environment(Variables{{"DUEWHEEL_HTTP_CONNECTIONS_MAX", "many"}});
    configuration.take_flag(*find_setting("http.idle_timeout"), "75");
    EXPECT_EQ(
        configuration.errors(),
        (Lines{
            "DUEWHEEL_HTTP_CONNECTIONS_MAX: `http.connections_max` must be a whole number, not \"many\".",
            "--http-idle-timeout: `http.idle_timeout` must be a duration with a unit, such as \"30s\", not \"75\"."}));
}

TEST(Configuration, a_misspelled_variable_causes_a_warning) {
    Configuration configuration;
    configuration.take_environment(Variables{
        {"DUEWHEEL_HTPT", "x"}, {"DUEWHEEL_SERVER", "x"}, {"DUEWHEEL_CONFIG", "x"}, {"DUEWHEEL_SOMETHING_ELSE", "x"}});
    EXPECT_EQ(configuration.errors(), Lines{});
    EXPECT_EQ(configuration.warnings(), Lines{"Unknown variable `DUEWHEEL_HTPT`; did you mean `DUEWHEEL_HTTP`?"});
}

TEST(Configuration, the_nearest_flag_is_found) {
    EXPECT_EQ(nearest_flag("--segment-size"), "--store-segment-size");
    EXPECT_EQ(nearest_flag("--htpt"), "--http");
    EXPECT_EQ(nearest_flag("--confg"), "--config");
    EXPECT_EQ(nearest_flag("--port"), "--http HOST:PORT");
    EXPECT_EQ(nearest_flag("-p"), "--http HOST:PORT");
    EXPECT_EQ(nearest_flag("--data-dir"), "--data");
    EXPECT_EQ(nearest_flag("--workers"), std::nullopt) << "nothing is near";
}

// `--http-listen` was told of `--http-hosts`, and `[retry] factor` of `retry.first`: both take fewer changes than what
// was meant.
TEST(Configuration, the_intended_name_is_suggested_although_another_has_fewer_changes) {
    EXPECT_EQ(nearest_flag("--http-listen"), "--http");
    EXPECT_EQ(nearest_setting("retry.attempt"), "retry.attempts");
}

}  // namespace
}  // namespace duewheel::configuration_test
