// libcurl's types and constants, and a table of its functions that is filled when the first request is made.
//
// The library is not linked: loading it costs 5 ms and several megabytes (it brings OpenSSL), which a process that
// makes no request does not pay. So nothing here may name a function of libcurl but inside __typeof__ and dlsym(3).
#pragma once
#define CURL_DISABLE_TYPECHECK
#include "../CCrypto/wiping.h"
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define CCURL_FUNCTIONS(X) \
  X(global_init_mem) X(version_info) X(easy_init) X(easy_reset) X(easy_cleanup) X(easy_setopt) X(easy_getinfo) \
  X(easy_pause) X(multi_init) X(multi_cleanup) X(multi_setopt) X(multi_add_handle) X(multi_remove_handle) \
  X(multi_perform) X(multi_poll) X(multi_info_read)

#define CCURL_MEMBER(name) __typeof__(curl_##name) *name;
typedef struct ccurl_library {
  CCURL_FUNCTIONS(CCURL_MEMBER)
  // OpenSSL's: frees what it keeps for the thread (OPENSSL_thread_stop(3)); null with another library for TLS.
  void (*thread_stop)(void);
} ccurl_library;

// How the loading went; the numbers are used by one Swift file.
enum { CCURL_LOADED = 0, CCURL_NOT_FOUND = 1, CCURL_TOO_OLD = 2, CCURL_NOT_STARTED = 3 };

// libcurl does not set close-on-exec on the sockets that it makes.
static inline curl_socket_t ccurl_open_socket(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
// What is known of a number that was a connection's when libcurl got it: -1 if it is none any more, 0 if it is not the
// one with this port on our side, 1 if it is and nothing is to be read from it, 2 if it is and has ended or has something.
static inline int ccurl_connection_state(int number, int port) {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } mine = {0};
  socklen_t size = sizeof mine;
  char byte;
  if (getsockname(number, &mine.any, &size) != 0) return -1;
  if (mine.any.sa_family != AF_INET && mine.any.sa_family != AF_INET6) return -1;
  if (ntohs(mine.any.sa_family == AF_INET ? mine.v4.sin_port : mine.v6.sin6_port) != port) return 0;
  return recv(number, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ? 2 : 1;
}

// Not thread-safe: the caller calls it once at a time. The library stays loaded for the life of the process.
static inline int ccurl_load(const char *path, unsigned oldest, ccurl_library *library) {
  void *image = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!image) return CCURL_NOT_FOUND;
  wiping_tls_memory(image);
#define CCURL_FIND(name) \
  if (!(library->name = (__typeof__(library->name))dlsym(image, "curl_" #name))) return CCURL_TOO_OLD;
  CCURL_FUNCTIONS(CCURL_FIND)
  library->thread_stop = (void (*)(void))dlsym(image, "OPENSSL_thread_stop");
  curl_version_info_data *version = library->version_info(CURLVERSION_NOW);
  if (version->version_num < oldest || !(version->features & CURL_VERSION_SSL)) return CCURL_TOO_OLD;
  // libcurl keeps copies of what it sends and gets.
  CURLcode started =
      library->global_init_mem(CURL_GLOBAL_DEFAULT, malloc, wiping_free, wiping_reallocate, strdup, calloc);
  return started == CURLE_OK ? CCURL_LOADED : CCURL_NOT_STARTED;
}

// The variadic functions, which Swift does not import, one form for each type of argument.
static inline CURLcode ccurl_set_long(const ccurl_library *l, CURL *easy, CURLoption option, long value) {
  return l->easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_offset(const ccurl_library *l, CURL *easy, CURLoption option, curl_off_t value) {
  return l->easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_string(const ccurl_library *l, CURL *easy, CURLoption option, const char *value) {
  return l->easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_blob(const ccurl_library *l, CURL *easy, CURLoption option, const void *bytes,
                                      size_t size) {
  struct curl_blob blob = {.data = (void *)bytes, .len = size, .flags = CURL_BLOB_COPY};
  return l->easy_setopt(easy, option, &blob);
}
static inline CURLcode ccurl_set_pointer(const ccurl_library *l, CURL *easy, CURLoption option, void *value) {
  return l->easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_callbacks(const ccurl_library *l, CURL *easy, curl_write_callback body,
                                           curl_write_callback header, curl_prereq_callback before,
                                           curl_opensocket_callback open, void *context) {
  CURLcode result = l->easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
  if (!result) result = l->easy_setopt(easy, CURLOPT_WRITEDATA, context);
  if (!result) result = l->easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
  if (!result) result = l->easy_setopt(easy, CURLOPT_HEADERDATA, context);
  if (!result) result = l->easy_setopt(easy, CURLOPT_PREREQFUNCTION, before);
  if (!result) result = l->easy_setopt(easy, CURLOPT_PREREQDATA, context);
  if (!result) result = l->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  if (!result) result = l->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
  return result;
}
static inline CURLcode ccurl_set_reader(const ccurl_library *l, CURL *easy, curl_read_callback read, void *context) {
  CURLcode result = l->easy_setopt(easy, CURLOPT_READFUNCTION, read);
  return result ? result : l->easy_setopt(easy, CURLOPT_READDATA, context);
}
static inline long ccurl_get_long(const ccurl_library *l, CURL *easy, CURLINFO info) {
  long value = 0;
  return l->easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
static inline CURLMcode ccurl_multi_set_long(const ccurl_library *l, CURLM *multi, CURLMoption option, long value) {
  return l->multi_setopt(multi, option, value);
}

// The others, by way of the table.
static inline void ccurl_leave_thread(const ccurl_library *l) {
  if (l->thread_stop) l->thread_stop();
}
static inline CURL *ccurl_easy_init(const ccurl_library *l) { return l->easy_init(); }
static inline void ccurl_easy_reset(const ccurl_library *l, CURL *easy) { l->easy_reset(easy); }
static inline void ccurl_easy_cleanup(const ccurl_library *l, CURL *easy) { l->easy_cleanup(easy); }
static inline CURLcode ccurl_resume(const ccurl_library *l, CURL *easy) { return l->easy_pause(easy, CURLPAUSE_CONT); }
static inline CURLM *ccurl_multi_init(const ccurl_library *l) { return l->multi_init(); }
static inline CURLMcode ccurl_multi_cleanup(const ccurl_library *l, CURLM *multi) { return l->multi_cleanup(multi); }
static inline CURLMcode ccurl_multi_add(const ccurl_library *l, CURLM *multi, CURL *easy) {
  return l->multi_add_handle(multi, easy);
}
static inline CURLMcode ccurl_multi_remove(const ccurl_library *l, CURLM *multi, CURL *easy) {
  return l->multi_remove_handle(multi, easy);
}
static inline CURLMcode ccurl_multi_perform(const ccurl_library *l, CURLM *multi) {
  int running = 0;
  return l->multi_perform(multi, &running);
}
// Waits until a transfer has something to do, one of some descriptors is ready, or the time is over.
static inline CURLMcode ccurl_multi_poll(const ccurl_library *l, CURLM *multi, struct curl_waitfd *others, unsigned count,
                                         int milliseconds) {
  return l->multi_poll(multi, others, count, milliseconds, NULL);
}
// Takes the next finished transfer, if there is one.
static inline CURL *ccurl_multi_next_done(const ccurl_library *l, CURLM *multi, CURLcode *result) {
  int left = 0;
  CURLMsg *message;
  while ((message = l->multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}
