import AuthBrokerClient
import BrokerProtocol
import JSON
import LinuxSystem
import TestSupport
import Testing

/// Who may administer a broker: who has its state directory, not who has merely its socket.
@Suite(.standardTimeLimit) struct AdministrationTests {
  private static func proofs(in state: String) -> [String] {
    Directory.names(in: state).filter { $0.hasPrefix("proof-") }
  }

  private static func ask(_ wire: any Wire, _ method: String, _ params: String = "{}") throws -> JSONNode {
    try wire.ask(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
  }

  @Test(arguments: [
    ("lock", "{}"), ("rekey", #"{"keySource":"passphrase","newPassphrase":"a caller's own"}"#), ("stopBroker", "{}"),
    ("reloadConfig", "{}"), ("checkVault", "{}"), ("logout", #"{"all":true}"#), ("listLocalMessages", "{}"),
    ("revokeLocalSessions", #"{"user":"ada@example.com"}"#),
  ])
  func `a bare socket administers nothing`(_ method: String, _ params: String) async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      try wire.register()
      let answer = try Self.ask(wire, method, params)
      #expect(try answer["error"]?["code"]?.integer() == 1081, "\(String(decoding: answer.text, as: UTF8.self))")
      _ = try wire.accessToken()
      #expect(try wire.call("getStatus")["vault"]?["keySource"]?.string() == "file")
    }
  }

  @Test func `a bare socket does nothing with the owner's recent login that the owner's command may do`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let bob = #"{"email":"bob@example.com","password":"example password 2"}"#
      let change = #"{"changes":{"twoFactor":"totp"}}"#
      let bare = try SocketWire(sandbox.socket)
      for (method, params) in [
        ("updateProfile", change), ("updateProfile", #"{"changes":{"email":"bob@example.com"}}"#), ("register", bob),
        ("login", bob),
      ] {
        let answer = try Self.ask(bare, method, params)
        #expect(try answer["error"]?["code"]?.integer() == 1005, "\(String(decoding: answer.text, as: UTF8.self))")
      }
      #expect(try bare.call("getSession")["user"]?["email"]?.string() == "ada@example.com")
      let outcome = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state, "call", "updateProfile", change])
      #expect(outcome.code == 0 && outcome.output.contains("otpauth"), "\(outcome.errors)")
      let words = ["register", "--email", "bob@example.com", "--password-stdin"]
      let other = try sandbox.run(
        BuiltPrograms.command, ["--state", sandbox.state] + words, input: "example password 2\n")
      #expect(other.code == 0, "\(other.errors)")
      #expect(Self.proofs(in: sandbox.state).isEmpty)
    }
  }

  @Test func `the command proves itself, also for a call`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      for words in [
        ["lock"], ["unlock"], ["call", "reloadConfig"], ["call", "checkVault"], ["logout", "--all"], ["rekey"],
      ] {
        let outcome = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + words)
        #expect(outcome.code == 0, "\(words): \(outcome.errors)")
      }
      #expect(Self.proofs(in: sandbox.state).isEmpty)
    }
  }

  @Test func `the shell client proves itself`() async throws {
    try await Sandbox.run { sandbox in
      sandbox.environment["AUTHBROKER_STATE"] = sandbox.state
      _ = try sandbox.owner()
      for words in [["lock"], ["unlock"], ["logout", "--all"]] {
        let outcome = try sandbox.run(BuiltPrograms.shellClient, words)
        #expect(outcome.code == 0, "\(words): \(outcome.errors)")
      }
      #expect(Self.proofs(in: sandbox.state).isEmpty)
    }
  }

  @Test func `many calls of the library at once prove themselves together`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let state = sandbox.state
      let kinds = try TaskResult.waiting {
        let client = try await BrokerClient.connect(to: BrokerLocation(state: state, startsBroker: false))
        return await withTaskGroup(of: Bool.self) { group in
          for _ in 0..<20 {
            group.addTask { (try? await client.call(CheckVault.self, .init(isFull: false)).isOK) == true }
          }
          return await group.reduce(into: []) { $0.append($1) }
        }
      }
      #expect(kinds == Array(repeating: true, count: 20))
      #expect(Self.proofs(in: state).isEmpty)
    }
  }

  @Test func `behind a relay the user of the relay proves himself`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let relay = try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state, "connect"])
      let wire = ProgramWire(relay)
      #expect(try Self.ask(wire, "lock")["error"]?["data"]?["kind"]?.string() == "accessDenied")
      try wire.prove()
      #expect(try Self.ask(wire, "lock")["result"] != nil)
      #expect(try Self.ask(SocketWire(sandbox.socket), "lock")["error"] != nil)
    }
  }

  @Test func `the parent of a private broker has proven itself`() async throws {
    try await Sandbox.run { sandbox in
      let wire = ProgramWire(try sandbox.privateOwner())
      #expect(try Self.ask(wire, "lock")["result"] != nil)
      #expect(try Self.ask(SocketWire(sandbox.socket), "lock")["error"] != nil)
    }
  }

  @Test func `a start removes what an earlier broker asked for`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      let answer = try Self.ask(wire, "lock")
      let proof = try #require(ProofGiving.wanted(by: String(decoding: answer.text, as: UTF8.self)))
      try ProofGiving.give(proof)
      sandbox.bury(owner)
      #expect(Self.proofs(in: sandbox.state).count == 1)
      _ = try sandbox.owner()
      #expect(Self.proofs(in: sandbox.state).isEmpty)
    }
  }
}
