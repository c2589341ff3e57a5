// What Swift's Glibc module does not offer: calls that only _GNU_SOURCE declares, variadic calls, and calls whose
// arguments are structures that are safer to fill here. Unless its type or its comment says otherwise, a function
// returns a value >= 0, or -errno. Each topic has a header of its own, which is included here and nowhere else.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// The headers are read without _GNU_SOURCE, as Glibc's own module reads them: what it would declare is declared here.
extern int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
extern int pipe2(int descriptors[2], int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern const char *strerrorname_np(int code);
extern const char *strerrordesc_np(int code);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
extern long syscall(long number, ...);
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *end);
extern int mlock2(const void *address, size_t length, unsigned int flags);
extern char **environ;

#include "results.h"
#include "descriptors.h"
#include "files.h"
#include "sockets.h"
#include "notification.h"
#include "routing.h"
#include "waiting.h"
#include "signals.h"
#include "process.h"
#include "spawning.h"
#include "terminal.h"
#include "secret-memory.h"
