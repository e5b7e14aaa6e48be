#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/cron_rule.h>

namespace duewheel::cron_text_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::local_days;

// What a rule means from a day on, as texts "2026-03-01 09:00:00".
std::string text_of(LocalSecond local) {
    const local_days day = std::chrono::floor<std::chrono::days>(local);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(local - day);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    return text.data();
}

std::vector<std::string> first_of(std::string_view rule, std::size_t count, LocalSecond from) {
    const Result<CronRule> parsed = CronRule::parse(rule);
    EXPECT_TRUE(parsed.ok()) << rule << ": " << (parsed.ok() ? "" : parsed.error().message);
    std::vector<std::string> times;
    if (!parsed) return times;
    for (auto time = parsed->at_or_after(from); time && times.size() < count; time = parsed->at_or_after(*time + 1s)) {
        times.push_back(text_of(*time));
    }
    return times;
}

// Two rules that mean the same for years, although written in two ways.
void expect_same(std::string_view left, std::string_view right) {
    const LocalSecond from = local_days{std::chrono::year(2026) / 1 / 1};
    EXPECT_EQ(first_of(left, 400, from), first_of(right, 400, from)) << left << " and " << right;
}

TEST(CronText, one_rule_can_be_written_in_many_ways) {
    expect_same("0 0 1 1 *", "@yearly");
    expect_same("0 0 1 1 *", "@annually");
    expect_same("0 0 1 * *", "@monthly");
    expect_same("0 0 * * 0", "@weekly");
    expect_same("0 0 * * *", "@daily");
    expect_same("0 0 * * *", "  @midnight\t");
    expect_same("0 * * * *", "@hourly");
    expect_same("0 0 1 1 *", "@YEARLY");
    expect_same("0 0 * * *", "@Daily");
    expect_same("0 9 * * *", "0 0 9 * * *");
    expect_same("0 9 * * *", "\t00  09   * *\t* ");
    expect_same("0 9 * * 1-5", "0 9 * * mon-Fri");
    expect_same("0 9 * 1,12 *", "0 9 * jan,DEC *");
    expect_same("*/20 * * * *", "0,20,40 * * * *");
    expect_same("5/20 * * * *", "5,25,45 * * * *");
    expect_same("10-50/20 * * * *", "10,30,50 * * * *");
    expect_same("0 9 * * 0", "0 9 * * 7");
    expect_same("0 9 * * 5-7", "0 9 * * FRI,SAT,SUN");
    expect_same("0 9 * * 0-7", "0 9 * * 0-6");
    expect_same("0 9 * * 7-2", "0 9 * * 0,1,2");
    expect_same("0 9 * * 7-7", "0 9 * * 0");
    expect_same("0 9 * * */2", "0 9 * * 0,2,4,6");
    expect_same("0 9 * * */3", "0 9 * * 0,3,6");
    expect_same("0 9 * * 1/2", "0 9 * * 1,3,5");
    expect_same("0 9 * * 1-7/2", "0 9 * * 1,3,5,7");
    expect_same("0 9 * * 7/2", "0 9 * * 0,2,4,6");
}

TEST(CronText, a_range_may_go_over_the_end_of_its_field) {
    expect_same("0 22-2 * * *", "0 22,23,0,1,2 * * *");
    expect_same("0 22-4/2 * * *", "0 22,0,2,4 * * *");
    expect_same("50-10/10 * * * *", "50,0,10 * * * *");
    expect_same("0 9 * NOV-FEB *", "0 9 * 11,12,1,2 *");
    expect_same("0 9 * * FRI-MON", "0 9 * * 5,6,0,1");
    expect_same("0 9 * * SAT-SUN", "0 9 * * 0,6");
    expect_same("0 9 * * 5-0", "0 9 * * 0,5,6");
    expect_same("0 9 28-3 * *", "0 9 28,29,30,31,1,2,3 * *");
    expect_same("0 0 9 ? * 6-2", "0 0 9 ? * FRI,SAT,SUN,MON");
}

