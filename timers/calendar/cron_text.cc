// Reads cron expressions. The grammar, for people, is docs/calendar.md.
//
//     field   = item *( "," item )          item = span [ "/" step ]          span = "*" | value [ "-" value ]
//     day     = item also "L" [ "-" number ] [ "W" ] | number "W"
//     weekday = item also value "L" | value [ "-" value ] "#" ( number | "L" ); of Quartz also "L"
//
// In Quartz's form a span may be omitted before a step: "/5" is "*/5".
//
// An error names column and field and suggests a correction, because a rule that is misread fires on a wrong day,
// months later. Therefore nothing is guessed: a text that two other programs read in different ways is refused, unless
// the form decides it.
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calendar/duration.h"
#include "calendar/month_days.h"
#include "calendar/text_scanner.h"
#include <duewheel/cron_rule.h>

namespace duewheel {
namespace {

constexpr unsigned kFirstYear = 1970;
constexpr unsigned kLastYear = 2199;

struct FieldKind {
    std::string_view name;
    unsigned first;
    unsigned last;
    unsigned
        last_of_all;  // where * and a step without an end stop: of Unix weekdays Saturday, before the second Sunday
    unsigned step_max;
    std::span<const std::string_view> names;  // of the numbers from `first` on
};

constexpr FieldKind kSecond{"second", 0, 59, 59, 59, {}};
constexpr FieldKind kMinute{"minute", 0, 59, 59, 59, {}};
constexpr FieldKind kHour{"hour", 0, 23, 23, 23, {}};
constexpr FieldKind kDay{"day", 1, 31, 31, 31, {}};
constexpr FieldKind kMonth{"month", 1, 12, 12, 12, kMonthNames};
constexpr FieldKind kUnixWeekday{"weekday", 0, 7, 6, 7, kWeekdayNames};
constexpr FieldKind kQuartzWeekday{"weekday", 1, 7, 7, 7, kWeekdayNames};
constexpr FieldKind kYear{"year", kFirstYear, kLastYear, kLastYear, kLastYear - kFirstYear, {}};

struct Field {
    std::string_view text;
    std::size_t column;
    CronForm form = CronForm::crontab;
};

Error refusal(std::size_t column, std::string_view field, std::string_view why) {
    std::string message = "column " + std::to_string(column);
    if (!field.empty()) message.append(", ").append(field);
    return Error{ErrorCode::bad_cron, message + ": " + std::string(why) + ".", {}};
}

bool is_letter(char letter) {
    return upper_case(letter) >= 'A' && upper_case(letter) <= 'Z';
}

// Reads one field from left to right.
class FieldReader {
  public:
    FieldReader(Field field, const FieldKind& kind) : field_(field), kind_(kind), text_(field.text) {}

    const FieldKind& kind() const { return kind_; }
    CronForm form() const { return field_.form; }
    bool at_end() const { return text_.at_end(); }
    bool sees_digit() const { return text_.sees_digit(); }
    bool take(char wanted) { return text_.take(wanted); }
    // Either case of a letter.
    bool take_letter(char wanted) { return text_.take(wanted) || text_.take(static_cast<char>(wanted - 'A' + 'a')); }
    bool sees_letter(char wanted) const {
        FieldReader trial = *this;
        return trial.take_letter(wanted);
    }
    bool sees(char wanted) const { return text_.sees(wanted); }

    std::size_t column() const { return field_.column + text_.column() - 1; }
    Error refuse(std::string_view why) const { return refusal(column(), kind_.name, why); }
    Error refuse_at(std::size_t column, std::string_view why) const { return refusal(column, kind_.name, why); }

    // A number of this field or, where it has them, a name.
    Result<unsigned> take_value() {
        const std::size_t start = column();
        if (!sees_digit()) return take_name();
        const std::optional<std::int64_t> number = text_.take_number();
        if (!number || *number < kind_.first || *number > kind_.last) {
            const std::string shown = number ? " " + std::to_string(*number) : " so large";
            return refuse_at(start, "there is no " + std::string(kind_.name) + shown + "; " + range());
        }
        return static_cast<unsigned>(*number);
    }

    // The number after a slash. A step may be as large as the field's last value; a larger one reaches no second value.
    Result<unsigned> take_step() {
        const std::size_t start = column();
        if (!sees_digit()) return refuse("a step is missing here: a number");
        const std::optional<std::int64_t> step = text_.take_number();
        if (step && *step >= 1 && *step <= kind_.step_max) return static_cast<unsigned>(*step);
        const std::string range =
            "a step of " + std::string(kind_.name) + "s is 1 to " + std::to_string(kind_.step_max);
        return refuse_at(start, step && *step == 0 ? range : "the step is larger than the field; " + range);
    }

