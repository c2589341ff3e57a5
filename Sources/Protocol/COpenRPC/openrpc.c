#include "openrpc.h"

// clang knows it in every dialect, and says that it is of C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t document[] = {
#embed "../../../Schemas/openrpc.json"
};

const uint8_t *authbroker_openrpc(void) { return document; }
size_t authbroker_openrpc_length(void) { return sizeof document; }
