// A slow interpretation of cron rules, as an oracle for the fast one: it builds no sets and makes no jumps. For one
// local time it checks whether each field matches, by trying what each item of the text can mean. Unix form with five
// fields; the text must be valid.
#pragma once

#include <cctype>
#include <chrono>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "shared/random.h"

namespace duewheel {

class SlowCron {
  public:
    explicit SlowCron(const std::string& rule) {
        std::istringstream words(rule);
        const Limits limits[] = {{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}};
        for (std::string word; words >> word;) {
            const Limits& field = limits[fields_.size()];
            stars_.push_back(word[0] == '*');
            fields_.emplace_back();
            for (const std::string& item : cut(word, ',')) fields_.back().push_back(item_of(item, field));
        }
    }

    bool every_hour() const {
        for (int hour = 0; hour < 24; ++hour) {
            if (!names(fields_[1], hour)) return false;
        }
        return true;
    }

    bool matches(std::chrono::local_time<std::chrono::minutes> local) const {
        const auto day = std::chrono::floor<std::chrono::days>(local);
        const int minute = static_cast<int>((local - day).count());
        if (!names(fields_[0], minute % 60) || !names(fields_[1], minute / 60)) return false;
        return matches_day(std::chrono::year_month_day(day));
    }

    bool matches_day(std::chrono::year_month_day date) const {
        if (!names(fields_[3], static_cast<int>(static_cast<unsigned>(date.month())))) return false;
        const bool by_day = names_day(date);
        const bool by_weekday = names_weekday(date);
        return stars_[2] || stars_[4] ? by_day && by_weekday : by_day || by_weekday;
    }

  private:
    struct Limits {
        int first;
        int last;
    };

    struct Item {
        std::string text;
        Limits limits;
        // Begin, end and step of a plain item.
        int begin = 0;
        int end = 0;
        int step = 0;
    };

    static std::vector<std::string> cut(const std::string& text, char mark) {
        std::vector<std::string> parts;
        std::istringstream stream(text);
        for (std::string part; std::getline(stream, part, mark);) parts.push_back(part);
        return parts;
    }

    static int value_of(const std::string& text) {
        if (std::isdigit(static_cast<unsigned char>(text[0]))) return std::stoi(text);
        const std::string months = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
        const std::string weekdays = "SUNMONTUEWEDTHUFRISAT";
        const std::size_t month = months.find(text);
        return static_cast<int>(month != months.npos ? month / 3 + 1 : weekdays.find(text) / 3);
    }

    static Item item_of(const std::string& text, Limits limits) {
        return text.find_first_of("LW#") != text.npos ? Item{text, limits} : plain_item_of(text, limits);
    }

    static Item plain_item_of(const std::string& text, Limits limits) {
        Item item{text, limits};
        const std::vector<std::string> parts = cut(text, '/');
        item.step = parts.size() > 1 ? std::stoi(parts[1]) : 1;
        item.begin = limits.first;
        item.end = limits.last;
        if (parts[0] != "*") {
            const std::vector<std::string> ends = cut(parts[0], '-');
            item.begin = value_of(ends[0]);
            item.end = ends.size() > 1 ? value_of(ends[1]) : parts.size() > 1 ? limits.last : item.begin;
        }
        return item;
    }

    // Counts up from where the item begins, around the end of the field.
    static bool names(const Item& item, int value) {
        int at = item.begin;
        for (int count = 0;; ++count) {
            if (count % item.step == 0 && at == value) return true;
            if (at == item.end) return false;
            at = at == item.limits.last ? item.limits.first : at + 1;
        }
    }

    static bool names(const std::vector<Item>& field, int value) {
        for (const Item& item : field) {
            if (names(item, value)) return true;
        }
        return false;
    }

    static int length_of(std::chrono::year_month_day date) {
        return static_cast<int>(static_cast<unsigned>((date.year() / date.month() / std::chrono::last).day()));
    }

    static int weekday_of(std::chrono::year_month_day date) {
        return static_cast<int>(std::chrono::weekday(std::chrono::sys_days(date)).c_encoding());
    }

    static bool works(std::chrono::year_month_day date) { return weekday_of(date) != 0 && weekday_of(date) != 6; }

