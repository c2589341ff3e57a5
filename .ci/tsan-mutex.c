// Tells ThreadSanitizer what Swift's `Mutex` does on Linux. Linked into the test bundle by .ci/sanitize, and nowhere else.
//
// The quick path of `Mutex` (one compare-and-exchange) is inlined into instrumented code and seen. The contended path is a
// futex call inside libswiftSynchronization, which is not instrumented: a lock that was handed over by the kernel looks
// as if it had not synchronised, and every value behind a contended `Mutex` as if it raced. These two functions stand before the library's
// own, add the missing edge, and call on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SELF __attribute__((swift_context)) void *self
#define SWIFT __attribute__((swiftcall))

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

static void *next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// _MutexHandle._lockSlow(UInt32)
SWIFT void lock_slow(uint32_t owner, SELF) __asm__(LOCK);
SWIFT void lock_slow(uint32_t owner, SELF) {
  static _Atomic(void *) original;
  if (!original) original = next(LOCK);
  ((SWIFT void (*)(uint32_t, SELF))original)(owner, self);
  __tsan_acquire(self);
}

// _MutexHandle._unlockSlow()
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF) {
  static _Atomic(void *) original;
  if (!original) original = next(UNLOCK);
  __tsan_release(self);
  ((SWIFT void (*)(SELF))original)(self);
}
