// Where `load` speaks to a server: a Unix socket, or the standard input and output of a program that it starts.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST_BYTES = 4096 };

extern char **environ;

static const char *mode, *socket_path;
static char **program;
// What a started program reads where it is not talked to.
static const char *input_path = "/dev/null";

static void fail(const char *what) {
  fprintf(stderr, errno ? "load %s: %s: %s\n" : "load %s: %s\n", mode, what, strerror(errno));
  exit(1);
}

// A place where bytes go in and lines come out: one socket, or the two pipes of a program.
struct channel { int in, out; pid_t pid; };

static int connect_socket(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!socket_path || strlen(socket_path) >= sizeof address.sun_path) fail("--socket");
  strcpy(address.sun_path, socket_path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  return fd;
}

static pid_t start(int in, int out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (in >= 0) posix_spawn_file_actions_adddup2(&actions, in, 0);
  else posix_spawn_file_actions_addopen(&actions, 0, input_path, O_RDONLY, 0);
  if (out >= 0) posix_spawn_file_actions_adddup2(&actions, out, 1);
  else posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid;
  if ((errno = posix_spawnp(&pid, program[0], &actions, NULL, program, environ)) != 0) fail(program[0]);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

static struct channel open_channel(void) {
  if (!program) {
    int fd = connect_socket();
    return (struct channel){fd, fd, 0};
  }
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) fail("pipe");
  pid_t pid = start(in[0], out[1]);
  close(in[0]);
  close(out[1]);
  return (struct channel){in[1], out[0], pid};
}

static void close_channel(struct channel channel) {
  close(channel.in);
  if (channel.out != channel.in) close(channel.out);
  if (channel.pid) waitpid(channel.pid, NULL, 0);
}

static void write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t sent = write(fd, bytes, length);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail("write");
    bytes += sent;
    length -= (size_t)sent;
  }
}

static void send_line(int fd, const char *line) {
  char whole[REQUEST_BYTES + 1];
  int length = snprintf(whole, sizeof whole, "%s\n", line);
  write_all(fd, whole, (size_t)length);
}
