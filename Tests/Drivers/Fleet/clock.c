// A wall clock that is wrong by CLOCK_AHEAD_SECONDS, for a program that it is preloaded into (ld.so(8), LD_PRELOAD). Uptimes and
// timers are the kernel's: libfaketime moves absolute times of timerfd_settime(2) on the boot clock as well, so that they never end.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead(void) {
  const char *text = getenv("CLOCK_AHEAD_SECONDS");
  return text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += ahead();
  return result;
}

int gettimeofday(struct timeval *time, void *zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}
