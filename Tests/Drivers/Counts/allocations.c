// Counts how often a process asks the allocator for memory (malloc(3)): for LD_PRELOAD (ld.so(8)).
//
//   cc -O2 -shared -fPIC -o allocations.so allocations.c
//   ALLOCATION_COUNT=FILE LD_PRELOAD=./allocations.so PROGRAM
//
// FILE has eight bytes at least; the first eight are the count, as a number of this machine, while the program runs and afterwards.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static _Atomic uint64_t before_begin;
static _Atomic uint64_t *count = &before_begin;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("ALLOCATION_COUNT");
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *memory = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) count = memory;
  close(fd);
}

void *malloc(size_t size) {
  atomic_fetch_add(count, 1);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  atomic_fetch_add(count, 1);
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  atomic_fetch_add(count, 1);
  return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
  atomic_fetch_add(count, 1);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *made = memalign(alignment, size);
  if (!made) return ENOMEM;
  *memory = made;
  return 0;
}
