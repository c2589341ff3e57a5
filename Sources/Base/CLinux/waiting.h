// Waiting for descriptors, for times and for other threads.
#pragma once

static inline int clinux_epoll_create(void) { return clinux_result(epoll_create1(EPOLL_CLOEXEC)); }
static inline int clinux_epoll_control(int epoll, int operation, int fd, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = events, .data = {.u64 = token}};
  return clinux_result(epoll_ctl(epoll, operation, fd, &event));
}
// A signal that interrupts the wait looks like a wait that found nothing.
static inline int clinux_epoll_wait(int epoll, struct epoll_event *events, int count, int timeout) {
  #if defined(SYS_epoll_wait) || defined(CLINUX_LIBRARY_CALLS)
  int n = (int)CLINUX_CALL(epoll_wait, epoll, events, count, timeout);
#else
  // Newer machines have this call alone; without a set of signals it is the same (epoll_wait(2)).
  int n = (int)syscall(SYS_epoll_pwait, epoll, events, count, timeout, NULL, sizeof(uint64_t));
#endif
  return n < 0 ? (errno == EINTR ? 0 : -errno) : n;
}
// The members of one event, read in C: the structure is packed on x86-64, and its token is in a union.
static inline uint64_t clinux_epoll_token(const struct epoll_event *event) { return event->data.u64; }
static inline uint32_t clinux_epoll_events(const struct epoll_event *event) { return event->events; }

// A counter that wakes a waiting thread. Raising a full one, and clearing one at zero, changes nothing.
static inline int clinux_eventfd(void) { return clinux_result(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)); }
static inline void clinux_eventfd_raise(int fd) {
  uint64_t one = 1;
  while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {}
}
// Sets the counter of an eventfd or a timerfd back to zero.
static inline void clinux_drain_counter(int fd) {
  uint64_t count;
  while (read(fd, &count, sizeof count) < 0 && errno == EINTR) {}
}

// An alarm on the boot clock, which goes on while the machine sleeps; set to a time since boot, not to a delay.
static inline int clinux_timerfd(void) {
  return clinux_result(timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC));
}
static inline int clinux_timerfd_set(int fd, int64_t seconds, int64_t nanoseconds) {
  struct itimerspec when = {.it_value = {.tv_sec = seconds, .tv_nsec = nanoseconds}};
  return clinux_result(timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL));
}
// An alarm on the wall clock that never comes, and that is called off whenever the clock is set (TFD_TIMER_CANCEL_ON_SET).
static inline int clinux_clock_watch(void) {
  return clinux_result(timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC));
}
// ECANCELED: the clock was set since it was made or read. It is armed all the same, and armed again here.
static inline int clinux_clock_watch_arm(int fd) {
  // As far away as a 64-bit count of nanoseconds goes: the year 2262.
  struct itimerspec when = {.it_value = {.tv_sec = INT64_MAX / 1000000000}};
  int result;
  do result = timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL);
  while (result < 0 && (errno == EINTR || errno == ECANCELED));
  return clinux_result(result);
}
// Reads a timerfd: a number of bytes, or -errno.
static inline int64_t clinux_clock_watch_read(int fd) {
  uint64_t count;
  int64_t result;
  do result = read(fd, &count, sizeof count); while (result < 0 && errno == EINTR);
  return clinux_result_long(result);
}

struct clinux_time { int64_t seconds; int64_t nanoseconds; };
static inline struct clinux_time clinux_clock(int clock) {
  struct timespec t = {0};
  clock_gettime(clock, &t);
  return (struct clinux_time){t.tv_sec, t.tv_nsec};
}
// Sleeps the whole time, whatever signals come.
static inline void clinux_sleep(int64_t nanoseconds) {
  struct timespec t = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  while (nanosleep(&t, &t) < 0 && errno == EINTR) {}
}
// A negative number of milliseconds is no limit; an interrupting signal looks like a wait that found nothing.
static inline int clinux_poll(struct pollfd *entries, size_t count, int milliseconds) {
  int n = poll(entries, (nfds_t)count, milliseconds);
  return n < 0 ? (errno == EINTR ? 0 : -errno) : n;
}

// Waits for a semaphore for so many nanoseconds at most, on the clock that cannot be set; 0, or -ETIMEDOUT.
static inline int clinux_semaphore_wait(sem_t *semaphore, int64_t nanoseconds) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  int64_t sum = end.tv_nsec + nanoseconds % 1000000000;
  end.tv_sec += nanoseconds / 1000000000 + sum / 1000000000;
  end.tv_nsec = sum % 1000000000;
  int result;
  do result = sem_clockwait(semaphore, CLOCK_MONOTONIC, &end); while (result < 0 && errno == EINTR);
  return clinux_result(result);
}
