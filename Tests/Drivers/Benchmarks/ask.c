// What `authbroker` is measured against as a process: the least static C program that does what every client must.
//
//   ask token     prints the access token, as `authbroker token`
//   ask header    prints the header that carries it, as `authbroker header`
//   ask git       answers git-credential(1)'s `get` on standard input, as `authbroker helper git get`
//   ask url URL   prints the token of the profile that URL is a target of, as every other helper at least must
//   ask once URL  the same, and keeps in a file what the parent of this process was given, as the helper for kubectl: a second
//                 question of one process means that its token was refused
//
// It finds the socket (AUTHBROKER_SOCKET, else the record in AUTHBROKER_STATE/broker.lock), connects, checks that its own
// user answers (SO_PEERCRED, unix(7)), asks, and prints. It parses nothing strictly: a token of the broker has no escape.
//
//   cc -O2 -static ask.c -o ask
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE_BYTES = 65536, WORD_BYTES = 512 };

static char line[LINE_BYTES];

// Reads until a newline, the end or the end of the room; the bytes end with a zero.
static size_t read_until_newline(int fd, char *buffer, size_t room) {
  size_t have = 0;
  while (have < room - 1 && !memchr(buffer, '\n', have)) {
    ssize_t got = read(fd, buffer + have, room - 1 - have);
    if (got <= 0) break;
    have += (size_t)got;
  }
  buffer[have] = 0;
  return have;
}

// The string after a mark, up to its quote, in place; ends the program where it is not there.
static char *value_after(char *text, const char *mark, int code) {
  char *found = strstr(text, mark);
  if (!found) exit(code);
  found += strlen(mark);
  found[strcspn(found, "\"")] = 0;
  return found;
}

static void find_socket(struct sockaddr_un *address) {
  const char *chosen = getenv("AUTHBROKER_SOCKET"), *state = getenv("AUTHBROKER_STATE");
  static char path[4096], record[LINE_BYTES];
  if (!chosen || !*chosen) {
    if (!state || snprintf(path, sizeof path, "%s/broker.lock", state) >= (int)sizeof path) exit(2);
    int lock = open(path, O_RDONLY | O_CLOEXEC);
    if (lock < 0) exit(8);
    read_until_newline(lock, record, sizeof record);
    close(lock);
    chosen = value_after(record, "\"socket\":\"", 8);
  }
  if (strlen(chosen) >= sizeof address->sun_path) exit(2);
  strcpy(address->sun_path, chosen);
}

static int connected(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  find_socket(&address);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) exit(8);
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != getuid()) exit(6);
  return fd;
}

static void ask(int fd, const char *request) {
  size_t length = strlen(request);
  if (write(fd, request, length) != (ssize_t)length || read_until_newline(fd, line, sizeof line) == 0) exit(8);
}

static void print(const char *before, const char *token) {
  static char text[LINE_BYTES + WORD_BYTES];
  int length = snprintf(text, sizeof text, "%s%s\n", before, token);
  if (write(STDOUT_FILENO, text, (size_t)length) != length) exit(1);
}

// One line of git's question; it has ended with an empty one, or with the input.
static void take(char *question, const char *name, char *word) {
  char *found = strstr(question, name);
  if (!found) exit(1);
  snprintf(word, WORD_BYTES, "%.*s", (int)strcspn(found + strlen(name), "\n"), found + strlen(name));
}

// The token of the profile that an address is a target of.
static char *token_for(int fd, const char *url) {
  static char request[4 * WORD_BYTES];
  snprintf(request, sizeof request,
           "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"getAccessToken\",\"params\":{\"url\":\"%s\"}}\n", url);
  ask(fd, request);
  return value_after(line, "\"accessToken\":\"", 3);
}

// When a process started, in clock ticks since boot: the 22nd field of proc_pid_stat(5), behind the name in brackets.
static unsigned long long start_of(pid_t process) {
  static char path[WORD_BYTES], status[4096];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) exit(1);
  read_until_newline(fd, status, sizeof status);
  close(fd);
  char *field = strrchr(status, ')');
  for (int index = 2; field && index < 22; index++) field = strchr(field + 1, ' ');
  return field ? strtoull(field, NULL, 10) : 0;
}

static void keep(const char *token_id) {
  static char folder[WORD_BYTES], path[2 * WORD_BYTES], fresh[3 * WORD_BYTES], known[WORD_BYTES], line_of_id[WORD_BYTES];
  const char *state = getenv("AUTHBROKER_STATE");
  snprintf(folder, sizeof folder, "%s/ask", state ? state : "");
  mkdir(folder, 0700);
  snprintf(path, sizeof path, "%s/%d-%llu", folder, (int)getppid(), start_of(getppid()));
  snprintf(fresh, sizeof fresh, "%s.new", path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    read_until_newline(fd, known, sizeof known);
    close(fd);
  }
  fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int length = snprintf(line_of_id, sizeof line_of_id, "%s\n", token_id);
  if (fd < 0 || write(fd, line_of_id, (size_t)length) != length || rename(fresh, path) != 0) exit(1);
  close(fd);
}

static void answer_git(int fd) {
  static char question[LINE_BYTES], protocol[WORD_BYTES], host[WORD_BYTES], url[3 * WORD_BYTES];
  size_t have = 0;
  ssize_t got;
  while (have < sizeof question - 1 && !strstr(question, "\n\n") &&
         (got = read(STDIN_FILENO, question + have, sizeof question - 1 - have)) > 0) have += (size_t)got;
  take(question, "protocol=", protocol);
  take(question, "host=", host);
  snprintf(url, sizeof url, "%s://%s", protocol, host);
  print("username=oauth2\npassword=", token_for(fd, url));
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  int once = strcmp(arguments[1], "once") == 0;
  if (count != (once || strcmp(arguments[1], "url") == 0 ? 3 : 2)) return 2;
  int fd = connected();
  if (strcmp(arguments[1], "git") == 0) {
    answer_git(fd);
    return 0;
  }
  if (count == 3) {
    char *token = token_for(fd, arguments[2]);
    if (once) keep(value_after(token + strlen(token) + 1, "\"tokenId\":\"", 3));
    print("", token);
    return 0;
  }
  ask(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"getAccessToken\"}\n");
  print(strcmp(arguments[1], "header") == 0 ? "Authorization: Bearer " : "", value_after(line, "\"accessToken\":\"", 3));
  return 0;
}
