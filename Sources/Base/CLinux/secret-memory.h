// Memory that holds secrets.
#pragma once

// Locks pages as they are first touched (MLOCK_ONFAULT = 1), so that a large untouched range costs no memory.
static inline int clinux_lock_on_fault(const void *address, size_t length) { return mlock2(address, length, 1); }
// Leaves pages out of core files, and gives a forked child none of them (madvise(2)): empty ones, or none at all where the kernel
// cannot wipe. 1 where it can do all of that.
static inline int clinux_hide_memory(void *address, size_t length) {
  int is_hidden = madvise(address, length, MADV_DONTDUMP) == 0;
  if (madvise(address, length, MADV_WIPEONFORK) == 0) return is_hidden;
  (void)madvise(address, length, MADV_DONTFORK);
  return 0;
}
// Whether this kernel can do so.
static inline int clinux_can_hide_memory(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *mapping = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return 1;
  int can = clinux_hide_memory(mapping, page);
  munmap(mapping, page);
  return can;
}
// 1 when the two ranges are equal. Reads every byte whatever it finds: `volatile` forbids the early exit.
static inline int clinux_equal_in_constant_time(const void *a, const void *b, size_t length) {
  const volatile unsigned char *left = (const volatile unsigned char *)a;
  const volatile unsigned char *right = (const volatile unsigned char *)b;
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < length; i++) difference = (unsigned char)(difference | (left[i] ^ right[i]));
  return difference == 0;
}
// Zeroes bytes in a way that the optimiser may not remove (explicit_bzero(3)).
static inline void clinux_wipe(void *bytes, size_t length) { explicit_bzero(bytes, length); }
