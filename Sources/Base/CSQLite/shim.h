#include <sqlite3.h>
// sqlite3_db_config(3) is variadic, which Swift does not import: this is its "int, int *" form.
static inline int csqlite_db_config(sqlite3 *db, int option, int value) {
  int result = -1;
  int status = sqlite3_db_config(db, option, value, &result);
  return status != SQLITE_OK ? status : result == value ? SQLITE_OK : SQLITE_ERROR;
}
// SQLITE_TRANSIENT is a cast, which Swift does not import: SQLite copies the bytes before these return.
static inline int csqlite_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}
static inline int csqlite_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, index, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
