#include "payload.h"

#include "json_text.h"
#include "wire.h"

namespace duewheel::client {
namespace {

constexpr const char* kHeader = "codec";

// The data of an encoded message. Throws what says why there is none.
Content decoded(const PayloadCodec* codec, const std::string& header, const Content& content) {
    const std::size_t slash = header.rfind('/');
    const std::string name = header.substr(0, slash);
    const std::string kind = slash == std::string::npos ? "" : header.substr(slash + 1);
    if (codec == nullptr)
        throw std::runtime_error("it was encoded by the codec `" + name + "`, and this client has none");
    if (codec->name != name) {
        throw std::runtime_error("it was encoded by the codec `" + name + "`, and this client has `" + codec->name +
                                 "`");
    }
    if (content.kind == Content::Kind::json) throw std::runtime_error("it is JSON, which no codec returns");
    std::string data = codec->decode(content.data);
    if (kind == "bytes") return Content::bytes(std::move(data));
    if (kind == "text" && is_utf8(data)) return Content::text(std::move(data));
    if (kind == "json" && is_json(data)) return Content::json(std::move(data));
    throw std::runtime_error("what is inside is no " + (kind.empty() ? "content" : kind));
}

}  // namespace

void seal(const PayloadCodec* codec, Content& content, Headers& headers) {
    if (codec == nullptr || content.kind == Content::Kind::none) return;
    if (content.kind != Content::Kind::bytes) json_of(content);  // refuses what is no text or JSON
    const std::string kind = content.kind == Content::Kind::json   ? "json"
                             : content.kind == Content::Kind::text ? "text"
                                                                   : "bytes";
    try {
        content = Content::bytes(codec->encode(content.data));
    } catch (const std::exception& thrown) {
        throw_bad_data("the data cannot be encoded by the codec `" + codec->name + "`: " + thrown.what());
    }
    headers[kHeader] = codec->name + "/" + kind;
}

void seal(const PayloadCodec* codec, Changes& changes) {
    if (codec == nullptr) return;
    Content content;
    for (const auto& [name, value] : changes) {
        if (value.json() == "null" && name != "json") continue;
        if (name == "json") content = Content::json(value.json());
        if (name == "body") content = Content::text(string_of_json(value.json()));
        if (name == "body_base64") content = Content::bytes(from_base64(value.json()));
    }
    if (content.kind == Content::Kind::none) return;
    Headers added;
    seal(codec, content, added);
    for (const char* const name : {"json", "body", "body_base64"}) changes.erase(name);
    changes.emplace("body_base64", to_base64(content.data));
    ObjectWriter headers;
    if (const auto given = changes.find("headers"); given != changes.end()) {
        for (const auto& [name, value] : members_of(given->second.json())) headers.add(name, value);
    }
    headers(kHeader, added.at(kHeader));
    changes.insert_or_assign("headers", Json{std::move(headers).json()});
}

void open(const PayloadCodec* codec, const std::string& id, const Headers& headers, Content& content) {
    const auto header = headers.find(kHeader);
    if (header == headers.end() || content.kind == Content::Kind::none) return;
    try {
        content = decoded(codec, header->second, content);
    } catch (const std::exception& thrown) {
        content.fault = "the content of message " + id + " cannot be decoded: " + thrown.what();
    }
}

}  // namespace duewheel::client
