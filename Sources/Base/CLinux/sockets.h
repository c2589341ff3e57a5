// Unix stream sockets, and TCP on this machine.
#pragma once

// The longest path of a socket address in bytes, its NUL not counted.
enum { CLINUX_PATH_LIMIT = sizeof(((struct sockaddr_un *)0)->sun_path) - 1 };

static inline int clinux_unix_address(struct sockaddr_un *address, const char *path) {
  size_t length = strlen(path);
  if (length == 0 || length > CLINUX_PATH_LIMIT) return -ENAMETOOLONG;
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path, path, length);
  return 0;
}
static inline int clinux_unix_bind_or_connect(int fd, const char *path, int binds) {
  struct sockaddr_un address;
  int result = clinux_unix_address(&address, path);
  if (result < 0) return result;
  do result = binds ? bind(fd, (struct sockaddr *)&address, sizeof address) : connect(fd, (struct sockaddr *)&address, sizeof address);
  while (result < 0 && errno == EINTR);
  return clinux_result(result);
}
// Binds or connects a socket. A path that is too long for an address is reached from its directory, by /proc/self/fd (proc(5)) or,
// where there is no /proc, with that as the working directory of the process for a moment.
static inline int clinux_unix_reach(int fd, const char *path, int binds) {
  int result = clinux_unix_bind_or_connect(fd, path, binds);
  size_t length = strlen(path);
  const char *name = strrchr(path, '/');
  if (result != -ENAMETOOLONG || !name || length >= PATH_MAX) return result;
  char directory[PATH_MAX], near[CLINUX_PATH_LIMIT + 1] = "/proc/self/fd/";
  memcpy(directory, path, length + 1);
  directory[name - path + 1] = 0;
  name++;
  int place = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (place < 0) return -errno;
  char *end = near + strlen(near);
  int digits = 1;
  for (int rest = place; rest >= 10; rest /= 10) digits++;
  for (int rest = place, digit = digits; digit > 0; rest /= 10) end[--digit] = (char)('0' + rest % 10);
  end += digits;
  *end++ = '/';
  if ((size_t)(end - near) + strlen(name) > CLINUX_PATH_LIMIT) {
    close(place);
    return -ENAMETOOLONG;
  }
  memcpy(end, name, strlen(name) + 1);
  result = clinux_unix_bind_or_connect(fd, near, binds);
  int here;
  if (result == -ENOENT && access("/proc/self/fd", F_OK) < 0 && (here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0) {
    result = fchdir(place) < 0 ? -errno : clinux_unix_bind_or_connect(fd, name, binds);
    if (fchdir(here) < 0) result = -errno;
    close(here);
  }
  close(place);
  return result;
}
static inline int clinux_unix_socket(int nonblocking) {
  return clinux_result(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0), 0));
}
// The socket is for its owner alone from its first moment: on Linux the file that bind(2) makes gets the mode that the socket
// has. A mask would be that of the whole process, and take rights from what other threads make meanwhile.
static inline int clinux_unix_bind(int fd, const char *path) {
  if (fchmod(fd, 0600) < 0) return -errno;
  return clinux_unix_reach(fd, path, 1);
}
static inline int clinux_unix_connect(int fd, const char *path) { return clinux_unix_reach(fd, path, 0); }
static inline int clinux_listen(int fd, int backlog) { return clinux_result(listen(fd, backlog)); }
static inline int clinux_accept(int fd) {
  int result;
  do result = (int)CLINUX_CALL(accept4, fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); while (result < 0 && errno == EINTR);
  return clinux_result(result);
}
// On a Unix socket it also bounds connect(2) to a listener whose queue is full; 0 is no limit (unix(7), socket(7)).
static inline int clinux_set_send_timeout(int fd, int64_t seconds) {
  struct timeval limit = {.tv_sec = seconds, .tv_usec = 0};
  return clinux_result(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
}
// The family of a stream socket that listens; 0 for another socket, -errno for what is no socket.
static inline int clinux_listening_family(int fd) {
  int domain = 0, type = 0, listening = 0;
  socklen_t size = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0) return -errno;
  size = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0) return -errno;
  size = sizeof listening;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) < 0) return -errno;
  return type == SOCK_STREAM && listening ? domain : 0;
}
// 1 or 0, or -errno for what is no socket.
static inline int clinux_is_listening_unix_stream(int fd) {
  int family = clinux_listening_family(fd);
  return family < 0 ? family : family == AF_UNIX;
}
// Reads bytes of a Unix socket, and the one descriptor that was passed with them (unix(7), SCM_RIGHTS); it is closed on exec.
// `descriptor` is -1 where there is none. Where more than one was passed, the kernel and this close them all, and `too_many` is set.
struct clinux_received { int64_t count; int descriptor; int too_many; };
static inline struct clinux_received clinux_receive(int fd, void *buffer, size_t room) {
  struct clinux_received received = {.descriptor = -1};
  struct iovec part = {buffer, room};
  union { struct cmsghdr head; char bytes[CMSG_SPACE(sizeof(int))]; } control;
  // CMSG_LEN and not CMSG_SPACE: there is no room for a second one in what would only be padding.
  struct msghdr message = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int))};
  do received.count = CLINUX_CALL(recvmsg, fd, &message, MSG_CMSG_CLOEXEC); while (received.count < 0 && errno == EINTR);
  if (received.count < 0) received.count = -(int64_t)errno;
  else if (message.msg_controllen >= CMSG_LEN(sizeof(int)) && control.head.cmsg_level == SOL_SOCKET && control.head.cmsg_type == SCM_RIGHTS)
    memcpy(&received.descriptor, CMSG_DATA(&control.head), sizeof(int));
  if (message.msg_flags & MSG_CTRUNC) {
    received.too_many = 1;
    if (received.descriptor >= 0) close(received.descriptor);
    received.descriptor = -1;
  }
  return received;
}
// Whether a socket is in the network namespace of this process (SO_NETNS_COOKIE, Linux 5.14); -errno where the kernel does not say.
enum { CLINUX_NETNS_COOKIE = 71 };
static inline int clinux_is_in_own_network(int fd) {
  uint64_t there = 0, here = 0;
  socklen_t size = sizeof there;
  if (getsockopt(fd, SOL_SOCKET, CLINUX_NETNS_COOKIE, &there, &size) < 0) return -errno;
  int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (own < 0) return -errno;
  size = sizeof here;
  int result = getsockopt(own, SOL_SOCKET, CLINUX_NETNS_COOKIE, &here, &size) < 0 ? -errno : here == there;
  close(own);
  return result;
}
// Whether an address is 127.0.0.1, ::1, or the first in the form of the second.
static inline int clinux_is_bound_to_loopback(int fd) {
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &size) < 0) return -errno;
  const struct sockaddr_in *four = (const struct sockaddr_in *)&address;
  const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address;
  if (address.ss_family == AF_INET) return ntohl(four->sin_addr.s_addr) >> 24 == 127;
  if (address.ss_family != AF_INET6) return 0;
  return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) || (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) && six->sin6_addr.s6_addr[12] == 127);
}
// The path that a Unix socket is bound to, copied into `buffer`; its length, 0 for a socket without one: unnamed or
// abstract (unix(7)). Room for CLINUX_PATH_LIMIT + 1 bytes is enough: a path that fills the address has no NUL.
static inline int clinux_unix_path(int fd, void *buffer, size_t room) {
  struct sockaddr_un address = {0};
  socklen_t size = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &size) < 0) return -errno;
  if (address.sun_family != AF_UNIX) return -EAFNOSUPPORT;
  size_t used = size > offsetof(struct sockaddr_un, sun_path) ? size - offsetof(struct sockaddr_un, sun_path) : 0;
  size_t length = strnlen(address.sun_path, used < sizeof address.sun_path ? used : sizeof address.sun_path);
  if (length > room) return -ENAMETOOLONG;
  memcpy(buffer, address.sun_path, length);
  return (int)length;
}
// struct ucred of unix(7), which only _GNU_SOURCE declares.
struct clinux_credentials { int32_t pid; uint32_t uid; uint32_t gid; };
// `error` is an errno, 0 when the credentials are there.
struct clinux_peer { int error; struct clinux_credentials credentials; };
static inline struct clinux_peer clinux_peer_credentials(int fd) {
  struct clinux_peer peer = {0};
  socklen_t size = sizeof peer.credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer.credentials, &size) < 0) peer.error = errno;
  else if (size != sizeof peer.credentials) peer.error = EPROTO;
  return peer;
}
// The process at the other end as a descriptor of its own (SO_PEERPIDFD, Linux 6.5), whose number the headers of older systems
// lack; -ENOPROTOOPT before. SO_PEERCRED goes on naming its number when it has ended.
enum { CLINUX_PEER_PIDFD = 77 };
static inline int clinux_peer_pidfd(int fd) {
  int process = -1;
  socklen_t size = sizeof process;
  if (getsockopt(fd, SOL_SOCKET, CLINUX_PEER_PIDFD, &process, &size) < 0) return -errno;
  return process < 0 ? -ESRCH : process;
}
// The security label of the other end when the connection was made (SO_PEERSEC), copied into `buffer`; its length.
static inline int clinux_peer_label(int fd, void *buffer, size_t room) {
  socklen_t size = (socklen_t)room;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERSEC, buffer, &size) < 0) return -errno;
  return (int)size;
}

