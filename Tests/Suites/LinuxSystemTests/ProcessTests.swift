import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct ProcessTests {
  @Test func `a child gets its arguments, environment and descriptors, and no others`() throws {
    let output = try FileDescriptor.pipe()
    // Left open to all children on purpose: the child must not have it all the same.
    let stray = dup(output.writeEnd.number)
    defer { close(stray) }
    let script = #"printf '%s|%s|%s|' "$1" "$GREETING" "$PWD"; for f in /proc/self/fd/*; do echo -n "${f##*/} "; done"#
    var plan = ChildProcess.Plan(
      path: "/bin/bash", arguments: ["-c", script, "sh", "two words"], environment: ["GREETING": "hello=you"])
    let null = try FileDescriptor.open("/dev/null", .read)
    plan.descriptors = [(null.number, 0), (output.writeEnd.number, 1), (output.writeEnd.number, 3)]
    plan.workingDirectory = "/"
    plan.newSession = true
    #expect(try ChildProcess(plan).wait() == 0)
    var text = [UInt8](repeating: 0, count: 1000)
    guard case .bytes(let count) = output.readEnd.read(into: &text) else {
      Issue.record("no output")
      return
    }
    let parts = String(decoding: text[..<count], as: UTF8.self).split(separator: "|")
    #expect(parts[..<3] == ["two words", "hello=you", "/"])
    // 2 is the directory that the shell reads for the answer: the lowest number that was free.
    #expect(parts[3] == "0 1 2 3 ")
  }

  @Test func `descriptors can be exchanged`() throws {
    let first = try FileDescriptor.pipe()
    let second = try FileDescriptor.pipe()
    let (one, two) = (first.writeEnd.number, second.writeEnd.number)
    var plan = ChildProcess.Plan(
      path: "/bin/bash", arguments: ["-c", "echo -n 1 >&\(two); echo -n 2 >&\(one)"], environment: [:])
    plan.descriptors = [(one, two), (two, one)]
    #expect(try ChildProcess(plan).wait() == 0)
    var byte: [UInt8] = [0]
    _ = first.readEnd.read(into: &byte)
    #expect(byte == [UInt8(ascii: "1")])
    _ = second.readEnd.read(into: &byte)
    #expect(byte == [UInt8(ascii: "2")])
  }

  @Test func `exit codes and signals are told apart`() throws {
    let plan = { ChildProcess.Plan(path: "/bin/sh", arguments: ["-c", $0], environment: [:]) }
    #expect(try ChildProcess(plan("exit 7")).wait() == 7)
    #expect(try ChildProcess(plan("kill -KILL $$")).wait() == 128 + SIGKILL)
    #expect(throws: Errno.noEntry) {
      try ChildProcess(.init(path: "/proc/nonexistent", arguments: [], environment: [:]))
    }
  }

  @Test(arguments: [
    ("SSLKEYLOGFILE", true), ("LD_PRELOAD", true), ("MALLOC_PERTURB_", true), ("GLIBC_TUNABLES", true),
    ("OPENSSL_CONF", true), ("CURL_CA_BUNDLE", true), ("SSL_CERT_FILE", true), ("SQLITE_TMPDIR", true),
    ("https_proxy", true), ("NO_PROXY", true), ("HOME", false), ("PATH", false), ("XDG_RUNTIME_DIR", false),
    ("AUTHBROKER_STATE", false), ("FIREBASE_API_KEY", false),
  ])
  func `dangerous variables are known`(name: String, isDangerous: Bool) {
    #expect(Environment.isDangerous(name) == isDangerous)
  }

  @Test func `a daemon is started without what acts before it can say anything`() {
    let variables = Environment.forDaemon([
      "LD_PRELOAD": "/tmp/other.so", "LD_LIBRARY_PATH": "/tmp", "GLIBC_TUNABLES": "a=b", "MALLOC_PERTURB_": "1",
      "SWIFT_BACKTRACE": "enable=yes", "HOME": "/home/a", "https_proxy": "http://proxy.example",
    ])
    #expect(
      variables == ["SWIFT_BACKTRACE": "enable=no", "HOME": "/home/a", "https_proxy": "http://proxy.example"])
  }

  @Test func `the environment is read`() {
    #expect(Environment.current["PATH"] == getenv("PATH").map { String(cString: $0) })
  }

  @Test func `one variable is looked up as all of them are read`() {
    let all = Environment.current
    #expect(EnvironmentVariables.current.all == all)
    for (name, value) in all where !name.isEmpty { #expect(EnvironmentVariables.current[name] == value, "\(name)") }
    for name in ["", "PAT", "PATH=", "PATH\u{0}", "NO_SUCH_VARIABLE"] {
      #expect(EnvironmentVariables.current[name] == nil, "\(name)")
    }
    let given: EnvironmentVariables = ["HOME": "/home/a", "EMPTY": ""]
    #expect(given["HOME"] == "/home/a" && given["EMPTY"] == "" && given["PATH"] == nil && given.all.count == 2)
  }

  @Test func `clocks run and are not confused`() {
    let before = BootClock.now
    #expect(BootClock.now >= before)
    #expect(WallClock.now.seconds > 1_700_000_000)
    #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
    #expect(Duration.milliseconds(-1500).wholeNanoseconds == -1_500_000_000)
  }

  @Test func `paths are taken apart by bytes`() {
    // A slash and an accent are one character.
    for end in ["x", "x/"] { #expect(PathName.absolute("/\u{301}" + end, in: "/elsewhere") == "/\u{301}x") }
    #expect(PathName.absolute("../b//c/./d/", in: "/a/x") == "/a/b/c/d")
    #expect(PathName.absolute("/../..", in: "/a") == "/")
    for path in ["/a//b", "/a/./b", "/a/../a/b", "/a/b/", "//a/b", "/a/b/."] {
      #expect(PathName.absolute(path, in: "/x") == "/a/b", "\(path)")
    }
    for path in ["/", "/a", "/.a/..b/c.d"] { #expect(PathName.absolute(path, in: "/x") == path) }
    #expect(PathName.absolute("", in: "/x") == "/x")
    #expect(PathName.directory(of: "/a/b") == "/a")
    #expect(PathName.directory(of: "/a") == "/")
  }
}