TEST(CronText, quartz_counts_weekdays_from_one) {
    expect_same("0 0 9 ? * 2", "0 9 * * MON");
    expect_same("0 0 9 ? * 1", "0 9 * * 0");
    expect_same("0 0 9 ? * 2-6", "0 9 * * 1-5");
    expect_same("0 0 9 ? * L", "0 9 * * SAT");
    expect_same("0 0 9 ? * 6L", "0 9 * * FRIL");
    expect_same("0 0 9 ? * 6#3", "0 9 * * 5#3");
    expect_same("0 0 9 ? * */2", "0 9 * * SUN,TUE,THU,SAT");
    expect_same("0 0 9 ? * 2/2", "0 9 * * MON,WED,FRI");
    expect_same("0 0 9 15 * ?", "0 9 15 * *");
    expect_same("0 0 9 * * ?", "0 9 * * *");
    expect_same("0 0 9 ? * *", "0 9 * * *");
    EXPECT_EQ(CronRule::parse("0 0 9 ? * 2")->form(), CronForm::quartz);
    EXPECT_EQ(CronRule::parse("0 0 9 * * 2")->form(), CronForm::crontab);
}

TEST(CronText, a_range_of_weekdays_may_be_counted_in_the_month) {
    expect_same("0 9 * * FRI#L", "0 9 * * FRIL");
    expect_same("0 9 * * 5#l", "0 9 * * FRIL");
    expect_same("0 9 * * 7#L", "0 9 * * SUNL");
    expect_same("0 9 * * MON-WED#2", "0 9 * * MON#2,TUE#2,WED#2");
    expect_same("0 9 * * FRI-MON#1", "0 9 * * FRI#1,SAT#1,SUN#1,MON#1");
    expect_same("0 9 * * MON-FRI#L", "0 9 * * 1L,2L,3L,4L,5L");
    expect_same("0 9 * * 5-7#3,TUE", "0 9 * * FRI#3,SAT#3,SUN#3,TUE");
    expect_same("0 0 9 ? * 2-6#L", "0 9 * * MON-FRI#L");
}

TEST(CronText, a_step_may_leave_one_value_of_the_field) {
    expect_same("0 0 */31 * *", "0 0 1 * *");
    expect_same("0 0 1 */12 *", "0 0 1 1 *");
    expect_same("0 4-6/3 * * *", "0 4 * * *");
    expect_same("*/59 * * * *", "0,59 * * * *");
    expect_same("0 */23 * * *", "0 0,23 * * *");
    expect_same("0 0 * * */7", "0 0 * * 0");
}

// In Unix form a day of /2 could be one that begins with a star or one that does not, which is another rule.
TEST(CronText, a_step_stands_alone_in_quartz_form) {
    expect_same("0 /5 * * * ?", "0 */5 * * * ?");
    expect_same("/15 0 0,/6 ? * MON", "*/15 0 */6 ? * MON");
    expect_same("0 0 0 /10 /2 ?", "0 0 0 */10 */2 ?");
    expect_same("0 0 0 ? * /2", "0 0 0 ? * */2");
}

TEST(CronText, years_end_a_rule) {
    const LocalSecond from = local_days{std::chrono::year(2026) / 11 / 21};
    EXPECT_EQ(first_of("0 0 0 1 1 ? 2027,2030-2031", 9, from),
              (std::vector<std::string>{"2027-01-01 00:00:00", "2030-01-01 00:00:00", "2031-01-01 00:00:00"}));
    EXPECT_EQ(first_of("0 0 0 1 1 ? 2190/5", 9, from),
              (std::vector<std::string>{"2190-01-01 00:00:00", "2195-01-01 00:00:00"}));
    EXPECT_EQ(first_of("0 0 0 1 1 ? 1970-2000", 9, from), std::vector<std::string>{});
    EXPECT_EQ(first_of("0 0 0 1 1 ? *", 1, local_days{std::chrono::year(2350) / 2 / 1}),
              std::vector<std::string>{"2351-01-01 00:00:00"});
    EXPECT_EQ(first_of("0 0 0 1 1 ?", 1, local_days{std::chrono::year(2350) / 2 / 1}),
              std::vector<std::string>{"2351-01-01 00:00:00"});
}

