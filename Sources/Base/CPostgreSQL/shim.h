// Connections to PostgreSQL by libpq: a table of its functions that is filled when the first fleet is used.
//
// The library is not linked, and its headers are not needed: what is used of it is declared here, as the manual of
// PostgreSQL 15 has it (chapter 34), which promises that it stays so for as long as the file's name does.
#pragma once
#include "../CCrypto/wiping.h"

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct cpostgresql_notification {
  char *channel;
  int sender;
  char *payload;
} cpostgresql_notification;
typedef struct cpostgresql_option {
  char *keyword, *variable, *compiled, *value, *label, *shown;
  int size;
} cpostgresql_option;

#define CPOSTGRESQL_FUNCTIONS(X) \
  X(PGconn *, PQconnectStartParams, (const char *const *, const char *const *, int)) \
  X(int, PQconnectPoll, (PGconn *)) \
  X(int, PQstatus, (const PGconn *)) \
  X(int, PQsocket, (const PGconn *)) \
  X(int, PQbackendPID, (const PGconn *)) \
  X(cpostgresql_notification *, PQnotifies, (PGconn *)) \
  X(char *, PQerrorMessage, (const PGconn *)) \
  X(void, PQfinish, (PGconn *)) \
  X(int, PQsetnonblocking, (PGconn *, int)) \
  X(int, PQsendQueryParams, (PGconn *, const char *, int, const unsigned int *, const char *const *, const int *, \
                             const int *, int)) \
  X(int, PQflush, (PGconn *)) \
  X(int, PQconsumeInput, (PGconn *)) \
  X(int, PQisBusy, (PGconn *)) \
  X(PGresult *, PQgetResult, (PGconn *)) \
  X(int, PQresultStatus, (const PGresult *)) \
  X(char *, PQresultErrorField, (const PGresult *, int)) \
  X(int, PQntuples, (const PGresult *)) \
  X(int, PQnfields, (const PGresult *)) \
  X(int, PQgetisnull, (const PGresult *, int, int)) \
  X(int, PQgetlength, (const PGresult *, int, int)) \
  X(char *, PQgetvalue, (const PGresult *, int, int)) \
  X(void, PQclear, (PGresult *)) \
  X(void, PQfreemem, (void *)) \
  X(void *, PQsetNoticeProcessor, (PGconn *, void (*)(void *, const char *), void *)) \
  X(cpostgresql_option *, PQconninfoParse, (const char *, char **)) \
  X(void, PQconninfoFree, (cpostgresql_option *))

#define CPOSTGRESQL_MEMBER(result, name, parameters) result(*name) parameters;
typedef struct cpostgresql_library { CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_MEMBER) } cpostgresql_library;

// The states of PQconnectPoll, PQstatus and PQresultStatus that are told apart (libpq-fe.h).
enum { CPOSTGRESQL_POLL_FAILED = 0, CPOSTGRESQL_POLL_READING = 1, CPOSTGRESQL_POLL_WRITING = 2, CPOSTGRESQL_POLL_OK = 3 };
enum { CPOSTGRESQL_CONNECTION_BAD = 1 };
enum { CPOSTGRESQL_COMMAND_OK = 1, CPOSTGRESQL_TUPLES_OK = 2 };
// PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY (postgres_ext.h).
enum { CPOSTGRESQL_SQLSTATE = 'C', CPOSTGRESQL_MESSAGE = 'M' };

// Not thread-safe: the caller calls it once at a time. The library stays loaded for the life of the process. 1 if it has
// every function.
static inline int cpostgresql_load(const char *path, cpostgresql_library *library) {
  void *image = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!image) return 0;
  // It brings OpenSSL.
  wiping_tls_memory(image);
