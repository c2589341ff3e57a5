// Datagrams to the socket of a service manager (sd_notify(3), unix(7)).
#pragma once

// A descriptor that is readable once something has gone from a directory, or the directory itself (inotify(7)).
static inline int clinux_watch_also(int fd, const char *path) {
  uint32_t events = IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  return inotify_add_watch(fd, path, events) >= 0 ? 0 : -errno;
}
static inline int clinux_watch_directory(const char *path) {
  int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (fd < 0) return -errno;
  int result = clinux_watch_also(fd, path);
  if (result == 0) return fd;
  close(fd);
  return result;
}
static inline int clinux_datagram_socket(int64_t send_timeout_seconds) {
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  struct timeval limit = {.tv_sec = send_timeout_seconds, .tv_usec = 0};
  if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0) return fd;
  int error = errno;
  close(fd);
  return -error;
}
// Sends one datagram to a path, or, with `@` for its first byte, to an abstract name: that is as long as it is, without a NUL.
static inline int clinux_send_datagram(int fd, const char *name, const void *bytes, size_t count, int may_wait) {
  struct sockaddr_un address;
  int refused = clinux_unix_address(&address, name);
  if (refused < 0) return refused;
  size_t length = strlen(name);
  int is_abstract = name[0] == '@';
  if (is_abstract) address.sun_path[0] = 0;
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (is_abstract ? 0 : 1));
  int flags = MSG_NOSIGNAL | (may_wait ? 0 : MSG_DONTWAIT);
  ssize_t result;
  do result = sendto(fd, bytes, count, flags, (struct sockaddr *)&address, size); while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}
