// duewheel token: access tokens over HTTP; and the first one in the data directory of a stopped server.
//
// A secret is printed once, alone on standard output, so that a script can keep it: TOKEN=$(duewheel token add ...).
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/access_token_text.h"
#include "base/error_codes.h"
#include "calendar/duration.h"
#include "data_directory.h"
#include "field_options.h"
#include "message/access_token.h"
#include "resource_verbs.h"
#include "shared/system_clock.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

constexpr ResourceKind kToken = {"tokens", "ID", "The token", false};

// Those that the first token may have, too.
constexpr Field kFirstRows[] = {
    member(FieldKind::duration, "expires_in", "From now; never without", "--expires-in,--expires DURATION"),
    member(FieldKind::text, "description", "For people"),
};
constexpr Field kTokenRows[] = {
    member(FieldKind::text, "queues", "Prefix of the names of its queues; default: all queues", "--queues PREFIX"),
    member(FieldKind::count, "limits.requests_per_second", "Rate limit of requests"),
    member(FieldKind::count, "limits.bytes_per_second", "Rate limit of the bytes of request bodies"),
};
constexpr Field kRotateRows[] = {
    member(FieldKind::duration, "keep_old", "How long the old secret stays valid; default: not at all"),
};

struct AddArguments {
    std::string id;
    std::vector<std::string> scopes;
    std::vector<std::string> namespaces;
    std::vector<std::string> certificate_names;
    FieldOptions first;
    FieldOptions others;
    std::optional<std::string> directory;
    bool admin = false;
};
struct RotateArguments {
    std::string id;
    FieldOptions members;
};

void put_names(const char* member, const std::vector<std::string>& names, json::object& request) {
    if (names.empty()) return;
    json::array& array = request[member].emplace_array();
    for (const std::string& name : names) array.emplace_back(json_text(name));
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

// `request` has what was given, but no scopes.
int add_offline(Session& session, const AddArguments& arguments, const json::object& request) {
    json::object allowed;
    arguments.first.put_into(allowed);
    if (!arguments.admin || request != allowed) {
        return session.complain({"conflicting_options"_code,
                                 "--data creates a token of scope admin for all namespaces, and allows only --admin, "
                                 "--expires-in and --description: create other tokens over HTTP with this one"},
                                kExitUsage);
    }
    AccessToken token;
    token.id = arguments.id;
    token.scopes = {Scope::put, Scope::read, Scope::consume, Scope::cancel, Scope::schedule, Scope::admin};
    if (!is_access_token_id(token.id)) {
        return session.complain({"bad_token_id"_code, "a token's id has 1 to 40 characters of a-z, 0-9 and -"},
                                kExitUsage);
    }
    token.description = word_of(request, "description").substr(0, kTokenDescriptionBytesMax);
    if (request.contains("expires_in")) {
        token.expires_ms = wall_now_ms() + parse_duration(word_of(request, "expires_in")).value();
    }
    const Result<Secret> secret = add_token_offline(*arguments.directory, token);
    if (!secret) return session.complain(secret.error(), kExitRefused);
    std::printf("%s\n", std::string(access_token_text(token.id, *secret).reveal()).c_str());
    return kExitDone;
}

int add(Session& session, const AddArguments& arguments) {
    json::object request;
    arguments.first.put_into(request);
    arguments.others.put_into(request);
    std::vector<std::string> namespaces = arguments.namespaces;
    if (namespaces.empty() && session.name_space) namespaces = {*session.name_space};  // the option before the verb
    put_names("namespaces", namespaces, request);
    put_names("certificate_names", arguments.certificate_names, request);
    if (arguments.directory) {
        put_names("scopes", arguments.scopes, request);
        return add_offline(session, arguments, request);
    }
    std::vector<std::string> scopes = arguments.scopes;
    if (arguments.admin) scopes = {"put", "read", "consume", "cancel", "schedule", "admin"};
    request["scopes"].emplace_array();
    put_names("scopes", scopes, request);
    const std::string path = kToken.path(session, arguments.id);
    const ServerAnswer there = session.get(path);
    if (there) {
        return session.complain({"token_exists"_code, "there is a token `" + arguments.id +
                                                          "` already: choose another id, or remove that one first"},
                                kExitRefused);
    }
    if (there.status != 404) return there.exit_code;
    return show_secret(session, session.ask("PUT", path, request));
}

int rotate(Session& session, const RotateArguments& arguments) {
    json::object request;
    arguments.members.put_into(request);
    return show_secret(session, session.ask("POST", kToken.path(session, arguments.id, ":rotate"), request));
}

std::vector<std::string> row_of_token(const json::object& token) {
    const auto word = [&](std::string_view member, const char* none) {
        const std::string_view text = word_of(token, member);
        return text.empty() ? std::string(none) : printable(text);
    };
    const std::string prefix = word("queues", "");
    return {word("id", ""),
            joined(token, "scopes", ""),
            joined(token, "namespaces", "all"),
            prefix.empty() ? "all" : prefix + "*",
            word("expires", "never"),
            word("last_used", "-"),
            word("description", "")};
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
    options.others.add_to(*adding.app, kTokenRows);
    options.first.add_to(*adding.app, kFirstRows);
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
    const ResourceVerbs verbs(token, session, kToken);
    verbs.add_list("List access tokens by id; with --json one per line",
                   {.heading = {"id", "scopes", "namespaces", "queues", "expires", "last used", "description"},
                    .cut = 6,
                    .none = "no tokens"},
                   row_of_token);
    Verb<RotateArguments> rotating(
        token, session, "rotate", "Give an access token a new secret and print it, once",
        "duewheel token add worker --scope consume\n  duewheel token rotate worker --keep-old 1h", rotate);
    rotating.app->add_option("ID", rotating.options->id, kToken.help)->required();
    rotating.options->members.add_to(*rotating.app, kRotateRows);
    verbs.add_rm("Remove an access token", "duewheel token rm billing",
                 "removed; requests with it are refused from now on", "there was no such token");
}

}  // namespace duewheel
