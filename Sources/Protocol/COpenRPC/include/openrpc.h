// The description of the protocol, compiled in: Swift takes a minute for an array of so many bytes.
#pragma once
#include <stddef.h>
#include <stdint.h>

// The bytes of Schemas/openrpc.json.
const uint8_t *_Nonnull authbroker_openrpc(void);
size_t authbroker_openrpc_length(void);
