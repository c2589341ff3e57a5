import LinuxSystem
import TestSupport
import Testing

/// A program with nothing but the broker's socket, to whose own socket a client of the user's is lured: it hands on what
/// the broker asks it to prove, and would be administrative if the client proved that.
@Suite(.standardTimeLimit) struct RelayAttackTests {
  /// The relay, which listens on `socket` of the sandbox's root.
  private static func relay(_ sandbox: Sandbox) throws -> Program {
    _ = try sandbox.owner()
    try SocketWire(sandbox.socket).register()
    let program = try sandbox.start(
      Repository.root + "/Tests/Drivers/Clients/fake-broker",
      [sandbox.root + "/relay.sock", sandbox.root + "/relay.log", "relay", sandbox.socket])
    #expect(Patience.wait { (try? UnixSocket.connect(to: sandbox.root + "/relay.sock").close()) != nil })
    return program
  }

  /// The words of a command, and whether it is told that nothing was created.
  private static let commands: [(words: [String], isProof: Bool)] = [
    (["token"], false), (["token", "--format", "header"], false), (["status"], false), (["whoami"], false),
    (["logout"], false), (["exec", "--", "true"], false), (["call", "getAccessToken"], false),
    (["call", "prove"], false), (["lock"], true), (["rekey"], true), (["logout", "--all"], true),
    (["call", "checkVault"], true), (["call", "logout", #"{"all":true}"#], true), (["local", "users"], true),
    (["stop"], true),
  ]

  @Test func `no command creates a file for a relay, and an administrative one says so`() async throws {
    try await Sandbox.run { sandbox in
      _ = try Self.relay(sandbox)
      let before = Directory.names(in: sandbox.state)
      let environment = ["AUTHBROKER_SOCKET": sandbox.root + "/relay.sock"]
      for (words, isProof) in Self.commands {
        let outcome = try sandbox.run(
          BuiltPrograms.command, ["--state", sandbox.state] + words, environment: environment)
        #expect(outcome.code == 6, "\(words): \(outcome.code) \(outcome.errors)")
        #expect(outcome.errors.contains("nothing was created") == isProof, "\(words): \(outcome.errors)")
        #expect(Directory.names(in: sandbox.state) == before, "\(words)")
      }
      #expect(try SocketWire(sandbox.socket).refusal("getAccessToken") == nil)
    }
  }

  @Test func `the shell client creates no file for a relay either`() async throws {
    try await Sandbox.run { sandbox in
      sandbox.environment["AUTHBROKER_STATE"] = sandbox.state
      _ = try Self.relay(sandbox)
      let before = Directory.names(in: sandbox.state)
      sandbox.environment["AUTHBROKER_SOCKET"] = sandbox.root + "/relay.sock"
      for words in [["token"], ["lock"], ["logout", "--all"]] {
        let outcome = try sandbox.run(BuiltPrograms.shellClient, words)
        #expect(outcome.code == 6, "\(words): \(outcome.errors)")
        #expect(Directory.names(in: sandbox.state) == before, "\(words)")
      }
      sandbox.environment["AUTHBROKER_SOCKET"] = nil
    }
  }

  @Test func `a chosen socket of the owner's own takes the proof`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let outcome = try sandbox.run(
        BuiltPrograms.command, ["--state", sandbox.state, "lock"], environment: ["AUTHBROKER_SOCKET": sandbox.socket])
      #expect(outcome.code == 0, "\(outcome.errors)")
    }
  }
}
