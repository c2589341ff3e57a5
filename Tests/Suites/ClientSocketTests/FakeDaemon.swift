import Glibc
import LinuxSystem
import TestSupport

/// A stand-in for the daemon, in Python: it keeps the rules of lock, record, socket and ready pipe, and ends when its
/// directory's `stop` FIFO is written to.
struct FakeDaemon {
  let path: String

  /// - Parameters:
  ///   - scratch: where its program is put.
  ///   - body: what it does instead of serving.
  /// - Throws: if that cannot be written.
  init(in scratch: Scratch, body: String? = nil) throws {
    path = scratch.file("daemon")
    try scratch.write("#!/usr/bin/env python3\n" + (body ?? FakeDaemon.serving), to: "daemon")
    guard chmod(path, 0o700) == 0 else { throw Errno(code: errno) }
  }

  static let serving = #"""
    import fcntl, json, os, select, socket, sys
    a = sys.argv
    state = a[a.index("--state") + 1]
    ready = int(a[a.index("--ready-fd") + 1])
    config = a[a.index("--config") + 1] if "--config" in a else None
    with open(state + "/starts", "a") as starts: starts.write("start\n")
    lock = os.open(state + "/broker.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try: fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
      os.write(ready, b"error owned another process owns the directory\n")
      sys.exit(1)
    os.makedirs(state + "/run", 0o700, exist_ok=True)
    path = state + "/run/broker.sock"
    s = socket.socket(socket.AF_UNIX)
    if os.path.exists(path): os.unlink(path)
    s.bind(path)
    s.listen(1000)
    os.ftruncate(lock, 0)
    record = dict(pid=os.getpid(), version="fake", config=config, socket=path, startedAt="2026-01-01T00:00:00Z")
    os.write(lock, (json.dumps(record) + "\n").encode())
    # An owner of before may have left it.
    if not os.path.exists(state + "/stop"): os.mkfifo(state + "/stop", 0o600)
    stop = os.open(state + "/stop", os.O_RDWR)
    os.write(ready, b"ready\n")
    os.close(ready)
    held = []
    while True:
      readable, _, _ = select.select([s, stop], [], [])
      if stop in readable: break
      c, _ = s.accept()
      # Some only look who is there, and have gone by now.
      try: c.sendall(b"hello %d\n" % os.getpid())
      except OSError: continue
      held.append(c)
    """#

  /// Ends the daemon that serves a state directory.
  static func stop(_ state: String) {
    guard let fifo = try? FileDescriptor.open(state + "/stop", [.write, .nonBlocking]) else { return }
    _ = fifo.write([1], 0..<1)
  }
}
