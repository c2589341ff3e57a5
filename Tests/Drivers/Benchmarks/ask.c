// What `authbroker token` is measured against: the least C program that connects, asks and prints the token.
//
//   ask SOCKET
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"getAccessToken\"}\n";
  static char reply[65536];
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (count != 2 || strlen(arguments[1]) >= sizeof address.sun_path) return 2;
  strcpy(address.sun_path, arguments[1]);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) return 8;
  // As every client must: the server is one's own, or it gets nothing.
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != getuid()) return 6;
  if (write(fd, request, sizeof request - 1) != (ssize_t)sizeof request - 1) return 8;
  size_t have = 0;
  while (have < sizeof reply - 1 && !memchr(reply, '\n', have)) {
    ssize_t got = read(fd, reply + have, sizeof reply - 1 - have);
    if (got <= 0) return 8;
    have += (size_t)got;
  }
  char *token = strstr(reply, "\"accessToken\":\"");
  if (!token) return 3;
  token += strlen("\"accessToken\":\"");
  printf("%.*s\n", (int)strcspn(token, "\""), token);
  return 0;
}
