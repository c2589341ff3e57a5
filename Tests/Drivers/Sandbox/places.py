"""The tricks that have to do with files, processes and namespaces."""

import ctypes
import fcntl
import glob
import json
import os
import signal
import subprocess
import sys
import termios

from means import LIBC, LIMIT, PLAN, SYS_KEYCTL, SYS_PROCESS_VM_READV, check, every, processes, read

# Files

def vault():
    """read the vault at its path"""
    return b"REACHED" + every(glob.glob(PLAN["state"] + "/*") or [PLAN["state"] + "/vault.sqlite"], read)


def key():
    """read the key of the vault"""
    return b"REACHED" + read(PLAN["key"])


def configuration():
    """read the configuration"""
    return b"REACHED" + read(PLAN["configuration"])


def home():
    """read everything in the home"""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(PLAN["home"]) for name in names
             if not folder.startswith(os.getcwd())]
    return every(paths, read)


def ssh_key():
    """read ~/.ssh"""
    return b"REACHED" + read(PLAN["home"] + "/.ssh/id_ed25519")


def all_files():
    """read every file outside of /usr, /proc and /dev"""
    paths = []
    for folder, folders, names in os.walk("/"):
        if folder == "/":
            folders[:] = [name for name in folders if name not in ("usr", "proc", "dev", "sys", "opt")]
        paths += [os.path.join(folder, name) for name in names]
    paths = [path for path in paths if os.path.isfile(path) and path not in (sys.argv[1], PLAN["report"])]
    return every(paths, read)


def links_made_before():
    """follow links in the working directory that lead out"""
    return every(["to-vault", "to-key", "to-home/.ssh/id_ed25519", "to-root" + PLAN["key"]], read)


def links_made_here():
    """make such links, hard ones too"""
    os.symlink(PLAN["key"], "own-link")
    def hard(path):
        os.link(path, "own-hard-link")
        return b"REACHED" + read("own-hard-link")
    return every(["own-link"], read) + every([PLAN["key"], PLAN["vault"]], hard)


def through_parent():
    """go up from the working directory"""
    return every([os.getcwd() + "/../" * depth + PLAN["key"] for depth in range(1, 12)], read)


def shadow():
    """read /etc/shadow and others' homes"""
    return b"REACHED" + every(["/etc/shadow", "/root/.profile", *glob.glob("/home/*/.*")], read)


def host_names():
    """read what is in /etc of the machine"""
    return every(["/etc/resolv.conf", "/etc/hostname", "/etc/machine-id", "/etc/krb5.conf"], read)


def shared_memory():
    """read /dev/shm of the machine"""
    return b"REACHED" + every(glob.glob("/dev/shm/*"), read)


def system_v():
    """attach shared memory of the machine (shmat)"""
    LIBC.shmat.restype = ctypes.c_void_p
    number = check(LIBC.shmget(PLAN["shared"], 0, 0))
    place = LIBC.shmat(number, None, 0o10000)
    return b"REACHED" + ctypes.string_at(place, 64)


def devices():
    """read disks and memory by /dev"""
    return b"REACHED" + every(["/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/proc/kcore"], read)