#define CPOSTGRESQL_FIND(result, name, parameters) \
  if (!(library->name = (result(*) parameters)dlsym(image, #name))) return 0;
  CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_FIND)
  return 1;
}

// What a call is given: copies that are wiped when it has returned. A count of entries above the limit is refused by the
// caller.
enum { CPOSTGRESQL_LIMIT = 24 };
typedef struct cpostgresql_values {
  const char *names[CPOSTGRESQL_LIMIT + 1];
  char *values[CPOSTGRESQL_LIMIT + 1];
  unsigned int types[CPOSTGRESQL_LIMIT];
  int lengths[CPOSTGRESQL_LIMIT], formats[CPOSTGRESQL_LIMIT], count;
} cpostgresql_values;

// The types of parameters and columns, by their numbers in pg_type.
enum { CPOSTGRESQL_BYTEA = 17, CPOSTGRESQL_TEXT = 25 };

// Adds bytes: with a name for a setting of a connection, without one for a parameter of a statement. 1 if there is room.
static inline int cpostgresql_add(cpostgresql_values *v, const char *name, int type, const void *bytes, size_t size) {
  char *copy = v->count < CPOSTGRESQL_LIMIT ? malloc(size + 1) : NULL;
  if (!copy) return 0;
  if (size) memcpy(copy, bytes, size);
  copy[size] = 0;
  v->names[v->count] = name ? strdup(name) : NULL;
  v->values[v->count] = copy;
  v->types[v->count] = (unsigned int)type;
  v->lengths[v->count] = (int)size;
  v->formats[v->count++] = type == CPOSTGRESQL_BYTEA;
  return 1;
}
static inline void cpostgresql_free(cpostgresql_values *v) {
  while (v->count) {
    v->count--;
    free((void *)v->names[v->count]);
    wiping_free(v->values[v->count]);
    v->names[v->count] = v->values[v->count] = NULL;
  }
}

// Notices of the server are not written to standard error.
static inline void cpostgresql_ignore(void *context, const char *message) { (void)context, (void)message; }

static inline PGconn *cpostgresql_start(const cpostgresql_library *l, cpostgresql_values *v) {
  PGconn *connection = l->PQconnectStartParams(v->names, (const char *const *)v->values, 1);
  cpostgresql_free(v);
  if (connection) l->PQsetNoticeProcessor(connection, cpostgresql_ignore, NULL);
  return connection;
}
static inline int cpostgresql_poll(const cpostgresql_library *l, PGconn *c) { return l->PQconnectPoll(c); }
static inline int cpostgresql_status(const cpostgresql_library *l, const PGconn *c) { return l->PQstatus(c); }
static inline int cpostgresql_socket(const cpostgresql_library *l, const PGconn *c) { return l->PQsocket(c); }
// The process of the server as the connection was told: that of a pool is made up.
static inline int cpostgresql_process(const cpostgresql_library *l, const PGconn *c) { return l->PQbackendPID(c); }
// The next notification that has come; null for none. Freed by the next function.
static inline cpostgresql_notification *cpostgresql_notified(const cpostgresql_library *l, PGconn *c) {
  return l->PQnotifies(c);
}
static inline void cpostgresql_forget(const cpostgresql_library *l, cpostgresql_notification *n) { l->PQfreemem(n); }
static inline const char *cpostgresql_error(const cpostgresql_library *l, const PGconn *c) { return l->PQerrorMessage(c); }
static inline void cpostgresql_finish(const cpostgresql_library *l, PGconn *c) { l->PQfinish(c); }
static inline int cpostgresql_make_nonblocking(const cpostgresql_library *l, PGconn *c) { return l->PQsetnonblocking(c, 1); }

static inline int cpostgresql_send(const cpostgresql_library *l, PGconn *c, const char *command, cpostgresql_values *v) {
  int result = l->PQsendQueryParams(c, command, v->count, v->types, (const char *const *)v->values, v->lengths, v->formats, 1);
  cpostgresql_free(v);
  return result;
}
static inline int cpostgresql_flush(const cpostgresql_library *l, PGconn *c) { return l->PQflush(c); }
static inline int cpostgresql_consume(const cpostgresql_library *l, PGconn *c) { return l->PQconsumeInput(c); }
static inline int cpostgresql_is_busy(const cpostgresql_library *l, PGconn *c) { return l->PQisBusy(c); }
static inline PGresult *cpostgresql_result(const cpostgresql_library *l, PGconn *c) { return l->PQgetResult(c); }
static inline int cpostgresql_result_status(const cpostgresql_library *l, const PGresult *r) {
  return l->PQresultStatus(r);
}
static inline const char *cpostgresql_field(const cpostgresql_library *l, const PGresult *r, int field) {
  return l->PQresultErrorField(r, field);
}
static inline int cpostgresql_rows(const cpostgresql_library *l, const PGresult *r) { return l->PQntuples(r); }
static inline int cpostgresql_columns(const cpostgresql_library *l, const PGresult *r) { return l->PQnfields(r); }
// The bytes of a value; null for NULL.
static inline const char *cpostgresql_value(const cpostgresql_library *l, const PGresult *r, int row, int column, int *count) {
  *count = l->PQgetlength(r, row, column);
  return l->PQgetisnull(r, row, column) ? NULL : l->PQgetvalue(r, row, column);
}
static inline void cpostgresql_clear(const cpostgresql_library *l, PGresult *r) { l->PQclear(r); }

// The value of a keyword in a connection string, copied with NUL into `text` of `room` bytes. 1 if it is there, 0 if it is
// not, -1 if the string cannot be read, -2 if there is no room.
static inline int cpostgresql_setting(const cpostgresql_library *l, const char *string, const char *keyword, char *text,
                                      int room) {
  char *message = NULL;
  cpostgresql_option *options = l->PQconninfoParse(string, &message);
  if (message) l->PQfreemem(message);
  if (!options) return -1;
  int found = 0;
  for (cpostgresql_option *option = options; option->keyword && !found; option++) {
    if (strcmp(option->keyword, keyword) || !option->value) continue;
    size_t size = strlen(option->value) + 1;
    found = size <= (size_t)room ? 1 : -2;
    if (found == 1) memcpy(text, option->value, size);
  }
  l->PQconninfoFree(options);
  return found;
}
