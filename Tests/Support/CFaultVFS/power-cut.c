#include "internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What is on the disk for sure, what may be, and what is left of that when the power goes.

// The unit that a disk writes as a whole.
enum { SECTOR = 512 };
// The most that is written at once.
enum { PAGE = 4096 };

static void *allocated(size_t count) {
  void *memory = malloc(count ? count : 1);
  if (!memory) abort();
  return memory;
}

// SplitMix64.
static uint64_t next_random(cfault_plan *plan) {
  uint64_t mixed = plan->random += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

// Reads what the file has now, by the handle where there is one: closing another descriptor of a database would drop its
// locks (fcntl(2)).
static void read_image(tracked *file) {
  if (file->has_image) return;
  file->has_image = 1;
  file->image_count = 0;
  free(file->image);
  file->image = NULL;
  if (file->handle) {
    sqlite3_int64 size = 0;
    if (file->handle->pMethods->xFileSize(file->handle, &size) != SQLITE_OK) abort();
    file->image = allocated((size_t)size);
    if (size > 0 && file->handle->pMethods->xRead(file->handle, file->image, (int)size, 0) != SQLITE_OK) abort();
    file->image_count = size;
    return;
  }
  int descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (descriptor < 0) return;
  if (fstat(descriptor, &status) == 0) {
    file->image = allocated((size_t)status.st_size);
    ssize_t count = pread(descriptor, file->image, (size_t)status.st_size, 0);
    file->image_count = count < 0 ? 0 : count;
  }
  close(descriptor);
}

static void append(tracked *file, const void *bytes, int64_t count, int64_t offset) {
  change *added = allocated(sizeof *added + (size_t)count);
  added->next = NULL;
  added->offset = offset;
  added->count = count;
  if (count) memcpy(added->bytes, bytes, (size_t)count);
  if (file->last_change) file->last_change->next = added;
  else file->changes = added;
  file->last_change = added;
}

// Only a plan that will cut the power needs to know what is on the disk.
static int is_watched(tracked *file) { return file->plan->fault == CFAULT_POWER && file->plan->armed; }

void cfault_note_write(tracked *file, const void *bytes, int count, int64_t offset) {
  if (!is_watched(file)) return;
  read_image(file);
  append(file, bytes, count, offset);
}

void cfault_note_truncate(tracked *file, int64_t size) {
  if (!is_watched(file)) return;
  read_image(file);
  append(file, NULL, 0, size);
}

void cfault_note_creation(tracked *file) {
  if (!is_watched(file)) return;
  // A deleted file of the same name does not come back in its place: one of the cases that this leaves out.
  cfault_forget_changes(file);
  file->has_image = 1;
  file->image_count = 0;
  file->is_deleted = 0;
  file->is_new = 1;
}

void cfault_note_deletion(tracked *file) {
  if (!is_watched(file)) return;
  read_image(file);
  file->is_deleted = !file->is_new;
  file->is_new = 0;
}

void cfault_forget_changes(tracked *file) {
  while (file->changes) {
    change *first = file->changes;
    file->changes = first->next;
    free(first);
  }
  file->last_change = NULL;
  file->has_image = 0;
}

void cfault_note_sync(tracked *file) {
  if (!is_watched(file)) return;
  cfault_forget_changes(file);
  if (file->is_new) cfault_note_directory_sync(file->plan);
}

void cfault_note_directory_sync(cfault_plan *plan) {
  for (tracked *file = plan->files; file; file = file->next) {
    if (file->is_deleted) cfault_forget_changes(file);
    file->is_deleted = file->is_new = 0;
  }
}

// MARK: The cut

static void resize(tracked *file, int64_t count) {
  char *image = realloc(file->image, (size_t)(count ? count : 1));
  if (!image) abort();
  if (count > file->image_count) memset(image + file->image_count, 0, (size_t)(count - file->image_count));
  file->image = image;
  file->image_count = count;
}

// Does a change block by block, or not, as chance has it: so blocks come in any order.
static void apply(tracked *file, const change *change, uint64_t likelihood) {
  cfault_plan *plan = file->plan;
  if (change->count == 0) {
    if (next_random(plan) % 4 < likelihood && change->offset < file->image_count) resize(file, change->offset);
    return;
  }
  int64_t done = 0;
  while (done < change->count) {
    int64_t offset = change->offset + done, count = SECTOR - offset % SECTOR;
    if (count > change->count - done) count = change->count - done;
    if (next_random(plan) % 4 < likelihood) {
      if (offset + count > file->image_count) resize(file, offset + count);
      memcpy(file->image + offset, change->bytes + done, (size_t)count);
    }
    done += count;
  }
}

static void write_image(tracked *file) {
  if (file->handle) {
    const sqlite3_io_methods *methods = file->handle->pMethods;
    if (methods->xTruncate(file->handle, file->image_count) != SQLITE_OK) abort();
    // Page by page, as SQLite does: of more than 128 KiB at once, its Unix file system writes only a part.
    for (int64_t offset = 0; offset < file->image_count; offset += PAGE) {
      int64_t count = file->image_count - offset < PAGE ? file->image_count - offset : PAGE;
      if (methods->xWrite(file->handle, file->image + offset, (int)count, offset) != SQLITE_OK) abort();
    }
    return;
  }
  int descriptor = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) abort();
  if (pwrite(descriptor, file->image, (size_t)file->image_count, 0) != file->image_count) abort();
  close(descriptor);
}

void cfault_cut_power(cfault_plan *plan) {
  // Nothing, a quarter, half, three quarters, or all of what was not synchronised.
  uint64_t likelihood = next_random(plan) % 5;
  for (tracked *file = plan->files; file; file = file->next) {
    int chance = next_random(plan) & 1;
    if (file->is_new && chance) {
      unlink(file->path);
      continue;
    }
    if (file->is_deleted && chance) continue;
    if (!file->has_image || (access(file->path, F_OK) != 0 && !file->is_deleted)) continue;
    for (change *change = file->changes; change; change = change->next) apply(file, change, likelihood);
    write_image(file);
  }
  plan->is_dead = 1;
}
