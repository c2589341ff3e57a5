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

// Lets keys through one by one and unseen (0), or by lines (1) and with echo (2); returns what it was. What is on its way is
// neither awaited nor dropped: a terminal that stands still must not keep its program from ending.
static inline int clinux_terminal_mode(int fd, int wanted) {
  struct termios settings;
  if (tcgetattr(fd, &settings) < 0) return -errno;
  int before = ((settings.c_lflag & ICANON) != 0) | ((settings.c_lflag & ECHO) != 0) << 1;
  settings.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  if (wanted & 1) settings.c_lflag |= ICANON;
  if (wanted & 2) settings.c_lflag |= ECHO;
  if (tcsetattr(fd, TCSANOW, &settings) < 0) return -errno;
  return before;
}

// The rows of a terminal; 0 where that is not known.
static inline int clinux_terminal_rows(int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) < 0 ? 0 : size.ws_row;
}

// The columns of a terminal (ioctl_tty(2)); 0 where that is not known.
static inline int clinux_terminal_columns(int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) < 0 ? 0 : size.ws_col;
}