// TCP on this machine only (ip(7), ipv6(7)): a non-blocking socket that listens on 127.0.0.1 or ::1; port 0 is any free one.
static inline int clinux_loopback_listen(int version6, uint16_t port, int backlog) {
  struct sockaddr_in six_less = {.sin_family = AF_INET, .sin_port = htons(port)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  six_less.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(version6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  // A port whose last connections are still being wound up can be taken again; one that a process listens on cannot.
  int on = 1;
  int failed = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0
    || (version6 ? bind(fd, (struct sockaddr *)&six, sizeof six) : bind(fd, (struct sockaddr *)&six_less, sizeof six_less)) < 0
    // Those that it accepts take this over: an answer is written as it comes, and no piece waits for another's acknowledgement.
    || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 || listen(fd, backlog) < 0;
  if (!failed) return fd;
  int error = errno;
  close(fd);
  return -error;
}
// A blocking connection to a port of this machine.
static inline int clinux_loopback_connect(int version6, uint16_t port) {
  struct sockaddr_in six_less = {.sin_family = AF_INET, .sin_port = htons(port)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  six_less.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(version6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int result;
  do result = version6 ? connect(fd, (struct sockaddr *)&six, sizeof six) : connect(fd, (struct sockaddr *)&six_less, sizeof six_less);
  while (result < 0 && errno == EINTR);
  if (result == 0) return fd;
  int error = errno;
  close(fd);
  return -error;
}
// The port of an end of a socket, or -errno.
static inline int clinux_port(int result, const struct sockaddr_storage address) {
  if (result < 0) return -errno;
  if (address.ss_family == AF_INET) return ntohs(((const struct sockaddr_in *)&address)->sin_port);
  if (address.ss_family == AF_INET6) return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
  return -EAFNOSUPPORT;
}
// The port that a socket of this machine has, or -errno.
static inline int clinux_local_port(int fd) {
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  int result = getsockname(fd, (struct sockaddr *)&address, &size);
  return clinux_port(result, address);
}
// The port of the other end, or -errno.
static inline int clinux_peer_port(int fd) {
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  int result = getpeername(fd, (struct sockaddr *)&address, &size);
  return clinux_port(result, address);
}
