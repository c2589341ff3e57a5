#include "version.h"

#ifndef AUTHBROKER_VERSION
#define AUTHBROKER_VERSION
#endif
#define TEXT(word) #word
#define TEXT_OF(macro) TEXT(macro)

const char *authbroker_version(void) { return TEXT_OF(AUTHBROKER_VERSION); }
