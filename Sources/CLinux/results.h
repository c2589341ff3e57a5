// What a call returned, as Swift gets it: a value >= 0, or -errno.
#pragma once

static inline int clinux_result(int result) { return result < 0 ? -errno : result; }
static inline int clinux_errno(void) { return errno; }
static inline int64_t clinux_result_long(int64_t result) { return result < 0 ? -(int64_t)errno : result; }
static inline const char *clinux_errno_name(int code) { return strerrorname_np(code); }
static inline const char *clinux_errno_text(int code) { return strerrordesc_np(code); }
