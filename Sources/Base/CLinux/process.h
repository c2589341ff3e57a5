// This process: its limits, its environment, its end.
#pragma once

// No core file, no debugger of the same user, no rights that a program could gain by exec (prctl(2)).
static inline int clinux_forbid_dumps(void) {
  struct rlimit none = {0, 0};
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return -errno;
  if (setrlimit(RLIMIT_CORE, &none) < 0) return -errno;
  return clinux_result(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}
// No core file and no debugger of the same user, for this program alone: execve(2) makes the next one dumpable again, and
// `core` is the soft limit that it is to get back.
static inline int clinux_forbid_dumps_here(uint64_t *core) {
  struct rlimit limit;
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || getrlimit(RLIMIT_CORE, &limit) < 0) return -errno;
  *core = (uint64_t)limit.rlim_cur;
  limit.rlim_cur = 0;
  return clinux_result(setrlimit(RLIMIT_CORE, &limit));
}
// Sets the soft limit of core files, which never exceeds the hard one.
static inline int clinux_limit_core(uint64_t core) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) < 0) return -errno;
  limit.rlim_cur = (rlim_t)core;
  return clinux_result(setrlimit(RLIMIT_CORE, &limit));
}
// Raises the soft limit of descriptors to the hard one and returns it.
static inline int64_t clinux_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
  }
  return limit.rlim_cur > INT32_MAX ? INT32_MAX : (int64_t)limit.rlim_cur;
}
// localtime(3); `error` is an errno, 0 when the rest is filled in.
struct clinux_date { int error; int year; int month; int day; int hour; int minute; int second; };
static inline struct clinux_date clinux_local_date(int64_t seconds) {
  struct tm date = {0};
  time_t moment = (time_t)seconds;
  tzset();
  if (!localtime_r(&moment, &date)) return (struct clinux_date){.error = errno ? errno : EOVERFLOW};
  return (struct clinux_date){
      0, date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec};
}
// How many bytes this process may lock in memory; INT64_MAX where there is no limit.
static inline int64_t clinux_memory_lock_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0) return -errno;
  return limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
}
// The path by which the program was executed, NULL where the kernel does not say (getauxval(3)).
static inline const char *clinux_executed_name(void) { return (const char *)getauxval(AT_EXECFN); }
// Whether the process is in a group, by its own one or a supplementary one (credentials(7)).
static inline int clinux_is_in_group(uint32_t group) {
  gid_t groups[1024];
  if (getegid() == group) return 1;
  int count = getgroups(sizeof groups / sizeof *groups, groups);
  for (int index = 0; index < count; index++)
    if (groups[index] == group) return 1;
  return 0;
}
static inline int clinux_set_environment(const char *name, const char *value) {
  return clinux_result(setenv(name, value, 1));
}
// A session keyring without a name and without a key (keyctl(2), KEYCTL_JOIN_SESSION_KEYRING): one that was inherited is given up.
enum { CLINUX_JOIN_SESSION_KEYRING = 1 };
static inline int clinux_new_session_keyring(void) {
  long result = syscall(SYS_keyctl, CLINUX_JOIN_SESSION_KEYRING, NULL);
  return result < 0 ? -errno : 0;
}
// Makes this process the leader of a group of its own.
static inline int clinux_new_group(void) { return clinux_result(setpgid(0, 0)); }
static inline uint64_t clinux_thread_identity(void) { return (uint64_t)pthread_self(); }
// NULL behind the last one.
static inline const char *clinux_environment_entry(size_t index) { return environ[index]; }
// What the first variable with a name of so many bytes is set to; NULL where none has it.
static inline const char *clinux_environment_value(const void *name, size_t length) {
  if (!length || !environ || memchr(name, 0, length)) return NULL;
  for (char **entry = environ; *entry; entry++)
    if (!strncmp(*entry, (const char *)name, length) && (*entry)[length] == '=') return *entry + length + 1;
  return NULL;
}
// How many words the command line has. In front of the first variable of the environment stand the NULL that ends the list of
// words, the words, and their number. Only before setenv(3), which moves the environment; 0 where that was done.
static inline ptrdiff_t clinux_argument_count(void) {
  // MAX_ARG_STRINGS of the kernel is larger, but no line of words is.
  const ptrdiff_t most = 1 << 20;
  if (!environ || environ[-1]) return 0;
  for (ptrdiff_t count = 0; count < most; count++)
    if ((ptrdiff_t)(intptr_t)environ[-2 - count] == count) return count;
  return 0;
}
// A word of so many.
static inline const char *clinux_argument(ptrdiff_t index, ptrdiff_t count) { return environ[index - count - 1]; }
// Random bytes of the kernel's (getrandom(2)); 256 at most are given in one piece.
static inline int64_t clinux_random(void *buffer, size_t count) {
  return clinux_result_long(CLINUX_CALL(getrandom, buffer, count, 0));
}
