"""The tricks that have to do with keyrings, capabilities and users."""

import ctypes
import os

from means import LIBC, PLAN, SYS_KEYCTL, check, every, read


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


def keyring_by_number():
    """read the keyring of the user by its number, as /proc/keys tells it"""
    def ring(line):
        words = line.split()
        number = int(words[0], 16)
        if not words[8].startswith("_uid."):
            raise PermissionError(1, "another one")
        # Who may link it to a keyring of its own has all that is in it.
        check(LIBC.syscall(SYS_KEYCTL, 8, number, -3))
        buffer = (ctypes.c_int32 * 64)()
        count = check(LIBC.syscall(SYS_KEYCTL, 11, number, buffer, 256)) // 4
        return every(list(buffer)[:count], secret)
    def secret(number):
        buffer = ctypes.create_string_buffer(256)
        check(LIBC.syscall(SYS_KEYCTL, 11, number, buffer, 256))
        return b"REACHED" + buffer.raw
    return every(read("/proc/keys").decode().splitlines(), ring)


def set_user_bit():
    """leave a program behind that runs as its user (the set-user-ID bit)"""
    def leave(way):
        if way == "open":
            os.close(os.open("own-program", os.O_CREAT | os.O_WRONLY, 0o4755))
        elif way == "fchmod":
            with open("own-program", "ab") as file:
                os.fchmod(file.fileno(), 0o4755)
        elif way == "mknod":
            os.mknod("own-program", 0o104755)
        else:
            os.chmod("own-program", 0o4755)
        if not os.stat("own-program").st_mode & 0o4000:
            raise PermissionError(1, "without the bit")
        return b"REACHED"
    return every(["open", "fchmod", "chmod", "mknod"], leave)


def privileges():
    """have capabilities, or gain them by a setuid program"""
    fields = dict(line.split(":\t") for line in read("/proc/self/status").decode().splitlines() if ":\t" in line)
    if fields["NoNewPrivs"] == "1" and int(fields["CapEff"], 16) == 0 and int(fields["CapBnd"], 16) == 0:
        raise PermissionError(1, "no capability, and none to gain")
    return b"REACHED" + str(fields).encode()
