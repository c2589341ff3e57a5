import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A broker on a machine, or in a control group, that has no thread left for it.
///
/// The superuser is exempt from the limit (setrlimit(2)), so that the programs run as another user where the tests are
/// the superuser's.
@Suite(.standardTimeLimit) struct ThreadLimitTests {
  /// A user of whom the machine knows nothing, and who so has no other process.
  private static let stranger = 54_321

  /// What runs a program as that user.
  private static var asStranger: [String] {
    guard getuid() == 0 else { return [] }
    return ["/usr/bin/setpriv", "--reuid=\(stranger)", "--regid=\(stranger)", "--clear-groups", "--no-new-privs"]
  }

  /// A directory of that user's, with the program in it: the checkout may lie where only its owner comes.
  private static func folder(_ sandbox: Sandbox) throws -> String {
    let path = sandbox.root + "/limited"
    #expect(mkdir(path, 0o700) == 0)
    guard getuid() == 0 else { return path }
    #expect(try sandbox.run("/bin/cp", [BuiltPrograms.daemon, path + "/authbrokerd"]).code == 0)
    #expect(chmod(sandbox.root, 0o711) == 0 && chown(path, uid_t(stranger), gid_t(stranger)) == 0)
    return path
  }

  /// Starts an owner on standard input and output, with a limit of threads where one is given.
  private static func start(_ sandbox: Sandbox, _ folder: String, threads: Int?, _ options: [String]) throws -> Program
  {
    let program = getuid() == 0 ? folder + "/authbrokerd" : BuiltPrograms.daemon
    var words = [program, "--state", folder + "/state", "--stdio"] + options
    if let threads { words = ["/usr/bin/prlimit", "--nproc=\(threads)"] + words }
    words = asStranger + words
    let home = ["HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMPDIR"]
    var environment = Dictionary(uniqueKeysWithValues: home.map { ($0, folder) })
    // The leak checker needs a thread of its own at the end.
    if let options = Environment.current["ASAN_OPTIONS"] { environment["ASAN_OPTIONS"] = options + ":detect_leaks=0" }
    return try sandbox.start(words[0], Array(words[1...]), environment: environment)
  }

  private static func configure(_ sandbox: Sandbox, _ text: String) throws -> [String] {
    let options = try sandbox.configure(text)
    #expect(chmod(sandbox.root + "/config.json", 0o644) == 0)
    return options
  }

  @Test func `an owner that gets no thread says so and exits with 1`() async throws {
    try await Sandbox.run { sandbox in
      let folder = try Self.folder(sandbox)
      let broker = try Self.start(sandbox, folder, threads: 1, [])
      broker.closeInput()
      #expect(try broker.wait() == 1)
      #expect(broker.errorText.contains("no thread can be started"), "\(broker.errorText)")
    }
  }

  @Test(arguments: [
    #"{ profiles: { default: { provider: "local" } } }"#,
    #"{ profiles: { default: { provider: "rest", baseUrl: "http://127.0.0.1:1" } } }"#,
    #"""
    { profiles: { default: { provider: "oidc", issuer: "http://127.0.0.1:1", clientId: "cli",
      clientSecret: { env: "HOME" } } } }
    """#,
  ])
  func `a broker that gets no more threads goes on, and says that it has too much to do`(_ text: String) async throws {
    try await Sandbox.run { sandbox in
      let folder = try Self.folder(sandbox)
      let broker = try Self.start(sandbox, folder, threads: nil, try Self.configure(sandbox, text))
      let wire = ProgramWire(broker)
      #expect(try wire.call("ping").members().isEmpty)
      // Who may change the limits of a process is its own user (prlimit(2)).
      let words = Self.asStranger + ["/usr/bin/prlimit", "--pid", String(broker.pid), "--nproc=1:1"]
      let limit = try sandbox.run(words[0], Array(words[1...]))
      #expect(limit.code == 0, "\(limit.errors)")
      let kind = try wire.refusal("login", #"{"email":"ada@example.com","password":"example password 1"}"#)
      // The embedded provider has its thread from the start.
      #expect(kind == (text.contains("local") ? "invalidCredentials" : "overloaded"))
      #expect(try wire.call("ping").members().isEmpty)
      wire.finishSending()
      #expect(try broker.wait() == 0)
    }
  }
}