    // A number from `least` to `max` that is no value of the field: a count of days or weeks.
    Result<unsigned> take_number(std::string_view what, unsigned least, unsigned most) {
        const std::size_t start = column();
        if (!sees_digit()) return refuse(std::string(what) + " is missing a number");
        const std::optional<std::int64_t> number = text_.take_number();
        if (!number || *number < least || *number > most) {
            return refuse_at(start, std::string(what) + " of the field " + std::string(kind_.name) + " is " +
                                        std::to_string(least) + " to " + std::to_string(most));
        }
        return static_cast<unsigned>(*number);
    }

    // Nothing but the next item or the end may follow an item.
    Status expect_end_of_item() {
        if (at_end() || sees(',')) return {};
        return refuse(why_not_end());
    }

  private:
    std::string range() const {
        if (kind_.first == 0 && kind_.last == 7) return "weekdays are 0 to 7, where 0 and 7 are Sunday, or SUN to SAT";
        std::string text =
            std::string(kind_.name) + "s are " + std::to_string(kind_.first) + " to " + std::to_string(kind_.last);
        if (kind_.first == 1 && kind_.last == 7) text += ", where 1 is Sunday, or SUN to SAT";
        if (kind_.last == 12) text += ", or JAN to DEC";
        return text;
    }

    std::string_view next_letters() const {
        const std::string_view rest = field_.text.substr(text_.column() - 1);
        std::size_t size = 0;
        while (size < rest.size() && is_letter(rest[size])) ++size;
        return rest.substr(0, size);
    }

    Result<unsigned> take_name() {
        const std::string_view letters = next_letters();
        for (std::size_t i = 0; i < kind_.names.size(); ++i) {
            if (!same_name(letters.substr(0, 3), kind_.names[i])) continue;
            if (letters.size() > 3 && !same_name(letters.substr(3), "L")) {
                return refuse("names have three letters: " + std::string(kind_.names[i]));
            }
            text_.take(letters.substr(0, 3));
            return static_cast<unsigned>(i) + kind_.first;
        }
        return refuse(why_no_value(letters));
    }

    std::string why_no_value(std::string_view letters) const {
        if (at_end() || sees(',')) return "a value is missing here";
        if (sees('?')) return "? must stand alone, as the day or the weekday in Quartz syntax";
        if (sees('*')) return "* must stand at the beginning, alone or with a step, as in */5";
        if (sees('-')) return "a range must begin with a value, as in 1-5";
        if (sees('/')) return "a step must follow *, a value or a range: write */5 for /5";
        if (!letters.empty()) return why_no_name(letters);
        return "this is no value; " + range();
    }

    std::string why_no_name(std::string_view letters) const {
        if (position_of_name(letters.substr(0, 3), kWeekdayNames)) {
            return "this is the name of a weekday, which belongs in the field weekday: the fifth of five fields, the "
                   "sixth of six";
        }
        if (position_of_name(letters.substr(0, 3), kMonthNames)) {
            return "this is the name of a month, which belongs in the field month, the one before the weekday";
        }
        if (same_name(letters, "L") || same_name(letters, "LW")) {
            return "L is for days only: L or L-3 as a day, FRIL (the last Friday of the month) as a weekday";
        }
        if (same_name(letters, "H")) return "H, as in Jenkins, is not supported; use a jitter instead";
        return "this is no value; " + range();
    }

    std::string why_not_end() const {
        if (sees('-')) return "a range has two ends, as in 1-5";
        if (sees('#') && kind_.last == 7)
            return "# must follow a weekday or a range of weekdays, as in FRI#2 or MON-FRI#2";
        if (sees('#')) return "# is for weekdays only: FRI#2 as a weekday is the second Friday of the month";
        if (sees_letter('W')) return "W is for days only: 15W is the working day nearest to the 15th";
        if (sees_letter('L') && kind_.last == 7) {
            return "L must follow a single weekday, as in FRIL; for the last of each weekday of a range write "
                   "MON-FRI#L";
        }
        if (sees_letter('L')) return "L is for days only: L or L-3 as a day, FRIL (the last Friday) as a weekday";
        if (sees('/')) return "an item can have only one step";
        return "the next item, after a comma, or the next field, after a space, is expected here";
    }

