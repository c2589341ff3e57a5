// Puts load on a server of lines and tells what came back, as one line of JSON.
//
//   load pingpong [options]     one request after the other: latencies
//   load pipeline [options]     --connections N, each with --depth D requests in flight: requests/s
//   load connect  [options]     a new connection for each request: latencies
//   load fanout   [options]     --connections N subscribers; --request makes an event: time from the
//                              first subscriber that has it to the last (what made the event is not part of it)
//   load spawn    --count N -- PROGRAM ARGUMENT…      a process for each request: latencies
//   load children --count N -- PROGRAM ARGUMENT…      the same, each started by another process
//
// Options: --socket PATH (or, for pingpong, `-- PROGRAM ARGUMENT…` to talk to its standard input and output),
// --input FILE (spawn: what each process reads), --seconds S (1), --count N (fanout, spawn: 100), --request LINE, --prelude LINE (sent once before, answer ignored).
// Every reply has to be a result: an error ends the run with exit status 1, so that refusals are not measured.
// Requests have numbers: the 1 of `"id":1` in a request is replaced by one more for each that is sent, as clients do.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

#include "channel.h"

enum { BUFFER_BYTES = 1 << 20, MOST_SAMPLES = 1 << 22, MOST_DEPTH = 64, MOST_CONNECTIONS = 10000, NUMBER_BYTES = 21 };

static const char *prelude;
static char request[REQUEST_BYTES] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"getAccessToken\"}";
static double seconds = 1;
static int connections = 1, depth = 1, wanted = 100;
static uint32_t samples[MOST_SAMPLES];
static size_t sample_count;
static char buffer[BUFFER_BYTES];

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sample(uint64_t nanoseconds) {
  if (sample_count < MOST_SAMPLES) samples[sample_count++] = (uint32_t)nanoseconds;
}

static int compare(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static double microseconds(double quantile) {
  return sample_count ? samples[(size_t)((double)(sample_count - 1) * quantile)] / 1000.0 : 0;
}

static void report(uint64_t requests, uint64_t nanoseconds) {
  qsort(samples, sample_count, sizeof *samples, compare);
  printf("{\"mode\":\"%s\",\"connections\":%d,\"depth\":%d,\"requests\":%llu,\"perSecond\":%.1f", mode, connections, depth,
         (unsigned long long)requests, (double)requests * 1e9 / (double)nanoseconds);
  if (sample_count) printf(",\"p50\":%.2f,\"p99\":%.2f", microseconds(0.5), microseconds(0.99));
  printf("}\n");
}

// The member order is part of the contract: `result` stands near the start of a good reply.
static void check_reply(const char *line, size_t length) {
  if (memmem(line, length < 256 ? length : 256, "\"result\"", 8)) return;
  fprintf(stderr, "load %s: not a result: %.*s\n", mode, (int)(length < 400 ? length : 400), line);
  exit(1);
}

// Reads one line (the peer owes exactly one) and returns its length.
static size_t read_line(int fd) {
  size_t have = 0;
  for (;;) {
    ssize_t got = read(fd, buffer + have, sizeof buffer - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("the server hung up");
    have += (size_t)got;
    if (buffer[have - 1] == '\n') return have;
  }
}

// Writes some requests as lines, each with the next number, and returns how many bytes they have.
static size_t compose(char *at, int count) {
  static unsigned long long number;
  const char *id = strstr(request, "\"id\":1"), *tail = id ? id + 6 : request;
  int head = id ? (int)(id + 5 - request) : 0;
  char *start = at;
  for (int i = 0; i < count; i++) {
    if (id) at += sprintf(at, "%.*s%llu", head, request, ++number);
    at += sprintf(at, "%s\n", tail);
  }
  return (size_t)(at - start);
}

static void send_requests(int fd, int count) {
  static char batch[(REQUEST_BYTES + NUMBER_BYTES) * MOST_DEPTH];
  write_all(fd, batch, compose(batch, count));
}

static void ask(struct channel channel) {
  send_requests(channel.in, 1);
  check_reply(buffer, read_line(channel.out));
}

static void pingpong(void) {
  struct channel channel = open_channel();
  if (prelude) {
    send_line(channel.in, prelude);
    read_line(channel.out);
  }
  for (int i = 0; i < 100; i++) ask(channel);
  uint64_t began = now(), end = began + (uint64_t)(seconds * 1e9), last = began;
  while (last < end) {
    ask(channel);
    uint64_t time = now();
    sample(time - last);
    last = time;
  }
  report(sample_count, last - began);
  close_channel(channel);
}

static void connect_each(void) {
  uint64_t began = now(), end = began + (uint64_t)(seconds * 1e9), last = began;
  while (last < end) {
    struct channel channel = open_channel();
    ask(channel);
    close_channel(channel);
    uint64_t time = now();
    sample(time - last);
    last = time;
  }
  report(sample_count, last - began);
}

// Runs the program once; returns how long that took.
static uint64_t spawn(void) {
  uint64_t began = now();
  int status;
  pid_t pid = start(-1, -1);
  waitpid(pid, &status, 0);
  if (status != 0) {
    fprintf(stderr, "load %s: %s: wait status %d\n", mode, program[0], status);
    exit(1);
  }
  return now() - began;
}

// The same in a process of its own, whose time is not counted.
static uint64_t spawn_from_child(void) {
  int ends[2], status;
  if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  pid_t child = fork();
  if (child < 0) fail("fork");
  uint64_t time = 0;
  if (child == 0) {
    time = spawn();
    write_all(ends[1], (const char *)&time, sizeof time);
    _exit(0);
  }
  close(ends[1]);
  ssize_t got = read(ends[0], &time, sizeof time);
  close(ends[0]);
  waitpid(child, &status, 0);
  if (status != 0 || got != sizeof time) fail("a child");
  return time;
}

static void spawn_each(uint64_t (*once)(void)) {
  uint64_t first = now();
  for (int i = -3; i < wanted; i++) {
    if (i == 0) first = now();
    uint64_t time = once();
    if (i >= 0) sample(time);
  }
  report(sample_count, now() - first);
}

// Counts the lines of one read and checks each that starts in it with enough bytes to judge.
static int take_lines(int fd, int *at_start) {
  ssize_t got = read(fd, buffer, sizeof buffer);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  if (got <= 0) fail("the server hung up");
  int lines = 0;
  char *at = buffer, *end = buffer + got;
  while (at < end) {
    if (*at_start && end - at > 64) check_reply(at, (size_t)(end - at));
    char *stop = memchr(at, '\n', (size_t)(end - at));
    *at_start = stop != NULL;
    if (!stop) break;
    lines++;
    at = stop + 1;
  }
  return lines;
}

static void pipeline(void) {
  static int at_start[MOST_CONNECTIONS], fds[MOST_CONNECTIONS];
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < connections; i++) {
    fds[i] = connect_socket();
    at_start[i] = 1;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event) != 0) fail("epoll_ctl");
  }
  uint64_t began = now(), end = began + (uint64_t)(seconds * 1e9), answered = 0;
  for (int i = 0; i < connections; i++) send_requests(fds[i], depth);
  while (now() < end) {
    struct epoll_event events[256];
    int ready = epoll_wait(epoll, events, 256, 1000);
    if (ready == 0) fail("no answer within a second");
    for (int i = 0; i < ready; i++) {
      uint32_t which = events[i].data.u32;
      int lines = take_lines(fds[which], &at_start[which]);
      answered += (uint64_t)lines;
      for (int left = lines; left > 0; left -= MOST_DEPTH) send_requests(fds[which], left < MOST_DEPTH ? left : MOST_DEPTH);
    }
  }
  report(answered, now() - began);
}

