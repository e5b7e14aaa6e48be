// A response whose body is JSON.
#pragma once

#include <cstddef>

#include "base/json_writer.h"
#include "net/http/http_message.h"

namespace duewheel {

// `write` writes the body into a JsonWriter. `bytes_expected` saves copies of a large one.
template <class Write>
HttpResponse json_response(int status, Write write, std::size_t bytes_expected = 0) {
    HttpResponse response;
    response.status = status;
    response.content_type = "application/json";
    response.body.reserve(bytes_expected);
    JsonWriter json(response.body);
    write(json);
    return response;
}

}  // namespace duewheel