    Field field_;
    const FieldKind& kind_;
    TextScanner text_;
};

// How an item begins: with a star or a value; in Quartz's form also with a slash, where a star is understood.
struct Start {
    bool is_star;
    unsigned value;
};

Result<Start> take_start(FieldReader& reader) {
    const bool omits_star = reader.form() == CronForm::quartz && reader.sees('/');
    if (omits_star || reader.take('*')) return Start{true, reader.kind().first};
    Result<unsigned> value = reader.take_value();
    if (!value) return std::move(value).error();
    return Start{false, *value};
}

// The numbers an item names: from, from + step, ... not beyond to. Where to is less than from, they go over the end of
// the field.
struct Steps {
    unsigned from;
    unsigned to;
    unsigned step;
    bool has_step = false;
};

// Reads what may follow the beginning of an item: the end of a range, a step.
Result<Steps> take_rest(FieldReader& reader, Start start) {
    const FieldKind& kind = reader.kind();
    Steps steps{start.value, start.is_star ? kind.last_of_all : start.value, 1};
    const bool is_range = !start.is_star && reader.take('-');
    if (is_range) {
        Result<unsigned> to = reader.take_value();
        if (!to) return std::move(to).error();
        steps.to = *to;
    }
    if (!reader.take('/')) return steps;
    Result<unsigned> step = reader.take_step();
    if (!step) return std::move(step).error();
    steps.step = *step;
    steps.has_step = true;
    if (!is_range) {
        if (steps.from > kind.last_of_all) steps.from = kind.first;
        steps.to = kind.last_of_all;
    }
    return steps;
}

Result<Steps> take_steps(FieldReader& reader) {
    Result<Start> start = take_start(reader);
    if (!start) return std::move(start).error();
    return take_rest(reader, *start);
}

// Calls `use` for each number; a range that ends before it begins goes over the field's end: FRI-MON, 22-2.
template <class Use>
void for_each(Steps steps, unsigned first, unsigned last, Use&& use) {
    const unsigned size = last - first + 1;
    if (steps.to < steps.from) steps.to += size;
    for (unsigned at = steps.from; at <= steps.to; at += steps.step) use(first + (at - first) % size);
}

// Reads items with `read_item` until the field ends.
template <class ReadItem>
Status read_items(FieldReader& reader, ReadItem&& read_item) {
    do {
        if (Status read = read_item(); !read) return read;
        if (Status ended = reader.expect_end_of_item(); !ended) return ended;
    } while (reader.take(','));
    return {};
}

template <class Bits>
Status read_numbers(Field field, const FieldKind& kind, Bits& bits) {
    FieldReader reader(field, kind);
    return read_items(reader, [&]() -> Status {
        Result<Steps> steps = take_steps(reader);
        if (!steps) return std::move(steps).error();
        for_each(*steps, kind.first, kind.last,
                 [&](unsigned number) { bits = static_cast<Bits>(bits | Bits{1} << number); });
        return {};
    });
}

Status read_years(Field field, CronFields& fields) {
    if (field.text == "*") return {};
    FieldReader reader(field, kYear);
    fields.years.emplace();
    return read_items(reader, [&]() -> Status {
        const std::size_t start = reader.column();
        Result<Steps> steps = take_steps(reader);
        if (!steps) return std::move(steps).error();
        if (steps->to < steps->from) return reader.refuse_at(start, "a range of years must not go backward");
        for_each(*steps, kYear.first, kYear.last, [&](unsigned year) {
            const unsigned bit = year - kFirstYear;
            (*fields.years)[bit / 64] |= std::uint64_t{1} << bit % 64;
        });
        return {};
    });
}

// What follows the L of a day: "L", "L-3", "LW", "L-3W".
Status read_last_day(FieldReader& reader, CronFields& fields) {
    unsigned before = 0;
    if (reader.take('-')) {
        Result<unsigned> number = reader.take_number("a number of days before the last", 0, 30);
        if (!number) return std::move(number).error();
        before = *number;
    }
    (reader.take_letter('W') ? fields.nearest_before_last : fields.days_before_last) |= 1U << before;
    return {};
}

Status read_days(Field field, CronFields& fields) {
    FieldReader reader(field, kDay);
    return read_items(reader, [&]() -> Status {
        if (reader.take_letter('L')) return read_last_day(reader, fields);
        Result<Start> start = take_start(reader);
        if (!start) return std::move(start).error();
        if (!start->is_star && reader.take_letter('W')) {
            fields.nearest |= 1U << start->value;
            return {};
        }
        Result<Steps> steps = take_rest(reader, *start);
        if (!steps) return std::move(steps).error();
        for_each(*steps, kDay.first, kDay.last, [&](unsigned day) { fields.days |= 1U << day; });
        return {};
    });
}

void add_weekday(std::uint8_t& weekdays, unsigned weekday) {
    weekdays = static_cast<std::uint8_t>(weekdays | 1U << weekday);
}

// Adds the days of an item, counted from Sunday as 0. Of the Unix form, 7 is Sunday too: after Saturday at the end of a
// range, else 0.
void add_weekdays(Steps steps, const FieldKind& kind, std::uint8_t& weekdays) {
    const bool is_one = steps.from == steps.to;
    steps.from = (steps.from - kind.first) % 7;
    steps.to = is_one ? steps.from : steps.to - kind.first;
    for_each(steps, 0, 6, [&](unsigned weekday) { add_weekday(weekdays, weekday); });
}

// What follows a #: the number of the weekday in the month, or L for the last one. Adds it for each day of `named`.
Status read_nth(FieldReader& reader, Steps named, CronFields& fields) {
    if (reader.take_letter('L')) {
        add_weekdays(named, reader.kind(), fields.last_weekdays);
        return {};
    }
    Result<unsigned> nth = reader.take_number("the number after #", 1, 5);
    if (!nth) return std::move(nth).error();
    add_weekdays(named, reader.kind(), fields.nth_weekdays[*nth - 1]);
    return {};
}

Status read_weekday(FieldReader& reader, CronFields& fields) {
    const FieldKind& kind = reader.kind();
    if (reader.sees_letter('L')) {
        if (kind.first == 0) {
            return reader.refuse("write FRIL for the last Friday of the month; L alone is a Saturday in Quartz syntax");
        }
        reader.take_letter('L');
        add_weekday(fields.weekdays, 6);
        return {};
    }
    Result<Start> start = take_start(reader);
    if (!start) return std::move(start).error();
    if (!start->is_star && reader.take_letter('L')) {
        add_weekday(fields.last_weekdays, (start->value - kind.first) % 7);
        return {};
    }
    Result<Steps> steps = take_rest(reader, *start);
    if (!steps) return std::move(steps).error();
    if (!start->is_star && !steps->has_step && reader.take('#')) return read_nth(reader, *steps, fields);
    add_weekdays(*steps, kind, fields.weekdays);
    return {};
}

Status read_weekdays(Field field, const FieldKind& kind, CronFields& fields) {
    FieldReader reader(field, kind);
    return read_items(reader, [&] { return read_weekday(reader, fields); });
}

struct Nickname {
    std::string_view name;
    std::string_view meaning;
};

constexpr Nickname kNicknames[] = {{"@YEARLY", "0 0 1 1 *"}, {"@ANNUALLY", "0 0 1 1 *"}, {"@MONTHLY", "0 0 1 * *"},
                                   {"@WEEKLY", "0 0 * * 0"}, {"@DAILY", "0 0 * * *"},    {"@MIDNIGHT", "0 0 * * *"},
                                   {"@HOURLY", "0 * * * *"}};

// "@every 5m" of Go's cron libraries, with the duration that was given where it is one of ours.
Error refuse_every(std::span<const Field> fields) {
    const bool has_duration = fields.size() == 2 && parse_duration(fields[1].text).ok();
    const std::string every = has_duration ? std::string(fields[1].text) : "10m";
    return refusal(fields[0].column, "",
                   "@every is a fixed interval, not a calendar rule; write \"every\": \"" + every +
                       "\" instead of \"cron\", on the command line --every " + every);
}

Result<std::string_view> meaning_of(std::span<const Field> fields) {
    const Field& nickname = fields[0];
    for (const Nickname& one : kNicknames) {
        if (!same_name(nickname.text, one.name)) continue;
        if (fields.size() > 1) return refusal(fields[1].column, "", "nothing may follow a macro");
        return one.meaning;
    }
    if (same_name(nickname.text, "@REBOOT")) {
        return refusal(nickname.column, "", "@reboot is not supported: it is not a time");
    }
    if (same_name(nickname.text, "@EVERY")) return refuse_every(fields);
    return refusal(nickname.column, "",
                   "unknown macro; known are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly");
}

bool is_blank(char letter) {
    return letter == ' ' || letter == '\t';
}

std::vector<Field> split(std::string_view text) {
    std::vector<Field> fields;
    for (std::size_t at = 0; at < text.size();) {
        if (is_blank(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && !is_blank(text[end])) ++end;
        fields.push_back({text.substr(at, end - at), at + 1});
        at = end;
    }
    return fields;
}

constexpr std::string_view kForms =
    "a rule has 5 fields (minute hour day month weekday), 6 (with seconds first), or in Quartz syntax 6 or 7 (second "
    "minute hour day month weekday year, with ? as day or weekday)";

Error wrong_number(const std::vector<Field>& fields) {
    const std::string count = std::to_string(fields.size()) + (fields.size() == 1 ? " field is" : " fields are");
    return refusal(fields.empty() ? 1 : fields.back().column, "", count + " given; " + std::string(kForms));
}

// Checks that come before the fields: texts of other programs that contain more than the rule.
Status check_frame(std::string_view text) {
    if (text.size() > kCronBytesMax) {
        return refusal(kCronBytesMax + 1, "", "a rule has up to " + std::to_string(kCronBytesMax) + " bytes");
    }
    for (std::size_t at = 0; at < text.size(); ++at) {
        if ((text[at] < ' ' && text[at] != '\t') || text[at] > '~') {
            return refusal(at + 1, "", "a rule is one line of ASCII letters, digits and punctuation");
        }
    }
    if (text.starts_with("TZ=") || text.starts_with("CRON_TZ=")) {
        return refusal(1, "", "the time zone is not part of the rule; give it separately");
    }
    if (text.starts_with("cron(")) return refusal(1, "", "write the fields alone, without cron( and )");
    return {};
}

// Quartz's form has exactly one ?, no other form has any.
Result<CronForm> form_of(const std::vector<Field>& fields) {
    const auto is_open = [](Field field) { return field.text == "?"; };
    const std::size_t count = fields.size();
    if (count < 5 || count > 7) return wrong_number(fields);
    if (count == 5) {
        for (const Field& field : fields) {
            if (is_open(field)) {
                return refusal(field.column, "",
                               "? is Quartz syntax, which begins with the second: write 0 in front, or * instead of ?");
            }
        }
        return CronForm::crontab;
    }
    const Field day = fields[3];
    const Field weekday = fields[5];
    if (is_open(day) && is_open(weekday)) return refusal(weekday.column, "weekday", "day and weekday cannot both be ?");
    if (is_open(day) || is_open(weekday)) return CronForm::quartz;
    if (count == 6) return CronForm::crontab;
    return refusal(day.column, "day",
                   "a rule with a year is in Quartz syntax, where the day or the weekday must be ?; weekdays are then "
                   "counted from 1, Sunday");
}

// Reads five fields, which mean second 0, or more.
Result<CronFields> read_fields(std::span<const Field> texts, CronForm form) {
    CronFields fields;
    fields.seconds = 1;
    if (texts.size() > 5) {
        fields.seconds = 0;
        if (Status read = read_numbers(texts[0], kSecond, fields.seconds); !read) return std::move(read).error();
        texts = texts.subspan(1);
    }
    if (Status read = read_numbers(texts[0], kMinute, fields.minutes); !read) return std::move(read).error();
    if (Status read = read_numbers(texts[1], kHour, fields.hours); !read) return std::move(read).error();

    const Field day = texts[2];
    const Field weekday = texts[4];
    if (day.text == "?") {
        fields.days = days_through(31);
    } else if (Status read = read_days(day, fields); !read) {
        return std::move(read).error();
    }
    if (Status read = read_numbers(texts[3], kMonth, fields.months); !read) return std::move(read).error();
    const FieldKind& kind = form == CronForm::quartz ? kQuartzWeekday : kUnixWeekday;
    if (weekday.text == "?") {
        fields.weekdays = 0x7f;
    } else if (Status read = read_weekdays(weekday, kind, fields); !read) {
        return std::move(read).error();
    }
    if (texts.size() > 5) {
        if (Status read = read_years(texts[5], fields); !read) return std::move(read).error();
    }
    // The rule of cron since the 1980s: a field that begins with * restricts nothing, whatever its step.
    fields.either = form == CronForm::crontab && !day.text.starts_with('*') && !weekday.text.starts_with('*');
    return fields;
}

}  // namespace

Result<CronRule> CronRule::parse(std::string_view text) {
    if (Status framed = check_frame(text); !framed) return std::move(framed).error();
    std::vector<Field> fields = split(text);
    if (!fields.empty() && fields[0].text.starts_with('@')) {
        Result<std::string_view> meaning = meaning_of(fields);
        if (!meaning) return std::move(meaning).error();
        fields = split(*meaning);
    }
    Result<CronForm> form = form_of(fields);
    if (!form) return std::move(form).error();
    for (Field& field : fields) field.form = *form;
    Result<CronFields> read = read_fields(fields, *form);
    if (!read) return std::move(read).error();
    return CronRule(text, *form, *read);
}

}  // namespace duewheel