// Waits until each subscriber has a further line; returns when the first one had it.
static uint64_t await_all(int epoll, int *fds) {
  uint64_t first = 0;
  for (int missing = connections; missing > 0;) {
    struct epoll_event events[256];
    int ready = epoll_wait(epoll, events, 256, 5000);
    if (ready == 0) fail("a subscriber got no event within 5 s");
    if (first == 0) first = now();
    for (int i = 0; i < ready; i++) {
      ssize_t got = read(fds[events[i].data.u32], buffer, sizeof buffer);
      if (got <= 0) fail("the server hung up");
      for (ssize_t at = 0; at < got; at++) missing -= buffer[at] == '\n';
    }
  }
  return first;
}

static void fanout(void) {
  static int fds[MOST_CONNECTIONS];
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < connections; i++) {
    fds[i] = connect_socket();
    send_line(fds[i], prelude ? prelude : "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscribe\"}");
    check_reply(buffer, read_line(fds[i]));
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event) != 0) fail("epoll_ctl");
  }
  struct channel trigger = open_channel();
  uint64_t first = now();
  for (int i = 0; i < wanted; i++) {
    send_line(trigger.in, request);
    uint64_t began = await_all(epoll, fds);
    sample(now() - began);
    check_reply(buffer, read_line(trigger.out));
  }
  report(sample_count, now() - first);
}

static void read_options(int count, char **arguments) {
  for (int i = 2; i < count; i++) {
    const char *name = arguments[i];
    if (strcmp(name, "--") == 0) {
      program = arguments + i + 1;
      return;
    }
    if (i + 1 >= count) fail(name);
    const char *value = arguments[++i];
    if (strcmp(name, "--socket") == 0) socket_path = value;
    else if (strcmp(name, "--request") == 0) snprintf(request, sizeof request, "%s", value);
    else if (strcmp(name, "--prelude") == 0) prelude = value;
    else if (strcmp(name, "--input") == 0) input_path = value;
    else if (strcmp(name, "--seconds") == 0) seconds = atof(value);
    else if (strcmp(name, "--connections") == 0) connections = atoi(value);
    else if (strcmp(name, "--depth") == 0) depth = atoi(value);
    else if (strcmp(name, "--count") == 0) wanted = atoi(value);
    else fail(name);
  }
}

int main(int count, char **arguments) {
  mode = count > 1 ? arguments[1] : "";
  errno = EINVAL;
  read_options(count, arguments);
  if (connections < 1 || connections > MOST_CONNECTIONS || depth < 1 || depth > MOST_DEPTH) fail("options");
  errno = 0;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (strcmp(mode, "pingpong") == 0) pingpong();
  else if (strcmp(mode, "pipeline") == 0) pipeline();
  else if (strcmp(mode, "connect") == 0) connect_each();
  else if (strcmp(mode, "fanout") == 0) fanout();
  else if (strcmp(mode, "spawn") == 0 && program && *program) spawn_each(spawn);
  else if (strcmp(mode, "children") == 0 && program && *program) spawn_each(spawn_from_child);
  else fail("mode");
  return 0;
}
