// The result type of operations that can fail, for the whole project. This is the only public header that base
// includes, and every module gets it from here. The error codes of the server are in base/error_codes.h.
#pragma once

#include <duewheel/status.h>
