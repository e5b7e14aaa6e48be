#include "header_arguments.h"

namespace duewheel {

Status put_headers_into(const std::vector<std::string>& headers, boost::json::object& request) {
    boost::json::object pairs;
    for (const std::string& header : headers) {
        const std::size_t equals = header.find('=');
        if (equals == std::string::npos || equals == 0) {
            return Error{"bad_header", "A header has the form NAME=VALUE, not " + header + ".", "--header"};
        }
        const std::string name = header.substr(0, equals);
        if (pairs.contains(name))
            return Error{"duplicate_member", "The header " + name + " is given twice.", "--header"};
        pairs[name] = header.substr(equals + 1);
    }
    if (!pairs.empty()) request["headers"] = std::move(pairs);
    return {};
}

}  // namespace duewheel
