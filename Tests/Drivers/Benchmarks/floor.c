// The floor: the least that a Unix-socket server of lines can do. What AuthBroker costs is told as a ratio to it.
//
//   floor SOCKET BYTES [--fanout]
//
// One thread, level-triggered epoll. A readable connection gets one read; each complete line in it is answered with the same
// line of BYTES bytes (as many as the broker's answer has), all of them with one send. Nothing is parsed. With --fanout a line that says `"subscribe"` makes its
// connection a subscriber, and one that says `"forceRefresh"` sends a line to each of them first.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_REPLY_BYTES = 65536, REPLIES_AT_ONCE = 64, READ_BYTES = 65536, MOST_DESCRIPTORS = 16384 };

static char replies[MOST_REPLY_BYTES * REPLIES_AT_ONCE];
static size_t reply_bytes;
// How many bytes each connection is still owed: all replies are alike, so this alone says where to go on.
static size_t owed[MOST_DESCRIPTORS];
static int subscribers[MOST_DESCRIPTORS];
static int subscriber_count;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

// The reply has the shape of the real one: the members in order, then one long token.
static void render_replies(void) {
  char *reply = replies;
  int head = sprintf(reply, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"accessToken\":\"");
  memset(reply + head, 'x', reply_bytes - head);
  memcpy(reply + reply_bytes - 4, "\"}}\n", 4);
  for (int i = 1; i < REPLIES_AT_ONCE; i++) memcpy(replies + i * reply_bytes, reply, reply_bytes);
}

static void want(int epoll, int fd, uint32_t events, int operation) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  if (epoll_ctl(epoll, operation, fd, &event) != 0) fail("epoll_ctl");
}

// Sends what is owed; waits for room by EPOLLOUT where the peer is slow.
static void pay(int epoll, int fd) {
  while (owed[fd] > 0) {
    size_t offset = (reply_bytes - owed[fd] % reply_bytes) % reply_bytes, whole = reply_bytes * REPLIES_AT_ONCE;
    size_t length = owed[fd] < whole - offset ? owed[fd] : whole - offset;
    ssize_t sent = send(fd, replies + offset, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      want(epoll, fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
      return;
    }
    if (sent < 0) {
      owed[fd] = 0;
      return;
    }
    owed[fd] -= (size_t)sent;
  }
}

static void subscribe_or_publish(const char *bytes, size_t length, int epoll, int fd) {
  if (memmem(bytes, length, "\"subscribe\"", 11)) subscribers[subscriber_count++] = fd;
  if (!memmem(bytes, length, "\"forceRefresh\"", 14)) return;
  for (int i = 0; i < subscriber_count; i++) {
    owed[subscribers[i]] += reply_bytes;
    pay(epoll, subscribers[i]);
  }
}

static void answer(int epoll, int fd, int fanout) {
  static char buffer[READ_BYTES];
  ssize_t got = read(fd, buffer, sizeof buffer);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    owed[fd] = 0;
    close(fd);
    return;
  }
  if (fanout) subscribe_or_publish(buffer, (size_t)got, epoll, fd);
  size_t lines = 0;
  for (char *at = buffer; (at = memchr(at, '\n', (size_t)(buffer + got - at))); at++) lines++;
  owed[fd] += lines * reply_bytes;
  pay(epoll, fd);
}

static int listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) exit(2);
  strcpy(address.sun_path, path);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  unlink(path);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0) fail("bind");
  if (listen(listener, 4096) != 0) fail("listen");
  return listener;
}

int main(int count, char **arguments) {
  reply_bytes = count > 2 ? strtoul(arguments[2], NULL, 10) : 0;
  if (reply_bytes < 80 || reply_bytes > MOST_REPLY_BYTES) return 2;
  int fanout = count > 3 && strcmp(arguments[3], "--fanout") == 0;
  struct rlimit limit = {MOST_DESCRIPTORS, MOST_DESCRIPTORS};
  setrlimit(RLIMIT_NOFILE, &limit);
  render_replies();
  int epoll = epoll_create1(EPOLL_CLOEXEC), listener = listen_at(arguments[1]);
  want(epoll, listener, EPOLLIN, EPOLL_CTL_ADD);
  for (;;) {
    struct epoll_event events[256];
    int ready = epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      int fd = events[i].data.fd;
      if (fd != listener) {
        if (events[i].events & EPOLLOUT) {
          want(epoll, fd, EPOLLIN, EPOLL_CTL_MOD);
          pay(epoll, fd);
        }
        if (events[i].events & ~EPOLLOUT) answer(epoll, fd, fanout);
        continue;
      }
      int peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (peer >= MOST_DESCRIPTORS) close(peer);
      else if (peer >= 0) want(epoll, peer, EPOLLIN, EPOLL_CTL_ADD);
    }
  }
}
