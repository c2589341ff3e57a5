import LinuxSystem
import TestSupport
import Testing

/// A program with nothing but the broker's socket, to whose own socket a client of the user's is lured: it hands on what
/// the broker asks it to prove, and would be administrative if the client proved that.
@Suite(.standardTimeLimit) struct RelayAttackTests {
  /// The relay, which listens on `socket` of the sandbox's root.
  private static func relay(_ sandbox: Sandbox, _ mode: String) throws -> Program {
    _ = try sandbox.owner()
    try SocketWire(sandbox.socket).register()
    let program = try sandbox.start(
      Repository.root + "/Tests/Drivers/Clients/fake-broker",
      [sandbox.root + "/relay.sock", sandbox.root + "/relay.log", mode, sandbox.socket])
    #expect(Patience.wait { (try? UnixSocket.connect(to: sandbox.root + "/relay.sock").close()) != nil })
    return program
  }

  @Test(arguments: [
    ["token"], ["token", "--format", "header"], ["status"], ["whoami"], ["logout"], ["exec", "--", "true"],
    ["call", "getAccessToken"], ["call", "prove"], ["call", "unlock"],
  ])
  func `what is not administrative is proven nothing for, whatever answers`(_ words: [String]) async throws {
    try await Sandbox.run { sandbox in
      _ = try Self.relay(sandbox, "relay")
      let before = Directory.names(in: sandbox.state)
      let outcome = try sandbox.run(
        BuiltPrograms.command, ["--state", sandbox.state] + words,
        environment: ["AUTHBROKER_SOCKET": sandbox.root + "/relay.sock"])
      #expect(outcome.code == 6 && !outcome.errors.contains("nothing was created"), "\(outcome.errors)")
      #expect(Directory.names(in: sandbox.state) == before)
      // A file that was created is gone again: that it was is seen by what came next.
      let asked = String(decoding: try Directory.bytes(of: sandbox.root + "/relay.log"), as: UTF8.self)
      #expect(words.contains("prove") || !asked.split(separator: "\n").contains("prove"), "\(asked)")
    }
  }

  @Test(arguments: [
    ["lock"], ["rekey"], ["logout", "--all"], ["call", "checkVault"], ["call", "logout", #"{"all":true}"#],
    ["local", "users"], ["stop"],
  ])
  func `an administrative command creates no file for a proxy, and says so`(_ words: [String]) async throws {
    try await Sandbox.run { sandbox in
      _ = try Self.relay(sandbox, "proxy")
      let before = Directory.names(in: sandbox.state)
      let outcome = try sandbox.run(
        BuiltPrograms.command, ["--state", sandbox.state] + words,
        environment: ["AUTHBROKER_SOCKET": sandbox.root + "/relay.sock"])
      #expect(outcome.code == 6 && outcome.errors.contains("nothing was created"), "\(outcome.errors)")
      #expect(Directory.names(in: sandbox.state) == before)
      #expect(try SocketWire(sandbox.socket).refusal("getAccessToken") == nil)
    }
  }

  @Test func `the shell client creates no file for a relay either`() async throws {
    try await Sandbox.run { sandbox in
      sandbox.environment["AUTHBROKER_STATE"] = sandbox.state
      _ = try Self.relay(sandbox, "proxy")
      let before = Directory.names(in: sandbox.state)
      sandbox.environment["AUTHBROKER_SOCKET"] = sandbox.root + "/relay.sock"
      for words in [["lock"], ["logout", "--all"]] {
        let outcome = try sandbox.run(BuiltPrograms.shellClient, words)
        #expect(outcome.code == 6 && outcome.errors.contains("nothing was created"), "\(words): \(outcome.errors)")
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
