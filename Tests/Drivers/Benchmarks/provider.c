// A provider of `provider: "rest"` profiles that costs as little as one can: every login succeeds, every refresh rotates.
//
//   provider LIFETIME-SECONDS     prints its port, serves until its standard input ends
//
// Each reply has an access token of 900 bytes and another refresh token than the one before. One thread a connection,
// connections are kept (RFC 9112, section 9.3); the broker has eight of them at most.
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TOKEN_BYTES = 900, REQUEST_BYTES = 65536 };

static atomic_ullong given;
static int lifetime;

static int render(char *reply, size_t room) {
  char token[TOKEN_BYTES + 1], body[TOKEN_BYTES + 512];
  unsigned long long number = atomic_fetch_add(&given, 1) + 1;
  memset(token, 'x', TOKEN_BYTES);
  token[TOKEN_BYTES] = 0;
  char digits[32];
  int count = snprintf(digits, sizeof digits, "%llu.", number);
  memcpy(token, digits, (size_t)count);
  int length = snprintf(body, sizeof body,
                        "{\"access_token\":\"%s\",\"refresh_token\":\"not-a-real-refresh-token-%llu\",\"expires_in\":%d,"
                        "\"user\":{\"id\":\"1\",\"email\":\"bench@example.test\",\"name\":\"Bench\"}}",
                        token, number, lifetime);
  return snprintf(reply, room,
                  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body);
}

// The length of the whole request at the front of a buffer; 0 while it is not complete.
static size_t whole(const char *request, size_t filled) {
  const char *end = memmem(request, filled, "\r\n\r\n", 4);
  if (!end) return 0;
  const char *field = strcasestr(request, "\r\nContent-Length:");
  size_t length = (size_t)(end + 4 - request);
  if (field && field < end) length += strtoul(field + strlen("\r\nContent-Length:"), NULL, 10);
  return length <= filled ? length : 0;
}

static void *answer(void *context) {
  int connection = (int)(intptr_t)context, yes = 1;
  char *request = malloc(REQUEST_BYTES), reply[TOKEN_BYTES + 1024];
  size_t filled = 0, length;
  ssize_t got;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  while ((got = read(connection, request + filled, REQUEST_BYTES - 1 - filled)) > 0) {
    filled += (size_t)got;
    request[filled] = 0;
    while ((length = whole(request, filled)) > 0) {
      int count = render(reply, sizeof reply);
      if (write(connection, reply, (size_t)count) != count) break;
      memmove(request, request + length, filled - length + 1);
      filled -= length;
    }
  }
  close(connection);
  free(request);
  return NULL;
}

static void *accept_all(void *context) {
  int connection;
  while ((connection = accept4((int)(intptr_t)context, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer, (void *)(intptr_t)connection) != 0) return NULL;
    pthread_detach(thread);
  }
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 2 || (lifetime = atoi(arguments[1])) < 1) return 2;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 128)) return 1;
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  pthread_t thread;
  if (pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)listener) != 0) return 1;
  return getchar() == EOF ? 0 : 1;
}
