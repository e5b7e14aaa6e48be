// duewheel token: access tokens over HTTP; and the first one in the data directory of a stopped server.
//
// A secret is printed once, alone on standard output, so that a script can keep it: TOKEN=$(duewheel token add ...).
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/access_token_text.h"
#include "arguments.h"
#include "base/system_clock.h"
#include "calendar/duration.h"
#include "message/access_token.h"
#include "net/http_target.h"
#include "pages.h"
#include "plain_text.h"
#include "token_offline.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

struct AddArguments {
    std::string id;
    std::vector<std::string> scopes;
    std::vector<std::string> namespaces;
    std::optional<std::string> queues;
    std::optional<std::string> expires;
    std::optional<std::string> description;
    std::optional<std::uint64_t> requests_per_second;
    std::optional<std::uint64_t> bytes_per_second;
    std::vector<std::string> certificate_names;
    std::optional<std::string> directory;
    bool admin = false;
};
struct RotateArguments {
    std::string id;
    std::optional<std::string> keep_old;
};
struct RemoveArguments {
    std::string id;
};

std::string path_of(const std::string& id) {
    return "/v1/tokens/" + percent_encode(id);
}

json::array array_of(const std::vector<std::string>& texts) {
    json::array array;
    for (const std::string& text : texts) array.emplace_back(json_text(text));
    return array;
}

std::string joined(const json::object& token, std::string_view member, const char* none) {
    const json::value* found = token.if_contains(member);
    if (found == nullptr || !found->is_array()) return none;
    std::string text;
    for (const json::value& each : found->get_array()) {
        if (!each.is_string()) continue;
        text += (text.empty() ? "" : ",") + printable({each.get_string().data(), each.get_string().size()});
    }
    return text;
}

// Only the secret on standard output.
int show_secret(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { std::printf("%s\n", std::string(word_of(answer.members, "token")).c_str()); });
}

int add_offline(Session& session, const AddArguments& arguments) {
    const bool says_more = !arguments.scopes.empty() || !arguments.namespaces.empty() || session.name_space ||
                           arguments.queues || arguments.requests_per_second || arguments.bytes_per_second ||
                           !arguments.certificate_names.empty();
    if (!arguments.admin || says_more) {
        return session.complain({"conflicting_options",
                                 "--data creates a token of scope admin for all namespaces, and allows only --admin, "
                                 "--expires-in and --description: create other tokens over HTTP with this one"},
                                kExitUsage);
    }
    AccessToken token;
    token.id = arguments.id;
    token.scopes = {Scope::put, Scope::read, Scope::consume, Scope::cancel, Scope::schedule, Scope::admin};
    if (!is_access_token_id(token.id)) {
        return session.complain({"bad_token_id", "a token's id has 1 to 40 characters of a-z, 0-9 and -"}, kExitUsage);
    }
    if (arguments.description) token.description = arguments.description->substr(0, kTokenDescriptionBytesMax);
    if (arguments.expires) token.expires_ms = wall_now_ms() + parse_duration(*arguments.expires).value();
    const Result<Secret> secret = add_token_offline(*arguments.directory, token);
    if (!secret) return session.complain(secret.error(), kExitRefused);
    std::printf("%s\n", std::string(access_token_text(token.id, *secret).reveal()).c_str());
    return kExitDone;
}

int add(Session& session, const AddArguments& arguments) {
    if (arguments.directory) return add_offline(session, arguments);
    std::vector<std::string> namespaces = arguments.namespaces;
    if (namespaces.empty() && session.name_space) namespaces = {*session.name_space};  // the option before the verb
    std::vector<std::string> scopes = arguments.scopes;
    if (arguments.admin) scopes = {"put", "read", "consume", "cancel", "schedule", "admin"};
    json::object request;
    request["scopes"] = array_of(scopes);
    if (!namespaces.empty()) request["namespaces"] = array_of(namespaces);
    if (arguments.queues) request["queues"] = json_text(*arguments.queues);
    if (arguments.expires) request["expires_in"] = json_text(*arguments.expires);
    if (arguments.description) request["description"] = json_text(*arguments.description);
    if (!arguments.certificate_names.empty()) {
        request["certificate_names"] = array_of(arguments.certificate_names);
    }
    json::object limits;
    if (arguments.requests_per_second) limits["requests_per_second"] = *arguments.requests_per_second;
    if (arguments.bytes_per_second) limits["bytes_per_second"] = *arguments.bytes_per_second;
    if (!limits.empty()) request["limits"] = std::move(limits);
    const ServerAnswer there = session.get(path_of(arguments.id));
    if (there) {
        return session.complain({"token_exists", "there is a token `" + arguments.id +
                                                     "` already: choose another id, or remove that one first"},
                                kExitRefused);
    }
    if (there.status != 404) return there.exit_code;
    return show_secret(session, session.ask("PUT", path_of(arguments.id), request));
}

