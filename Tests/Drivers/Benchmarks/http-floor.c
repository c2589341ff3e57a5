// What libcurl costs by itself: GETs one after another over one kept connection, with the easy interface, with the multi
// interface on the calling thread, and with the multi interface on a thread of its own that is handed each call. Prints the median time of each, in nanoseconds. And a server for all clients that does as
// little as a server can.
//
//   cc -O2 -pthread http-floor.c -o http-floor -lcurl
//   ./http-floor serve                      prints its port, serves until its standard input ends
//   ./http-floor URL CA-FILE COUNT
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return left < right ? -1 : left > right;
}

static size_t ignore(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

static CURL *prepared(const char *url, const char *authorities, struct curl_slist *fields) {
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
  curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  return easy;
}

static void with_easy(CURL *easy) {
  if (curl_easy_perform(easy) != CURLE_OK) exit(1);
}

static void with_multi(CURLM *multi, CURL *easy) {
  int running = 1, left = 0;
  curl_multi_add_handle(multi, easy);
  while (running) {
    curl_multi_perform(multi, &running);
    if (running) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  CURLMsg *message = curl_multi_info_read(multi, &left);
  if (!message || message->data.result != CURLE_OK) exit(1);
  curl_multi_remove_handle(multi, easy);
}

// What a client with a thread of its own needs at least: a bell, the transfer there, a bell back.
static struct {
  CURL *easy;
  int bell;
  sem_t done;
} handed;

static void *threaded(void *context) {
  CURLM *multi = curl_multi_init();
  struct curl_waitfd bell = {.fd = handed.bell, .events = CURL_WAIT_POLLIN};
  uint64_t rung;
  for (;;) {
    curl_multi_poll(multi, &bell, 1, 1000, NULL);
    if (read(handed.bell, &rung, sizeof rung) != sizeof rung) continue;
    with_multi(multi, handed.easy);
    sem_post(&handed.done);
  }
  return context;
}

static void with_thread(void) {
  uint64_t ring = 1;
  if (write(handed.bell, &ring, sizeof ring) != sizeof ring) exit(1);
  sem_wait(&handed.done);
}

static void *answer(void *context) {
  static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"id\":\"u-1234\"}";
  int connection = (int)(intptr_t)context, yes = 1;
  char request[65536];
  size_t filled = 0;
  ssize_t got;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  while ((got = read(connection, request + filled, sizeof request - 1 - filled)) > 0) {
    filled += (size_t)got;
    request[filled] = 0;
    if (!strstr(request, "\r\n\r\n")) continue;
    if (write(connection, reply, sizeof reply - 1) < 0) break;
    filled = 0;
  }
  close(connection);
  return NULL;
}

static void *accept_all(void *context) {
  int connection;
  while ((connection = accept4((int)(intptr_t)context, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, answer, (void *)(intptr_t)connection);
    pthread_detach(thread);
  }
  return NULL;
}

static int serve(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 128)) return 1;
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)listener);
  return getchar() == EOF ? 0 : 1;
}

int main(int count, char **arguments) {
  if (count == 2 && !strcmp(arguments[1], "serve")) return serve();
  if (count < 4) return 2;
  int calls = atoi(arguments[3]);
  int64_t *times = calloc((size_t)calls, sizeof *times);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  struct curl_slist *fields = curl_slist_append(NULL, "Authorization: Bearer a-token-of-a-probe");
  CURLM *multi = curl_multi_init();
  static const char *names[] = {"easy", "multi", "threaded"};
  pthread_t thread;
  handed.bell = eventfd(0, EFD_NONBLOCK);
  sem_init(&handed.done, 0, 0);
  pthread_create(&thread, NULL, threaded, NULL);
  for (int kind = 0; kind < 3; kind++) {
    CURL *easy = prepared(arguments[1], arguments[2], fields);
    handed.easy = easy;
    for (int call = 0; call < calls; call++) {
      int64_t start = now();
      if (kind == 0) with_easy(easy);
      else if (kind == 1) with_multi(multi, easy);
      else with_thread();
      times[call] = now() - start;
    }
    qsort(times, (size_t)calls, sizeof *times, ascending);
    printf("%s %lld\n", names[kind], (long long)times[calls / 2]);
    curl_easy_cleanup(easy);
  }
  return 0;
}
