import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// The browser that `login` opens, played by a script that writes down what it got.
@Suite(.standardTimeLimit) struct BrowserLauncherTests {
  private let scratch = Scratch()

  /// What a shell would make something else of.
  private static let address = "https://id.example/authorize?state=1&scope=a+b;$(id)"
  private static let session =
    #""result":{"status":"authenticated","session":{"profile":"default","provider":"oidc","state":"authenticated","#
    + #""user":{"id":"u","email":"ada@example.com"},"scopes":[],"refreshTokenPresent":true}}"#

  /// An owner whose login in a browser is done at once.
  private func owner(_ address: String = address) throws -> FakeOwner {
    let action =
      #"{"loginFlowId":"example-login","profile":"default","kind":"browser","verificationUri":"\#(address)","#
      + #""expiresAt":"2099-01-01T00:00:00Z"}"#
    return try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status()
      case "login": #""result":{"status":"userActionRequired","action":\#(action)}"#
      default: Self.session
      }
    }
  }

  /// A program in the directory `bin` that writes its arguments, its streams and its environment to the file `told`.
  private func makeBrowser(_ name: String) throws {
    if mkdir(scratch.file("bin"), 0o700) != 0 { #expect(errno == EEXIST) }
    let told = scratch.file("told")
    try scratch.write(
      """
      #!/bin/sh
      echo some noise; echo more noise >&2
      streams=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)
      { echo "name=${0##*/}"; printf 'argument=%s\\n' "$@"; printf 'stream=%s\\n' $streams; env; } > \(told).new
      mv \(told).new \(told)

      """, to: "bin/" + name)
    #expect(chmod(scratch.file("bin/" + name), 0o700) == 0)
  }

  /// Logs in at a terminal with an environment, in which the directory `bin` comes first.
  private func logIn(_ words: [String] = [], _ environment: [String: String]) throws -> CommandRun {
    let path = ["PATH": scratch.file("bin") + ":/usr/bin:/bin"]
    return try CommandRun(
      atTerminal: [], ["login"] + words, in: scratch, environment: path.merging(environment) { $1 })
  }

  /// The lines that the browser wrote, which nobody waits for.
  private func told() throws -> [String] {
    #expect(Patience.wait { scratch.names.contains("told") })
    let text = String(decoding: try scratch.bytes(of: "told"), as: UTF8.self)
    return text.split(separator: "\n").map(String.init)
  }

  @Test(arguments: ["DISPLAY", "WAYLAND_DISPLAY"])
  func `where there is a display, the desktop's browser is opened behind the address`(variable: String) throws {
    try makeBrowser("xdg-open")
    let owner = try owner()
    let run = try logIn(["--method", "browser"], [variable: ":0"])
    #expect(run.code == 0, "\(run.output)")
    let notice =
      "authbroker: in a browser on this computer, open this address:\r\n\(Self.address)\r\n"
      + "authbroker: opening it in your browser\r\n"
    #expect(run.output.contains(notice), "\(run.output)")
    #expect(!run.output.contains("noise"), "\(run.output)")
    let told = try told()
    #expect(told.prefix(2) == ["name=xdg-open", "argument=\(Self.address)"], "\(told)")
    #expect(told.count { $0.hasPrefix("argument=") } == 1)
    #expect(!owner.requests.isEmpty)
  }

  @Test(arguments: [
    ("browser", ["argument=\(address)"]),
    ("browser --new %s -x", ["argument=--new", "argument=\(address)", "argument=-x"]),
    ("/proc/nonexistent/at/all:missing-program:browser url=%s", ["argument=url=\(address)"]),
  ])
  func `BROWSER is a list of commands, of which the first that starts is taken`(
    list: String, arguments: [String]
  ) throws {
    try makeBrowser("browser")
    try makeBrowser("xdg-open")
    let owner = try owner()
    // Over ssh as well: it was chosen.
    let run = try logIn([], ["BROWSER": list, "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"])
    #expect(run.code == 0 && run.output.contains("opening it in your browser"), "\(run.output)")
    let told = try told()
    #expect(told.first == "name=browser" && told.filter { $0.hasPrefix("argument=") } == arguments, "\(told)")
    #expect(!owner.requests.isEmpty)
  }

  @Test func `the browser gets no descriptor, and no variable that a desktop does not need`() throws {
    try makeBrowser("xdg-open")
    let owner = try owner()
    let run = try logIn(
      [], ["DISPLAY": ":0", "XDG_CURRENT_DESKTOP": "KDE", "CLIENT_SECRET": "canary", "AUTHBROKER_STATE": "/canary"])
    #expect(run.code == 0, "\(run.output)")
    let told = try told()
    #expect(told.filter { $0.hasPrefix("stream=") } == Array(repeating: "stream=/dev/null", count: 3), "\(told)")
    #expect(told.contains("DISPLAY=:0") && told.contains("XDG_CURRENT_DESKTOP=KDE"), "\(told)")
    #expect(told.contains { $0.hasPrefix("HOME=") } && !told.contains { $0.contains("canary") }, "\(told)")
    #expect(!owner.requests.isEmpty)
  }

  @Test(arguments: [["BROWSER": "missing-program"], ["BROWSER": "/proc/nonexistent/browser %s"], ["DISPLAY": ":0"]])
  func `a browser that cannot be started is a hint and no failure`(environment: [String: String]) throws {
    // The first in PATH counts, and this one is no program.
    try makeBrowser("xdg-open")
    #expect(chmod(scratch.file("bin/xdg-open"), 0o600) == 0)
    let owner = try owner()
    let run = try logIn([], environment)
    #expect(run.code == 0, "\(run.output)")
    let hint = "authbroker: no browser could be started; open the address yourself, or name a browser in BROWSER\r\n"
    #expect(run.output.contains(hint), "\(run.output)")
    #expect(!owner.requests.isEmpty)
  }

  @Test(
    arguments: [
      ([], [:]), ([], ["DISPLAY": ""]),
      ([], ["DISPLAY": "localhost:10.0", "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"]),
      (["--no-browser"], ["DISPLAY": ":0", "BROWSER": "browser"]), (["--no-wait"], ["DISPLAY": ":0"]),
      (["--json"], ["DISPLAY": ":0"]),
    ] as [([String], [String: String])])
  func `no browser is opened where none is wanted, or none could be seen`(
    words: [String], environment: [String: String]
  ) throws {
    try makeBrowser("xdg-open")
    try makeBrowser("browser")
    let owner = try owner()
    let run = try logIn(words, environment)
    #expect(run.output.contains(Self.address), "\(run.output)")
    // It is told of by the command that starts it, so that nothing has to be waited for.
    #expect(!run.output.contains("browser could be started") && !run.output.contains("opening it"), "\(run.output)")
    #expect(!owner.requests.isEmpty)
  }

  @Test func `no browser is opened where no person is at a terminal`() throws {
    try makeBrowser("browser")
    let owner = try owner()
    let run = try CommandRun(["login"], in: scratch, environment: ["BROWSER": scratch.file("bin/browser")])
    #expect(run.code == 0 && run.errors.contains(Self.address), "\(run.errors)")
    #expect(!run.errors.contains("opening it") && !owner.requests.isEmpty, "\(run.errors)")
  }

  @Test(arguments: ["file:///etc/passwd", "-version", "https://id.example/ x", "https://id.example/\\u001b"])
  func `what is no address of the web is not handed to a browser`(address: String) throws {
    try makeBrowser("browser")
    let owner = try owner(address)
    let run = try logIn([], ["BROWSER": "browser"])
    #expect(run.code == 0, "\(run.output)")
    #expect(!run.output.contains("opening it") && !run.output.contains("could be started"), "\(run.output)")
    #expect(!owner.requests.isEmpty)
  }
}
