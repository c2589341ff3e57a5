// A file system for SQLite (sqlite.org/vfs.html) that fails on request: for tests.
//
// It becomes the default of the process when the first plan is made, and passes everything through but for files that
// were opened below the directory of a plan. All functions may be called on any thread.
#pragma once

#include <stdint.h>

// What shall happen to the files below one directory, and what has.
typedef struct cfault_plan cfault_plan;

// What changes a file. Opening counts only where it makes the file.
enum cfault_kind {
  CFAULT_OPEN = 'o',
  CFAULT_WRITE = 'w',
  CFAULT_SYNC = 's',
  CFAULT_TRUNCATE = 't',
  CFAULT_DELETE = 'd'
};

// How an operation fails.
enum cfault_fault {
  // The device says no: SQLITE_IOERR with the operation's own extension; SQLITE_CANTOPEN where a file was to be made.
  CFAULT_IO = 1,
  // There is no room: SQLITE_FULL for a write; what needs no room goes on as ever.
  CFAULT_FULL = 2,
  // The power goes: whatever was not synchronised is kept or lost in blocks of 512 bytes, and nothing works any more.
  CFAULT_POWER = 3
};

// Watches files that are opened below an existing directory from now on; NULL without memory or directory.
cfault_plan *cfault_arm(const char *directory);
// The plan is used no more; files that are still open go on without it.
void cfault_disarm(cfault_plan *plan);
// Fails an operation, counted from 1, and those behind it for ever with `repeatedly`; 0 for none.
// With `torn`, a write that fails has written its first half. `seed` decides what a power cut leaves.
void cfault_fail(cfault_plan *plan, int64_t operation, int fault, int repeatedly, int torn, uint64_t seed);
// How many operations there were.
int64_t cfault_count(cfault_plan *plan);
// What an operation was, counted from 1; 0 if there was none.
int cfault_kind_of(cfault_plan *plan, int64_t operation);
// How many operations failed.
int64_t cfault_failures(cfault_plan *plan);