def write_system():
    """write into /usr and the folder of the socket"""
    def write(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("x")
        return b"REACHED"
    return every(["/usr/bin/ab-trick", "/usr/local/bin/ab-trick", os.path.dirname(os.environ["AUTHBROKER_SOCKET"]) + "/x"], write)


# Processes

def own_environment():
    """read its own variables"""
    return json.dumps(dict(os.environ)).encode()


def environments():
    """read the variables of every process"""
    return every([f"/proc/{pid}/environ" for pid in processes()], read)


def command_lines():
    """read the words of every process"""
    return every([f"/proc/{pid}/cmdline" for pid in processes()], read)


def roots():
    """go out by /proc/PID/root and cwd"""
    return every([f"/proc/{pid}/{way}{path}" for pid in processes() for way in ("root", "cwd/../../../../../..")
                  for path in (PLAN["key"], PLAN["vault"], PLAN["configuration"])], read)


def memory_of(pid):
    """The memory of a process."""
    got = b""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if " rw" not in line or end - start > LIMIT:
                continue
            try:
                memory.seek(start)
                got += memory.read(end - start)
            except (OSError, ValueError):
                pass
    return got


def memories():
    """read the memory of every process that is seen"""
    return every([pid for pid in processes() if int(pid) != os.getpid()], memory_of)


def bridge_memory():
    """read the memory of the process that carries its connections"""
    def of_bridge(pid):
        if b"authbroker-sandbox" not in read(f"/proc/{pid}/cmdline").split(b"\0")[0]:
            raise ProcessLookupError(3, "another one")
        return b"REACHED" + memory_of(pid)
    return every(processes(), of_bridge)


def broker_memory():
    """read the memory of the broker by its number (process_vm_readv)"""
    local = (ctypes.c_void_p * 2)(ctypes.cast(ctypes.create_string_buffer(64), ctypes.c_void_p), 64)
    remote = (ctypes.c_void_p * 2)(0x400000, 64)
    check(LIBC.syscall(SYS_PROCESS_VM_READV, PLAN["broker"], local, 1, remote, 1, 0))
    return b"REACHED"


def trace():
    """trace the broker and the sandbox's parent (ptrace)"""
    def attach(pid):
        check(LIBC.ptrace(16, pid, None, None))
        return b"REACHED"
    return every([PLAN["broker"], PLAN["parent"]], attach)


def kill():
    """end the broker and the sandbox's parent"""
    def end(pid):
        os.kill(pid, signal.SIGKILL)
        return b"REACHED"
    return every([PLAN["broker"], PLAN["parent"]], end)


def descriptors():
    """read descriptors that were inherited"""
    got = []
    for name in os.listdir("/proc/self/fd"):
        target = os.readlink(f"/proc/self/fd/{name}") if os.path.lexists(f"/proc/self/fd/{name}") else ""
        if int(name) > 2 and not target.startswith("/proc/") and target != PLAN["report"]:
            got.append(int(name))
    return every(got, lambda number: b"REACHED" + os.pread(number, 4096, 0))


def keyring():
    """search the session keyring of the user (keyctl)"""
    key_type, name = ctypes.c_char_p(b"user"), ctypes.c_char_p(PLAN["keyring"].encode())
    number = check(LIBC.syscall(SYS_KEYCTL, 10, -3, key_type, name, 0))
    buffer = ctypes.create_string_buffer(256)
    check(LIBC.syscall(SYS_KEYCTL, 11, number, buffer, 256))
    return b"REACHED" + buffer.raw


def user_keyring():
    """search the keyrings of the user and the process"""
    def search(ring):
        number = check(LIBC.syscall(SYS_KEYCTL, 10, ring, ctypes.c_char_p(b"user"), ctypes.c_char_p(PLAN["keyring"].encode()), 0))
        return b"REACHED" + str(number).encode()
    return every([-1, -2, -4, -5], search)


def privileges():
    """have capabilities, or gain them by a setuid program"""
    fields = dict(line.split(":\t") for line in read("/proc/self/status").decode().splitlines() if ":\t" in line)
    if fields["NoNewPrivs"] == "1" and int(fields["CapEff"], 16) == 0 and int(fields["CapBnd"], 16) == 0:
        raise PermissionError(1, "no capability, and none to gain")
    return b"REACHED" + str(fields).encode()


def type_into_terminal():
    """type into the terminal (TIOCSTI)"""
    for character in b"echo typed\n":
        fcntl.ioctl(0, termios.TIOCSTI, bytes([character]))
    return b"REACHED"


def own_terminal():
    """take the terminal for itself (TIOCSCTTY, /dev/tty)"""
    def take(way):
        if way == "open":
            os.close(os.open("/dev/tty", os.O_RDWR))
        elif way == "child":
            subprocess.run([sys.executable, "-c", "import os,fcntl,termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 1)"],
                           check=True, stderr=subprocess.DEVNULL)
        return b"REACHED"
    return every(["open", "child"], lambda way: take(way)) if os.isatty(0) else b"REACHED no terminal"


# Namespaces

def mount():
    """mount, and take mounts away"""
    def act(way):
        if way == "umount":
            check(LIBC.umount2(PLAN["home"].encode(), 2))
        else:
            check(LIBC.mount(b"/", b"/tmp", b"", 4096, None))
        return b"REACHED"
    return every(["umount", "mount"], act)


NESTED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
user, group = os.getuid(), os.getgid()
if libc.unshare(0x10000000 | 0x00020000) != 0: sys.exit(os.strerror(ctypes.get_errno()))
for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
    open("/proc/self/" + name, "w").write(text)
for line in open("/proc/self/mountinfo"):
    libc.umount2(line.split()[4].encode(), 2)
libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)
libc.mount(b"/", b"/tmp", b"", 4096 | 16384, None)
libc.mount(b"none", b"/usr", b"", 32 | 4096, None)
os.chroot("/tmp")
for path in sys.argv[1:]:
    for way in ("", "/tmp", "/../../.."):
        try: sys.stdout.buffer.write(open(way + path, "rb").read())
        except OSError: pass
try: open("/usr/ab-trick", "w"); print("REACHED /usr")
except OSError: pass
"""


def nested():
    """be root of a further namespace, and undo the mounts there"""
    done = subprocess.run([sys.executable, "-c", NESTED, PLAN["key"], PLAN["vault"], PLAN["configuration"]],
                          capture_output=True, check=False, timeout=60)
    if not done.stdout:
        raise PermissionError(1, (done.stderr.decode().strip().splitlines() or ["nothing is beneath"])[-1][:60])
    return done.stdout


def enter():
    """enter the namespaces of other processes (setns)"""
    def act(path):
        number = os.open(path, os.O_RDONLY)
        try:
            check(LIBC.setns(number, 0))
        finally:
            os.close(number)
        return b"REACHED"
    return every([f"/proc/{pid}/ns/{kind}" for pid in (PLAN["broker"], PLAN["parent"], 1) for kind in ("mnt", "net", "user")], act)
