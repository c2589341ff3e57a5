// What a call returned, as Swift gets it: a value >= 0, or -errno.
#pragma once

static inline int clinux_result(int result) { return result < 0 ? -errno : result; }

// The system calls of every request. glibc's read(2), send(2) and the like are cancellation points (pthreads(7)): where there is
// more than one thread, each of them tells the thread before and behind the call that it may be cancelled, which no thread here ever
// is. The sanitizers know the functions of the library only.
#if defined(__has_feature) && !defined(CLINUX_LIBRARY_CALLS)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define CLINUX_LIBRARY_CALLS 1
#endif
#endif
#ifdef CLINUX_LIBRARY_CALLS
#define CLINUX_CALL(name, ...) name(__VA_ARGS__)
#else
#define CLINUX_CALL(name, ...) syscall(SYS_##name, __VA_ARGS__)
#endif

static inline int clinux_errno(void) { return errno; }
static inline int64_t clinux_result_long(int64_t result) { return result < 0 ? -(int64_t)errno : result; }
static inline const char *clinux_errno_name(int code) { return strerrorname_np(code); }
static inline const char *clinux_errno_text(int code) { return strerrordesc_np(code); }
