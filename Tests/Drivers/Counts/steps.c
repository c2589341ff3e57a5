// Runs a program instruction by instruction (ptrace(2)), and writes to a file which instructions of its own text ran how often.
//
//   steps FILE PROGRAM ARGUMENT…
//
// FILE gets a line for each instruction, its address in hexadecimal and how often it ran, in the order of the first time. The exit
// status is the program's. Only for x86-64, and for a program that is linked to a fixed address (no PIE) and starts no thread; what
// a child that it starts does is not seen. An instruction that repeats itself counts once for each time.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
  fprintf(stderr, "steps: %s: %s\n", what, errno ? strerror(errno) : "not a program with a fixed address");
  exit(2);
}

// Where the executable part of a program lies in memory.
static void find_text(const char *path, uint64_t *low, uint64_t *high) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) < 0) fail(path);
  const char *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (file == MAP_FAILED) fail(path);
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)file;
  errno = 0;
  if ((size_t)status.st_size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_type != ET_EXEC) fail(path);
  const Elf64_Phdr *part = (const Elf64_Phdr *)(file + head->e_phoff);
  for (int index = 0; index < head->e_phnum; index++)
    if (part[index].p_type == PT_LOAD && part[index].p_flags & PF_X) {
      *low = part[index].p_vaddr;
      *high = part[index].p_vaddr + part[index].p_memsz;
      return;
    }
  fail(path);
}

int main(int count, char **words) {
  if (count < 3) {
    fprintf(stderr, "usage: steps FILE PROGRAM ARGUMENT...\n");
    return 2;
  }
  uint64_t low, high;
  find_text(words[2], &low, &high);
  uint32_t *runs = calloc(high - low, sizeof *runs), *order = calloc(high - low, sizeof *order);
  FILE *out = fopen(words[1], "we");
  if (!runs || !order || !out) fail(words[1]);
  size_t seen = 0;
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) execv(words[2], words + 2);
    perror("steps");
    _exit(127);
  }
  int state, signal = 0;
  if (waitpid(child, &state, 0) < 0) fail("waitpid");
  if (WIFSTOPPED(state) && ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL) < 0) fail("ptrace");
  while (!WIFEXITED(state) && !WIFSIGNALED(state)) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, child, NULL, &registers) < 0) fail("ptrace");
    uint64_t place = registers.rip - low;
    if (registers.rip >= low && place < high - low && !runs[place]++) order[seen++] = (uint32_t)place;
    if (WIFSTOPPED(state)) signal = WSTOPSIG(state) == SIGTRAP ? 0 : WSTOPSIG(state);
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)signal) < 0 || waitpid(child, &state, 0) < 0) fail("ptrace");
  }
  for (size_t index = 0; index < seen; index++) fprintf(out, "%lx %u\n", (unsigned long)(low + order[index]), runs[order[index]]);
  if (fclose(out)) fail(words[1]);
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}
