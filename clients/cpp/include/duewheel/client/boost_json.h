// Codecs by Boost.JSON: for structs and classes described with BOOST_DESCRIBE_STRUCT, and all other types that
// boost::json::value_from() and value_to() convert.
//
//     struct Email {
//         std::string to, text;
//     };
//     BOOST_DESCRIBE_STRUCT(Email, (), (to, text))
//
// A message that was put before its type got another member, or after, still fits: an absent member keeps its initial
// value, and an unknown one is ignored. The program links Boost::json, 1.81 or newer.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <vector>

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11.hpp>

#include "duewheel/client/content.h"

namespace duewheel::client {

namespace detail {

template <class T>
struct FromJson {
    static T read(const boost::json::value& value) { return boost::json::value_to<T>(value); }
};

template <class T>
struct FromJson<std::optional<T>> {
    static std::optional<T> read(const boost::json::value& value) {
        if (value.is_null()) return {};
        return FromJson<T>::read(value);
    }
};

template <class T>
struct FromJson<std::vector<T>> {
    static std::vector<T> read(const boost::json::value& value) {
        std::vector<T> all;
        for (const boost::json::value& each : value.as_array()) all.push_back(FromJson<T>::read(each));
        return all;
    }
};

template <class T>
requires boost::json::is_described_class<T>::value struct FromJson<T> {
    static T read(const boost::json::value& value) {
        using Members =
            boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;
        T read_value{};
        const boost::json::object& object = value.as_object();
        boost::mp11::mp_for_each<Members>([&](auto member) {
            const auto found = object.find(member.name);
            if (found == object.end()) return;
            auto& target = read_value.*member.pointer;
            target = FromJson<std::remove_cvref_t<decltype(target)>>::read(found->value());
        });
        return read_value;
    }
};

}  // namespace detail

template <class T>
requires(!std::is_arithmetic_v<T> && boost::json::has_value_from<T>::value) struct Codec<T> {
    static Content encode(const T& value) {
        return Content::json(boost::json::serialize(boost::json::value_from(value)));
    }
    static T decode(const Content& content) {
        boost::json::error_code code;
        const boost::json::value value = boost::json::parse(content.json(), code);
        if (code) throw_bad_data("the data is no JSON: " + code.message());
        try {
            return detail::FromJson<T>::read(value);
        } catch (const std::exception& thrown) {
            throw_bad_data(std::string("the data does not fit its type: ") + thrown.what());
        }
    }
};

}  // namespace duewheel::client
