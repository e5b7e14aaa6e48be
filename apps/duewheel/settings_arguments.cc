#include "settings_arguments.h"

#include <string_view>

namespace duewheel {

void SettingsArguments::add_to(CLI::App& verb) {
    CLI::Option* replace =
        verb.add_flag("--replace", replaces, "Replace all settings: those that are not given get their defaults");
    verb.add_option("--unset", removed,
                    "Remove this setting, by its name in the JSON of `get`, such as limits.pending; can be repeated")
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->excludes(replace);
}

void SettingsArguments::put_into(boost::json::object& request) const {
    for (const std::string& path : removed) {
        boost::json::object* at = &request;
        std::string_view rest = path;
        for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
            boost::json::value& inner = (*at)[boost::json::string_view(rest.data(), dot)];
            if (!inner.is_object()) inner.emplace_object();
            at = &inner.get_object();
            rest.remove_prefix(dot + 1);
        }
        (*at)[boost::json::string_view(rest.data(), rest.size())] = nullptr;
    }
}

}  // namespace duewheel
