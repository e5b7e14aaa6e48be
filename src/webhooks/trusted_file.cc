#include "webhooks/trusted_file.h"

#include <memory>
#include <new>

#include <openssl/x509_vfy.h>

#include "base/error_codes.h"

namespace duewheel {

Status check_trusted_file(const std::string& path) {
    const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store(X509_STORE_new(), &X509_STORE_free);
    if (!store) throw std::bad_alloc();
    if (X509_STORE_load_file(store.get(), path.c_str()) == 1) return {};
    return Error{"bad_trusted_file"_code,
                 "cannot read PEM certificates from " + path +
                     ", the setting webhooks.trusted_file; check the path, the permissions and the "
                     "content"};
}

}  // namespace duewheel