struct Refused {
    std::string_view rule;
    std::size_t column;
    std::string_view field;
    std::string_view says;
};

TEST(CronText, a_refusal_names_column_and_field_and_what_was_meant) {
    for (const Refused& c : std::vector<Refused>{
             {"", 1, "", "0 fields are given"},
             {"   ", 1, "", "0 fields are given"},
             {"5", 1, "", "1 field is given"},
             {"* * * *", 7, "", "4 fields are given"},
             {"* * * * * ? * *", 15, "", "8 fields are given"},
             {"60 * * * *", 1, "minute", "no minute 60; minutes are 0 to 59"},
             {"0 24 * * *", 3, "hour", "no hour 24; hours are 0 to 23"},
             {"0 0 0 * *", 5, "day", "no day 0; days are 1 to 31"},
             {"0 0 32 * *", 5, "day", "no day 32"},
             {"0 0 1 0 *", 7, "month", "months are 1 to 12, or JAN to DEC"},
             {"0 0 1 13 *", 7, "month", "no month 13"},
             {"0 0 * * 8", 9, "weekday", "0 and 7 are Sunday"},
             {"0 0 0 ? * 0", 11, "weekday", "1 is Sunday"},
             {"0 0 0 ? * 8", 11, "weekday", "no weekday 8"},
             {"0 0 99999999999999999999 * *", 5, "day", "no day so large"},
             {"0 0 0 1 1 ? 1969", 13, "year", "years are 1970 to 2199"},
             {"0 0 0 1 1 ? 2031-2030", 13, "year", "must not go backward"},
             {"61 * * * * *", 1, "second", "no second 61"},
             {"*/0 * * * *", 3, "minute", "a step of minutes is 1 to 59"},
             {"*/60 * * * *", 3, "minute", "the step is larger than the field; a step of minutes is 1 to 59"},
             {"* */24 * * *", 5, "hour", "larger than the field; a step of hours is 1 to 23"},
             {"0 0 */32 * *", 7, "day", "larger than the field; a step of days is 1 to 31"},
             {"0 0 1-2/32 * *", 9, "day", "larger than the field; a step of days is 1 to 31"},
             {"0 0 1 */13 *", 9, "month", "larger than the field; a step of months is 1 to 12"},
             {"0 0 * * */8", 11, "weekday", "larger than the field; a step of weekdays is 1 to 7"},
             {"*/99999999999999999999 * * * *", 3, "minute", "larger than the field"},
             {"*/ * * * *", 3, "minute", "a step is missing"},
             {"1-5/2/2 * * * *", 6, "minute", "one step"},
             {"1-2-3 * * * *", 4, "minute", "two ends"},
             {"*-5 * * * *", 2, "minute", "two ends"},
             {"-5 * * * *", 1, "minute", "a range must begin with a value"},
             {"1- * * * *", 3, "minute", "a value is missing"},
             {", * * * *", 1, "minute", "a value is missing"},
             {"1,,2 * * * *", 3, "minute", "a value is missing"},
             {"1, * * * *", 3, "minute", "a value is missing"},
             {"/5 * * * *", 1, "minute", "write */5 for /5"},
             {"0 0 */2,/3 * MON", 9, "day", "write */5 for /5"},
             {"1* * * * *", 2, "minute", "next item"},
             {"1.5 * * * *", 2, "minute", "next item"},
             {"MON * * * *", 1, "minute", "the name of a weekday"},
             {"0 0 * MON *", 7, "month", "the name of a weekday"},
             {"0 0 JAN * *", 5, "day", "the name of a month"},
             {"0 0 * * JAN", 9, "weekday", "the name of a month"},
             {"0 0 * * MONDAY", 9, "weekday", "three letters: MON"},
             {"0 0 * JANUARY *", 7, "month", "three letters: JAN"},
             {"0 0 * * XYZ", 9, "weekday", "this is no value"},
             {"H * * * *", 1, "minute", "Jenkins"},
             {"0 0 L-31 * *", 7, "day", "0 to 30"},
             {"0 0 L- * *", 7, "day", "is missing"},
             {"0 0 LL * *", 6, "day", "L is for days only"},
             {"0 0 5L * *", 6, "day", "FRIL"},
             {"0 0 5#2 * *", 6, "day", "second Friday"},
             {"0 0 15W2 * *", 8, "day", "next item"},
             {"0 0 1-5W * *", 8, "day", "W is for days only"},
             {"0 0 * * 5W", 10, "weekday", "15W is the working day"},
             {"0 0 * * L", 9, "weekday", "FRIL"},
             {"0 0 * * FRI#6", 13, "weekday", "1 to 5"},
             {"0 0 * * FRI#0", 13, "weekday", "1 to 5"},
             {"0 0 * * FRI#", 13, "weekday", "is missing"},
             {"0 0 * * FRI#LL", 14, "weekday", "L must follow a single weekday"},
             {"0 0 * * MON-FRI#6", 17, "weekday", "1 to 5"},
             {"0 0 * * MON-FRIL", 16, "weekday", "write MON-FRI#L"},
             {"0 0 * * *#2", 10, "weekday", "# must follow a weekday"},
             {"0 0 * * MON-FRI/2#2", 18, "weekday", "# must follow a weekday"},
             {"0 0 * * MON/1#2", 14, "weekday", "# must follow a weekday"},
             {"0 0 * * *L", 10, "weekday", "L must follow a single weekday"},
             {"L * * * *", 1, "minute", "L is for days only"},
             {"0 0 ? * MON", 5, "", "Quartz"},
             {"0 0 0 ? * ?", 11, "weekday", "cannot both"},
             {"0 0 0 1 * MON 2027", 7, "day", "Quartz syntax"},
             {"? 0 0 ? * MON", 1, "second", "must stand alone"},
             {"0 0 0 ?,1 * MON", 7, "day", "must stand alone"},
             {"0 0 0 ? ? MON", 9, "month", "must stand alone"},
             {"0 12 ? * MON-FRI *", 6, "hour", "Quartz syntax"},
             {"@reboot", 1, "", "is not supported"},
             {"@every 5m", 1, "", R"(write "every": "5m" instead of "cron", on the command line --every 5m)"},
             {"@Every 1h30m", 1, "", R"("every": "1h30m")"},
             {"@every 1.5h", 1, "", R"("every": "1.5h")"},
             {"@every 1.5x", 1, "", R"("every": "10m")"},
             {"@every", 1, "", R"("every": "10m")"},
             {"@hurly", 1, "", "@midnight and @hourly"},
             {"@daily 5", 8, "", "nothing may follow"},
             {"TZ=UTC 0 0 * * *", 1, "", "zone"},
             {"CRON_TZ=UTC 0 0 * * *", 1, "", "zone"},
             {"cron(0 0 * * ? *)", 1, "", "fields alone"},
             {"0 0 * *\n*", 8, "", "one line"},
             {"0 0 * * M\xc3\x96N", 10, "", "ASCII letters"},
         }) {
        const Result<CronRule> parsed = CronRule::parse(c.rule);
        ASSERT_FALSE(parsed.ok()) << c.rule;
        EXPECT_EQ(parsed.error().code, ErrorCode::bad_cron);
        const std::string& message = parsed.error().message;
        const std::string place =
            "column " + std::to_string(c.column) + (c.field.empty() ? "" : ", ") + std::string(c.field) + ": ";
        EXPECT_TRUE(message.starts_with(place)) << c.rule << ": " << message;
        EXPECT_NE(message.find(c.says), std::string::npos) << c.rule << ": " << message;
        EXPECT_TRUE(message.ends_with(".")) << message;
    }
}

TEST(CronText, a_rule_has_at_most_a_thousand_bytes) {
    std::string minutes = "0";
    while (minutes.size() + 2 + 8 <= kCronBytesMax) minutes += ",1";
    std::string rule = minutes + " * * * *";
    rule.insert(rule.end(), kCronBytesMax - rule.size(), ' ');
    EXPECT_TRUE(CronRule::parse(rule).ok());
    EXPECT_FALSE(CronRule::parse(rule + " ").ok());
}

}  // namespace
}  // namespace duewheel::cron_text_test
