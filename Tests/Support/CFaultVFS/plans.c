#include "internal.h"

#include <stdlib.h>
#include <string.h>

// What shall happen to which files, and what has.

pthread_mutex_t cfault_lock = PTHREAD_MUTEX_INITIALIZER;
static cfault_plan *plans;

void cfault_forget_if_unused(cfault_plan *plan) {
  if (plan->armed || plan->open_files > 0) return;
  for (cfault_plan **link = &plans; *link; link = &(*link)->next) {
    if (*link != plan) continue;
    *link = plan->next;
    break;
  }
  while (plan->files) {
    tracked *file = plan->files;
    plan->files = file->next;
    cfault_forget_changes(file);
    free(file->image);
    free(file->path);
    free(file);
  }
  free(plan->kinds);
  free(plan->directory);
  free(plan);
}

cfault_plan *cfault_plan_for(const char *path) {
  for (cfault_plan *plan = plans; path && plan; plan = plan->next) {
    size_t length = strlen(plan->directory);
    if (plan->armed && strncmp(path, plan->directory, length) == 0 && path[length] == '/') return plan;
  }
  return NULL;
}

tracked *cfault_track(cfault_plan *plan, const char *path) {
  for (tracked *file = plan->files; file; file = file->next)
    if (strcmp(file->path, path) == 0) return file;
  tracked *file = calloc(1, sizeof *file);
  if (!file || !(file->path = strdup(path))) abort();
  file->plan = plan;
  file->next = plan->files;
  plan->files = file;
  return file;
}

int cfault_begin(cfault_plan *plan, int kind) {
  if (plan->is_dead) return CFAULT_IO;
  if (!plan->armed) return 0;
  plan->count += 1;
  if (plan->count > plan->capacity) {
    plan->capacity = plan->capacity ? 2 * plan->capacity : 256;
    plan->kinds = realloc(plan->kinds, (size_t)plan->capacity);
    if (!plan->kinds) abort();
  }
  plan->kinds[plan->count - 1] = (char)kind;
  int64_t failing = plan->failing;
  if (!failing || plan->count < failing || (plan->count > failing && !plan->repeatedly)) return 0;
  if (plan->fault == CFAULT_FULL && kind != CFAULT_WRITE && kind != CFAULT_OPEN) return 0;
  plan->failures += 1;
  return plan->fault;
}

cfault_plan *cfault_arm(const char *directory) {
  char *path = realpath(directory, NULL);
  cfault_plan *plan = calloc(1, sizeof *plan);
  pthread_mutex_lock(&cfault_lock);
  int is_usable = path && plan && cfault_install();
  if (is_usable) {
    plan->directory = path;
    plan->armed = 1;
    plan->next = plans;
    plans = plan;
  }
  pthread_mutex_unlock(&cfault_lock);
  if (is_usable) return plan;
  free(path);
  free(plan);
  return NULL;
}

void cfault_disarm(cfault_plan *plan) {
  pthread_mutex_lock(&cfault_lock);
  plan->armed = 0;
  cfault_forget_if_unused(plan);
  pthread_mutex_unlock(&cfault_lock);
}

void cfault_fail(cfault_plan *plan, int64_t operation, int fault, int repeatedly, int torn, uint64_t seed) {
  pthread_mutex_lock(&cfault_lock);
  plan->failing = operation;
  plan->fault = fault;
  plan->repeatedly = repeatedly;
  plan->torn = torn;
  plan->random = seed;
  pthread_mutex_unlock(&cfault_lock);
}

int64_t cfault_count(cfault_plan *plan) {
  pthread_mutex_lock(&cfault_lock);
  int64_t count = plan->count;
  pthread_mutex_unlock(&cfault_lock);
  return count;
}

int cfault_kind_of(cfault_plan *plan, int64_t operation) {
  pthread_mutex_lock(&cfault_lock);
  int kind = operation > 0 && operation <= plan->count ? plan->kinds[operation - 1] : 0;
  pthread_mutex_unlock(&cfault_lock);
  return kind;
}

int64_t cfault_failures(cfault_plan *plan) {
  pthread_mutex_lock(&cfault_lock);
  int64_t failures = plan->failures;
  pthread_mutex_unlock(&cfault_lock);
  return failures;
}
