#include "fault-vfs.h"

#include "internal.h"

#include <unistd.h>

// How SQLite's files are handed through, and where faults come in. What was asked for is in plans.c, what a power cut
// does in power-cut.c.

static sqlite3_vfs shim;
static sqlite3_vfs *real;

// Where a file of SQLite's begins with ours, the real one lies behind it.
typedef struct {
  sqlite3_file base;
  tracked *file;
} shim_file;

static tracked *tracked_of(sqlite3_file *file) { return ((shim_file *)file)->file; }
static sqlite3_file *inner(sqlite3_file *file) { return (sqlite3_file *)((shim_file *)file + 1); }

static int error_code(int kind, int fault) {
  switch (kind) {
    case CFAULT_OPEN: return SQLITE_CANTOPEN;
    case CFAULT_WRITE: return fault == CFAULT_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    case CFAULT_SYNC: return SQLITE_IOERR_FSYNC;
    case CFAULT_TRUNCATE: return SQLITE_IOERR_TRUNCATE;
    default: return SQLITE_IOERR_DELETE;
  }
}

// MARK: One file

static int shim_close(sqlite3_file *file) {
  int status = inner(file)->pMethods->xClose(inner(file));
  pthread_mutex_lock(&cfault_lock);
  tracked *self = tracked_of(file);
  if (self->handle == inner(file)) self->handle = NULL;
  self->plan->open_files -= 1;
  cfault_forget_if_unused(self->plan);
  pthread_mutex_unlock(&cfault_lock);
  return status;
}

static int shim_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  pthread_mutex_lock(&cfault_lock);
  int is_dead = tracked_of(file)->plan->is_dead;
  pthread_mutex_unlock(&cfault_lock);
  return is_dead ? SQLITE_IOERR_READ : inner(file)->pMethods->xRead(inner(file), bytes, count, offset);
}

static int shim_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  pthread_mutex_lock(&cfault_lock);
  tracked *self = tracked_of(file);
  int fault = cfault_begin(self->plan, CFAULT_WRITE), status;
  if (!fault || fault == CFAULT_POWER) {
    cfault_note_write(self, bytes, count, offset);
    status = inner(file)->pMethods->xWrite(inner(file), bytes, count, offset);
    if (fault) cfault_cut_power(self->plan), status = SQLITE_IOERR_WRITE;
  } else {
    if (self->plan->torn && !self->plan->is_dead) inner(file)->pMethods->xWrite(inner(file), bytes, count / 2, offset);
    status = error_code(CFAULT_WRITE, fault);
  }
  pthread_mutex_unlock(&cfault_lock);
  return status;
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size) {
  pthread_mutex_lock(&cfault_lock);
  tracked *self = tracked_of(file);
  int fault = cfault_begin(self->plan, CFAULT_TRUNCATE), status;
  if (!fault || fault == CFAULT_POWER) {
    cfault_note_truncate(self, size);
    status = inner(file)->pMethods->xTruncate(inner(file), size);
    if (fault) cfault_cut_power(self->plan), status = SQLITE_IOERR_TRUNCATE;
  } else {
    status = error_code(CFAULT_TRUNCATE, fault);
  }
  pthread_mutex_unlock(&cfault_lock);
  return status;
}

static int shim_sync(sqlite3_file *file, int flags) {
  pthread_mutex_lock(&cfault_lock);
  tracked *self = tracked_of(file);
  int fault = cfault_begin(self->plan, CFAULT_SYNC), status;
  if (fault) {
    if (fault == CFAULT_POWER) cfault_cut_power(self->plan);
    status = error_code(CFAULT_SYNC, fault);
  } else {
    // The real one also synchronises the directory of a journal that it made.
    status = inner(file)->pMethods->xSync(inner(file), flags);
    if (status == SQLITE_OK) cfault_note_sync(self);
  }
  pthread_mutex_unlock(&cfault_lock);
  return status;
}

