// Memory that is wiped when it is freed: for libraries that take their functions of memory from their caller.
#pragma once
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static inline void wiping_free(void *block) {
  if (block) explicit_bzero(block, malloc_usable_size(block));
  free(block);
}
static inline void *wiping_reallocate(void *block, size_t size) {
  if (!block) return malloc(size);
  size_t had = malloc_usable_size(block);
  if (size && size <= had && size >= had / 2) return block;
  void *larger = malloc(size ? size : 1);
  if (!larger) return NULL;
  memcpy(larger, block, had < size ? had : size);
  wiping_free(block);
  return larger;
}

// The same for OpenSSL (CRYPTO_set_mem_functions(3)), whose records and keys hold what they carried. It refuses once it has
// allocated anything: so everyone who may be the first to load it calls this at once. Another TLS library does not have
// the function: then its buffers are not wiped.
static inline void *wiping_tls_allocate(size_t size, const char *file, int line) {
  (void)file, (void)line;
  return malloc(size);
}
static inline void *wiping_tls_reallocate(void *block, size_t size, const char *file, int line) {
  (void)file, (void)line;
  return wiping_reallocate(block, size);
}
static inline void wiping_tls_free(void *block, const char *file, int line) {
  (void)file, (void)line;
  wiping_free(block);
}
static inline void wiping_tls_memory(void *image) {
  typedef int set_functions(void *(*)(size_t, const char *, int), void *(*)(void *, size_t, const char *, int),
                            void (*)(void *, const char *, int));
  set_functions *set = (set_functions *)dlsym(image, "CRYPTO_set_mem_functions");
  if (set) set(wiping_tls_allocate, wiping_tls_reallocate, wiping_tls_free);
}
