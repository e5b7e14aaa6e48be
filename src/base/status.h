// What an operation that may fail returns, everywhere in the project: the one public header that base includes, and
// every module gets it from here. The table of all error codes with their HTTP status stands in ingress/problem.cc.
#pragma once

#include <duewheel/status.h>
