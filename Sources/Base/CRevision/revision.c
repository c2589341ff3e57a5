#include "revision.h"

#ifndef AUTHBROKER_REVISION
#define AUTHBROKER_REVISION dev
#endif
#define TEXT(word) #word
#define TEXT_OF(macro) TEXT(macro)

const char *authbroker_revision(void) { return TEXT_OF(AUTHBROKER_REVISION); }
