// What the parts of the file system share. Everything here is called with `cfault_lock` held.
#pragma once

#include "fault-vfs.h"

#include <pthread.h>
#include <sqlite3.h>

// A change that was not synchronised yet: a write, or a truncation (no bytes).
typedef struct change {
  struct change *next;
  int64_t offset;
  int64_t count;
  char bytes[];
} change;

// A file that was opened below a plan's directory, by whatever handle.
typedef struct tracked {
  struct tracked *next;
  cfault_plan *plan;
  char *path;
  // The real file while it is open.
  sqlite3_file *handle;
  // What the disk has for sure, and what came behind that; no image as long as nothing was changed.
  char *image;
  int64_t image_count;
  int has_image;
  change *changes, *last_change;
  // The directory does not have the new file for sure, or may still have the deleted one.
  int is_new, is_deleted;
} tracked;

struct cfault_plan {
  cfault_plan *next;
  char *directory;
  tracked *files;
  int armed, open_files;
  // What happened.
  int64_t count, capacity, failures;
  char *kinds;
  // What shall happen.
  int64_t failing;
  int fault, repeatedly, torn, is_dead;
  uint64_t random;
};

extern pthread_mutex_t cfault_lock;

// Makes the file system the default one, once; 0 if SQLite refuses.
int cfault_install(void);
// The plan for a path; NULL for most.
cfault_plan *cfault_plan_for(const char *path);
// The file of a plan at a path.
tracked *cfault_track(cfault_plan *plan, const char *path);
// Counts an operation and says whether it fails: 0, or a fault.
int cfault_begin(cfault_plan *plan, int kind);
// A plan lives until it is disarmed and its last file is closed.
void cfault_forget_if_unused(cfault_plan *plan);

// Each is called before what it notes is done, but for the synchronisations, which are noted afterwards.
void cfault_note_write(tracked *file, const void *bytes, int count, int64_t offset);
void cfault_note_truncate(tracked *file, int64_t size);
void cfault_note_deletion(tracked *file);
void cfault_note_creation(tracked *file);
void cfault_note_sync(tracked *file);
void cfault_note_directory_sync(cfault_plan *plan);
void cfault_forget_changes(tracked *file);
// Leaves on the disk what a power cut could, and lets nothing work any more.
void cfault_cut_power(cfault_plan *plan);
