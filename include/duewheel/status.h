// What an operation of the library that may fail returns: Result, Status and Error, which are the whole project's.
// Their declarations stand in src/base, which every module includes.
#pragma once

#include "base/status.h"
