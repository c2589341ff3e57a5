// Signals: bit n of a mask is signal n, 1 to 63.
#pragma once

static inline void clinux_signal_set(sigset_t *set, uint64_t mask) {
  sigemptyset(set);
  for (int number = 1; number < 64; number++) if (mask & (1ull << number)) sigaddset(set, number);
}
// Blocks or unblocks signals for the calling thread and for those that it starts.
static inline int clinux_signals_mask(int block, uint64_t mask) {
  sigset_t set;
  clinux_signal_set(&set, mask);
  return -pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}
static inline int clinux_signals_ignore(int number) { return signal(number, SIG_IGN) == SIG_ERR ? -errno : 0; }
static inline int clinux_signalfd(uint64_t mask) {
  sigset_t set;
  clinux_signal_set(&set, mask);
  return clinux_result(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}
// The number of the next pending signal, 0 when there is none.
static inline int clinux_signalfd_next(int fd) {
  struct signalfd_siginfo info;
  ssize_t n;
  do n = read(fd, &info, sizeof info); while (n < 0 && errno == EINTR);
  if (n < 0) return errno == EAGAIN ? 0 : -errno;
  return n == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}
static inline int clinux_signal_send(int pid, int number) { return clinux_result(kill(pid, number)); }