static int shim_size(sqlite3_file *f, sqlite3_int64 *size) { return inner(f)->pMethods->xFileSize(inner(f), size); }
static int shim_file_lock(sqlite3_file *f, int level) { return inner(f)->pMethods->xLock(inner(f), level); }
static int shim_unlock(sqlite3_file *f, int level) { return inner(f)->pMethods->xUnlock(inner(f), level); }
static int shim_reserved(sqlite3_file *f, int *out) { return inner(f)->pMethods->xCheckReservedLock(inner(f), out); }
static int shim_control(sqlite3_file *f, int op, void *arg) { return inner(f)->pMethods->xFileControl(inner(f), op, arg); }
static int shim_sector(sqlite3_file *f) { return inner(f)->pMethods->xSectorSize(inner(f)); }
static int shim_device(sqlite3_file *f) { return inner(f)->pMethods->xDeviceCharacteristics(inner(f)); }
static int shim_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
  return inner(f)->pMethods->xShmMap(inner(f), page, size, extend, out);
}
static int shim_shm_lock(sqlite3_file *f, int offset, int n, int flags) {
  return inner(f)->pMethods->xShmLock(inner(f), offset, n, flags);
}
static void shim_shm_barrier(sqlite3_file *f) { inner(f)->pMethods->xShmBarrier(inner(f)); }
static int shim_shm_unmap(sqlite3_file *f, int delete) { return inner(f)->pMethods->xShmUnmap(inner(f), delete); }

// Version 2: without memory-mapped files, which would be changed unseen.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_size,
    .xLock = shim_file_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_reserved,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector,
    .xDeviceCharacteristics = shim_device,
    .xShmMap = shim_shm_map,
    .xShmLock = shim_shm_lock,
    .xShmBarrier = shim_shm_barrier,
    .xShmUnmap = shim_shm_unmap,
};

// MARK: The file system

static int shim_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags, int *out) {
  (void)vfs;
  pthread_mutex_lock(&cfault_lock);
  cfault_plan *plan = cfault_plan_for(path);
  if (!plan) {
    pthread_mutex_unlock(&cfault_lock);
    return real->xOpen(real, path, file, flags, out);
  }
  int makes = (flags & SQLITE_OPEN_CREATE) && access(path, F_OK) != 0, status;
  int fault = plan->is_dead ? CFAULT_IO : makes ? cfault_begin(plan, CFAULT_OPEN) : 0;
  file->pMethods = NULL;
  if (fault) {
    if (fault == CFAULT_POWER) cfault_cut_power(plan);
    status = SQLITE_CANTOPEN;
  } else if ((status = real->xOpen(real, path, inner(file), flags, out)) == SQLITE_OK) {
    file->pMethods = &methods;
    tracked *self = ((shim_file *)file)->file = cfault_track(plan, path);
    self->handle = inner(file);
    if (makes) cfault_note_creation(self);
    plan->open_files += 1;
  }
  pthread_mutex_unlock(&cfault_lock);
  return status;
}

static int shim_delete(sqlite3_vfs *vfs, const char *path, int synchronises) {
  (void)vfs;
  pthread_mutex_lock(&cfault_lock);
  cfault_plan *plan = cfault_plan_for(path);
  int exists = access(path, F_OK) == 0;
  int fault = plan && exists ? cfault_begin(plan, CFAULT_DELETE) : 0, status;
  if (fault && fault != CFAULT_POWER) {
    status = SQLITE_IOERR_DELETE;
  } else {
    if (plan && exists) cfault_note_deletion(cfault_track(plan, path));
    status = real->xDelete(real, path, synchronises);
    if (fault) {
      cfault_cut_power(plan);
      status = SQLITE_IOERR_DELETE;
    } else if (plan && synchronises && status == SQLITE_OK) {
      cfault_note_directory_sync(plan);
    }
  }
  pthread_mutex_unlock(&cfault_lock);
  return status;
}

int cfault_install(void) {
  if (real) return 1;
  real = sqlite3_vfs_find(NULL);
  if (!real) return 0;
  shim = *real;
  shim.zName = "fault";
  shim.pNext = NULL;
  shim.szOsFile = (int)sizeof(shim_file) + real->szOsFile;
  shim.xOpen = shim_open;
  shim.xDelete = shim_delete;
  // The other functions are the real ones: they do not look at what they are called with, but for `pAppData`.
  if (sqlite3_vfs_register(&shim, 1) == SQLITE_OK) return 1;
  real = NULL;
  return 0;
}