    // Whether the date is the working day nearest to a day of its month.
    static bool is_nearest(std::chrono::year_month_day date, int wanted) {
        if (wanted < 1 || wanted > length_of(date)) return false;
        for (int distance = 0;; ++distance) {
            for (const int day : {wanted - distance, wanted + distance}) {
                if (day < 1 || day > length_of(date)) continue;
                const auto candidate = date.year() / date.month() / day;
                if (works(candidate)) return candidate == date;
            }
        }
    }

    bool names_day(std::chrono::year_month_day date) const {
        const int day = static_cast<int>(static_cast<unsigned>(date.day()));
        for (const Item& item : fields_[2]) {
            const std::string& text = item.text;
            const bool nearest = text.back() == 'W';
            if (text[0] == 'L') {
                const std::size_t minus = text.find('-');
                const int wanted = length_of(date) - (minus == text.npos ? 0 : std::stoi(text.substr(minus + 1)));
                if (nearest ? is_nearest(date, wanted) : day == wanted) return true;
            } else if (nearest ? is_nearest(date, std::stoi(text)) : names(item, day)) {
                return true;
            }
        }
        return false;
    }

    bool names_weekday(std::chrono::year_month_day date) const {
        const int day = static_cast<int>(static_cast<unsigned>(date.day()));
        const int weekday = weekday_of(date);
        for (const Item& item : fields_[4]) {
            const std::string& text = item.text;
            const std::size_t mark = text.find('#');
            if (mark != text.npos) {
                const std::string which = text.substr(mark + 1);
                const bool nth = which == "L" ? day + 7 > length_of(date) : (day - 1) / 7 + 1 == std::stoi(which);
                const Item days = plain_item_of(text.substr(0, mark), {0, 6});
                if (nth && names(days, weekday)) return true;
            } else if (text.back() == 'L') {
                const bool last = day + 7 > length_of(date);
                if (last && value_of(text.substr(0, text.size() - 1)) == weekday) return true;
            } else if (names(item, weekday)) {
                return true;
            }
        }
        return false;
    }

    std::vector<std::vector<Item>> fields_;
    std::vector<bool> stars_;
};

// A good rule of five fields, drawn at random: of every kind of item, and such that most fire within a year or two.
// Draws that belong together are made one statement after the other, because compilers work out operands in any order.
inline std::string random_rule(Random& random) {
    const auto number = [&](int first, int last) { return std::to_string(random.between(first, last)); };
    const auto item = [&](int first, int last) {
        const std::string begin = number(first, last);
        const std::string end = number(first, last);
        const std::string step = number(1, (last - first) / 2);
        switch (random.below(5)) {
            case 0:
                return begin + "-" + end;
            case 1:
                return "*/" + step;
            case 2:
                return begin + "/" + step;
            case 3:
                return begin + "-" + end + "/" + step;
            default:
                return begin;
        }
    };
    const auto field = [&](int first, int last, std::uint64_t star) {
        if (random.chance(star)) return std::string("*");
        std::string text = item(first, last);
        while (random.chance(300'000)) text += "," + item(first, last);
        return text;
    };
    const std::string minute = field(0, 59, 200'000);
    const std::string hour = field(0, 23, 300'000);
    std::string day = field(1, 31, 600'000);
    const std::string month = field(1, 12, 700'000);
    std::string weekday = field(0, 6, 600'000);

    const bool plain = random.chance(500'000);
    const std::string a_day = number(1, 31);
    const std::string another_day = number(1, 31);
    const std::string before = number(0, 30);
    const std::vector<std::string> kNames = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
    const std::string name = kNames[random.below(7)];
    const std::string another_name = kNames[random.below(7)];
    switch (random.below(9)) {
        case 0:
            day = plain ? "L" : "L-" + before;
            break;
        case 1:
            day = a_day + "W," + another_day + "W";
            break;
        case 2:
            day = plain ? "LW" : "L-" + before + "W";
            break;
        case 3:
            weekday = name + "#" + number(1, 5);
            break;
        case 4:
            weekday = name + "L," + number(0, 6) + "L";
            break;
        case 5:
            weekday = name + "-" + another_name + "#" + (plain ? "L" : number(1, 5));
            break;
        default:
            break;
    }
    return minute + " " + hour + " " + day + " " + month + " " + weekday;
}

}  // namespace duewheel
