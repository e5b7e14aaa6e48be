// The result type of operations that can fail, for the whole project. This is the only public header that base
// includes, and every module gets it from here. All error codes and their HTTP status are in http_api/problem.cc.
#pragma once

#include <duewheel/status.h>
