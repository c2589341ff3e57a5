// Open descriptors: bytes, flags, locks, pairs.
#pragma once

static inline int64_t clinux_read(int fd, void *buffer, size_t count) {
  int64_t n;
  do n = CLINUX_CALL(read, fd, buffer, count); while (n < 0 && errno == EINTR);
  return clinux_result_long(n);
}
static inline int64_t clinux_write(int fd, const void *buffer, size_t count) {
  int64_t n;
  do n = write(fd, buffer, count); while (n < 0 && errno == EINTR);
  return clinux_result_long(n);
}
// A file in memory alone, by the flags of <linux/memfd.h>. A kernel before 6.3 does not know the second one, and a later
// one may insist on it (sysctl vm.memfd_noexec).
enum { CLINUX_MEMORY_CLOEXEC = 1, CLINUX_MEMORY_NOEXEC_SEAL = 8 };
static inline int clinux_memory_file(const char *name) {
  int fd = (int)syscall(SYS_memfd_create, name, CLINUX_MEMORY_CLOEXEC | CLINUX_MEMORY_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL) fd = (int)syscall(SYS_memfd_create, name, CLINUX_MEMORY_CLOEXEC);
  return clinux_result(fd);
}
// Never waits, whatever the flags of the open file say.
static inline int64_t clinux_recv(int fd, void *buffer, size_t count) {
  int64_t n;
  do n = recv(fd, buffer, count, MSG_DONTWAIT); while (n < 0 && errno == EINTR);
  return clinux_result_long(n);
}
// Never raises SIGPIPE. With `wait` it waits as the flags of the open file say, without it never.
static inline int64_t clinux_send(int fd, const void *buffer, size_t count, int wait) {
  int64_t n;
  int flags = MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT);
  do n = CLINUX_CALL(sendto, fd, buffer, count, flags, NULL, 0); while (n < 0 && errno == EINTR);
  return clinux_result_long(n);
}
static inline int64_t clinux_pread(int fd, void *buffer, size_t count, int64_t offset) {
  int64_t n;
  do n = pread(fd, buffer, count, offset); while (n < 0 && errno == EINTR);
  return clinux_result_long(n);
}
static inline int64_t clinux_pwrite(int fd, const void *buffer, size_t count, int64_t offset) {
  int64_t n;
  do n = pwrite(fd, buffer, count, offset); while (n < 0 && errno == EINTR);
  return clinux_result_long(n);
}
// Blocks of the file system that belong to the file from now on (posix_fallocate(3)).
static inline int clinux_allocate(int fd, int64_t size) {
  int error;
  do error = posix_fallocate(fd, 0, size); while (error == EINTR);
  return -error;
}
static inline int clinux_open(const char *path, int flags, unsigned mode) {
  int fd;
  do fd = open(path, flags | O_CLOEXEC, (mode_t)mode); while (fd < 0 && errno == EINTR);
  return clinux_result(fd);
}
// On Linux the descriptor is gone whatever close(2) says, so it is never called twice.
static inline void clinux_close(int fd) { CLINUX_CALL(close, fd); }
static inline int clinux_duplicate(int fd, int lowest) { return clinux_result(fcntl(fd, F_DUPFD_CLOEXEC, lowest)); }
// Opens /dev/null in the place of every standard descriptor that is closed, so that no lock or socket takes its number. It
// is opened so that reading finds the end and writing fails.
static inline int clinux_fill_standard_descriptors(void) {
  for (int fd = 0; fd <= 2; fd++) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    if (open("/dev/null", O_RDONLY) < 0) return -errno;
  }
  return 0;
}
static inline int clinux_duplicate_onto(int fd, int target) {
  int result;
  do result = dup2(fd, target); while (result < 0 && (errno == EINTR || errno == EBUSY));
  return clinux_result(result);
}
// Sets flags and clears none. O_NONBLOCK belongs to the open file, so it is set for everybody who shares it.
static inline int clinux_add_flags(int fd, int nonblocking, int close_on_exec) {
  if (nonblocking) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return -errno;
  }
  if (close_on_exec && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return -errno;
  return 0;
}
static inline int clinux_is_nonblocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags < 0 ? -errno : (flags & O_NONBLOCK) != 0;
}
static inline int clinux_access_mode(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags < 0 ? -errno : (flags & O_ACCMODE);
}
static inline int clinux_truncate(int fd, int64_t size) { return clinux_result(ftruncate(fd, size)); }

// Takes the exclusive lock of the open file (flock(2)), or fails with -EWOULDBLOCK.
// 1 if another open file holds the lock.
static inline int clinux_is_locked(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
    flock(fd, LOCK_UN);
    return 0;
  }
  return errno == EWOULDBLOCK;
}
static inline int clinux_lock(int fd) {
  int result;
  do result = flock(fd, LOCK_EX | LOCK_NB); while (result < 0 && errno == EINTR);
  return clinux_result(result);
}
static inline int clinux_rewind(int fd) { return lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0; }

// True for a pipe that pipe(2) made: a FIFO that has a name lives on another file system (PIPEFS_MAGIC, statfs(2)).
static inline int clinux_is_anonymous_pipe(int fd) {
  struct statfs s;
  return fstatfs(fd, &s) == 0 && s.f_type == 0x50495045;
}
// Two new descriptors; `error` is an errno, 0 when both are there.
struct clinux_pair { int error; int first; int second; };
static inline struct clinux_pair clinux_pipe(int nonblocking) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC | (nonblocking ? O_NONBLOCK : 0)) < 0) return (struct clinux_pair){errno, -1, -1};
  return (struct clinux_pair){0, fds[0], fds[1]};
}
static inline struct clinux_pair clinux_socketpair(int nonblocking) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0), 0, fds) < 0)
    return (struct clinux_pair){errno, -1, -1};
  return (struct clinux_pair){0, fds[0], fds[1]};
}
