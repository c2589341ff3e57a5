// The terminal.
#pragma once

// Switches echo and drops what was typed before; returns 1 if echo was on, 0 if it was off.
static inline int clinux_terminal_echo(int fd, int on) {
  struct termios settings;
  if (tcgetattr(fd, &settings) < 0) return -errno;
  int before = (settings.c_lflag & ECHO) != 0;
  if (on) settings.c_lflag |= ECHO; else settings.c_lflag &= ~(tcflag_t)ECHO;
  if (tcsetattr(fd, TCSAFLUSH, &settings) < 0) return -errno;
  return before;
}

// The columns of a terminal (ioctl_tty(2)); 0 where that is not known.
static inline int clinux_terminal_columns(int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) < 0 ? 0 : size.ws_col;
}
