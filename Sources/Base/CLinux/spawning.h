// Other programs: starting them and learning of their end.
#pragma once

// At most so many descriptors are handed on; POSIX_SPAWN_SETSID, which only _GNU_SOURCE declares.
enum { CLINUX_SPAWN_PAIRS = 8, CLINUX_SPAWN_SETSID = 0x80 };
static inline int clinux_spawn_highest(const int *map, size_t count) {
  int highest = -1;
  for (size_t i = 0; i < count; i++) if (map[2 * i + 1] > highest) highest = map[2 * i + 1];
  return highest;
}
static inline int clinux_spawn_fill(
    posix_spawn_file_actions_t *actions, const int *map, const int *copies, size_t count, const char *directory) {
  int error = 0, highest = clinux_spawn_highest(map, count);
  for (size_t i = 0; i < count && !error; i++)
    error = posix_spawn_file_actions_adddup2(actions, copies[i], map[2 * i + 1]);
  for (int fd = 0; fd < highest && !error; fd++) {
    int mapped = 0;
    for (size_t i = 0; i < count; i++) mapped |= map[2 * i + 1] == fd;
    if (!mapped) error = posix_spawn_file_actions_addclose(actions, fd);
  }
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, highest + 1);
  if (!error && directory) error = posix_spawn_file_actions_addchdir_np(actions, directory);
  return error;
}
static inline int clinux_spawn_attributes(posix_spawnattr_t *attributes, int new_session) {
  sigset_t none, defaults;
  sigemptyset(&none);
  clinux_signal_set(&defaults, (1ull << SIGPIPE) | (1ull << SIGXFSZ));
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (new_session ? CLINUX_SPAWN_SETSID : 0);
  int error = posix_spawnattr_setflags(attributes, flags);
  if (!error) error = posix_spawnattr_setsigmask(attributes, &none);
  if (!error) error = posix_spawnattr_setsigdefault(attributes, &defaults);
  return error;
}
// Starts a program. `map` holds `count` pairs (descriptor here, descriptor there); everything else is closed in the
// child, whose signal mask is empty and for which SIGPIPE and SIGXFSZ are no longer ignored. The sources are copied
// high first, so that no pair can overwrite the source of a later one.
static inline int clinux_spawn(
    const char *path, char *const *arguments, char *const *environment, const int *map, size_t count, int new_session,
    const char *directory) {
  if (count > CLINUX_SPAWN_PAIRS) return -EINVAL;
  int copies[CLINUX_SPAWN_PAIRS], error = 0;
  size_t copied = 0;
  for (; copied < count; copied++) {
    copies[copied] = fcntl(map[2 * copied], F_DUPFD_CLOEXEC, clinux_spawn_highest(map, count) + 1);
    if (copies[copied] < 0) { error = errno; break; }
  }
  pid_t pid = 0;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (!error) error = clinux_spawn_fill(&actions, map, copies, count, directory);
  if (!error) error = clinux_spawn_attributes(&attributes, new_session);
  if (!error) error = posix_spawn(&pid, path, &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  while (copied > 0) close(copies[--copied]);
  return error ? -error : pid;
}
// `error` is an errno. `pid` 0: still running (only without `block`). `code` is the exit code, or 128 + the number of
// the signal that ended it.
struct clinux_exit { int error; int pid; int code; };
static inline struct clinux_exit clinux_wait(int pid, int block) {
  int status = 0, result;
  do result = waitpid(pid, &status, block ? 0 : WNOHANG); while (result < 0 && errno == EINTR);
  if (result < 0) return (struct clinux_exit){errno, 0, 0};
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return (struct clinux_exit){0, result, result ? code : 0};
}
// A descriptor that is readable once the child has ended (pidfd_open(2)); close-on-exec.
static inline int clinux_pidfd(int pid) { return clinux_result((int)syscall(SYS_pidfd_open, pid, 0)); }
// Sends a signal to the process that such a descriptor names (pidfd_send_signal(2)).
static inline int clinux_pidfd_signal(int descriptor, int number) {
  return clinux_result((int)syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0));
}
// Ends every process of the group that `pid` leads.
static inline int clinux_kill_group(int pid) { return clinux_result(kill(-pid, SIGKILL)); }
static inline int clinux_terminate_group(int pid) { return clinux_result(kill(-pid, SIGTERM)); }
static inline int clinux_signal_group(int pid, int number) { return clinux_result(kill(-pid, number)); }

// A copy of this process without a terminal and without the standard streams, which go nowhere: 0 there, its number here.
static inline int clinux_fork_apart(void) {
  pid_t child = fork();
  if (child) return child < 0 ? -errno : child;
  setsid();
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; fd++)
    if (nowhere < 0 || dup2(nowhere, fd) < 0) close(fd);
  return 0;
}
static inline _Noreturn void clinux_end_at_once(void) { _exit(0); }
// The same for a copy that is no child of this process: its parent is that of orphans, which takes its exit code.
static inline int clinux_fork_orphan(void) {
  pid_t child = fork();
  if (child < 0) return -errno;
  if (child) {
    struct clinux_exit end = clinux_wait(child, 1);
    return end.error ? -end.error : end.code ? -EAGAIN : child;
  }
  int here = clinux_fork_apart();
  if (here) _exit(here < 0);
  return 0;
}