int rotate(Session& session, const RotateArguments& arguments) {
    json::object request;
    if (arguments.keep_old) request["keep_old"] = json_text(*arguments.keep_old);
    return show_secret(session, session.ask("POST", path_of(arguments.id) + ":rotate", request));
}

int remove(Session& session, const RemoveArguments& arguments) {
    const ServerAnswer answer = session.ask("DELETE", path_of(arguments.id));
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        std::printf(is_true(answer.members, "removed") ? "removed; requests with it are refused from now on\n"
                                                       : "there was no such token\n");
    });
}

int list(Session& session, const LimitArguments& arguments) {
    const Listing listing = {.path = "/v1/tokens",
                             .member = "tokens",
                             .limit = arguments.limit,
                             .heading = {"id", "scopes", "namespaces", "queues", "expires", "last used", "description"},
                             .cut = 6,
                             .none = "no tokens"};
    return show_list(session, listing, [&](const json::object& token) {
        const auto word = [&](std::string_view member, const char* none) {
            const std::string_view text = word_of(token, member);
            return text.empty() ? std::string(none) : printable(text);
        };
        const std::string prefix = word("queues", "");
        return std::vector<std::string>{word("id", ""),
                                        joined(token, "scopes", ""),
                                        joined(token, "namespaces", "all"),
                                        prefix.empty() ? "all" : prefix + "*",
                                        word("expires", "never"),
                                        word("last_used", "-"),
                                        word("description", "")};
    });
}

void add_adding(CLI::App& token, Session& session) {
    Verb<AddArguments> adding(
        token, session, "add", "Create an access token and print it, once",
        "duewheel token add shop --scope put --namespace default --queues orders- --expires-in 90d", add);
    AddArguments& options = *adding.options;
    adding.app->add_option("ID", options.id, "1 to 40 characters of a-z, 0-9 and -")->required();
    adding.app->add_option("--scope", options.scopes, "Scopes: put, read, consume, cancel, schedule, admin")
        ->type_name("SCOPE");
    adding.app->add_flag("--admin", options.admin, "All scopes, instead of --scope")->excludes("--scope");
    adding.app->add_option("--namespace", options.namespaces, "Namespaces that it may use; default: all")
        ->type_name("NAME");
    adding.app->add_option("--queues", options.queues, "Prefix of the names of its queues; default: all queues")
        ->type_name("PREFIX");
    takes_duration(adding.app->add_option("--expires-in,--expires", options.expires, "From now; never without")
                       ->type_name("DURATION"));
    adding.app->add_option("--description", options.description, "For people")->type_name("TEXT");
    adding.app->add_option("--requests-per-second", options.requests_per_second, "Rate limit of requests")
        ->type_name("NUMBER");
    adding.app->add_option("--bytes-per-second", options.bytes_per_second, "Rate limit of the bytes of request bodies")
        ->type_name("NUMBER");
    adding.app
        ->add_option("--certificate-name", options.certificate_names,
                     "Subject alternative name of client certificates that have its rights")
        ->type_name("NAME");
    adding.app
        ->add_option("--data", options.directory,
                     "Data directory of a stopped server: creates the first token, with --admin")
        ->type_name("DIR");
}

}  // namespace

void add_token(CLI::App& program, Session& session) {
    CLI::App& token = add_group(program, "token", "Access tokens and their permissions",
                                "duewheel token add billing --scope put --queues orders- --expires-in 90d\n"
                                "  duewheel token list");
    add_adding(token, session);
    add_listing(token, session, "List access tokens by id; --json prints one per line",
                "duewheel token list --limit 1000", list);
    Verb<RotateArguments> rotating(
        token, session, "rotate", "Give an access token a new secret and print it, once",
        "duewheel token add worker --scope consume\n  duewheel token rotate worker --keep-old 1h", rotate);
    rotating.app->add_option("ID", rotating.options->id, "The token")->required();
    takes_duration(rotating.app
                       ->add_option("--keep-old", rotating.options->keep_old,
                                    "How long the old secret stays valid; default: not at all")
                       ->type_name("DURATION"));
    Verb<RemoveArguments> removing(token, session, "rm", "Remove an access token", "duewheel token rm billing", remove);
    removing.app->add_option("ID", removing.options->id, "The token")->required();
}

}  // namespace duewheel
