// Files by name, and what stat(2) tells of them.
#pragma once

// Selected members of stat(2); `error` is an errno, 0 when the rest is filled in.
struct clinux_file {
  int error;
  uint32_t mode;
  uint32_t uid;
  uint32_t gid;
  uint64_t links;
  uint64_t device;
  uint64_t inode;
  int64_t size;
  int64_t modified_milliseconds;
};
static inline struct clinux_file clinux_file_from(int result, const struct stat *s) {
  if (result < 0) return (struct clinux_file){.error = errno};
  return (struct clinux_file){
      .mode = s->st_mode, .uid = s->st_uid, .gid = s->st_gid, .links = s->st_nlink,
      .device = s->st_dev, .inode = s->st_ino, .size = s->st_size,
      .modified_milliseconds = (int64_t)s->st_mtim.tv_sec * 1000 + s->st_mtim.tv_nsec / 1000000};
}
static inline struct clinux_file clinux_fstat(int fd) {
  struct stat s;
  int result = fstat(fd, &s);
  return clinux_file_from(result, &s);
}
static inline struct clinux_file clinux_stat(const char *path) {
  struct stat s;
  int result = stat(path, &s);
  return clinux_file_from(result, &s);
}
static inline struct clinux_file clinux_lstat(const char *path) {
  struct stat s;
  int result = lstat(path, &s);
  return clinux_file_from(result, &s);
}
static inline struct clinux_file clinux_lstat_in(int directory, const char *name) {
  struct stat s;
  int result = fstatat(directory, name, &s, AT_SYMLINK_NOFOLLOW);
  return clinux_file_from(result, &s);
}

// For its owner alone.
static inline int clinux_mkdir(const char *path) { return clinux_result(mkdir(path, 0700)); }
static inline int clinux_unlink(const char *path) { return clinux_result(unlink(path)); }
static inline int64_t clinux_read_link(const char *path, void *buffer, size_t count) {
  return clinux_result_long(readlink(path, (char *)buffer, count));
}
static inline int clinux_rename(const char *from, const char *to) { return clinux_result(rename(from, to)); }

// Gives a file a second name, which must be free (link(2)).
static inline int clinux_link(const char *from, const char *to) { return clinux_result(link(from, to)); }

// Whether a path lies in a file system that is mounted read-only (statvfs(3)).
static inline int clinux_is_read_only(const char *path) {
  struct statvfs s;
  return statvfs(path, &s) == 0 && (s.f_flag & ST_RDONLY) != 0;
}

// What an unprivileged process may still write to the file system of a path, in bytes (statfs(2)).
static inline int64_t clinux_free_space(const char *path) {
  struct statfs s;
  if (statfs(path, &s) < 0) return -errno;
  uint64_t size = (uint64_t)s.f_bsize, blocks = (uint64_t)s.f_bavail;
  return size != 0 && blocks > INT64_MAX / size ? INT64_MAX : (int64_t)(size * blocks);
}
