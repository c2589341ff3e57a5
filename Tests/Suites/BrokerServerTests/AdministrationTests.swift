import BrokerProtocol
import BrokerServer
import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// What is for clients that have the state directory, and for no other.
@Suite(.standardTimeLimit) struct AdministrationTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static let done = #"{"jsonrpc":"2.0","id":9,"result":{}}"#

  /// The proof that a bare request is answered with.
  private static func proof(_ client: TestClient, _ line: String = call("lock")) throws -> StateProof {
    let answers = client.askBare(line)
    return try #require(ProofGiving.wanted(by: answers.first ?? ""), "\(answers)")
  }

  @Test(arguments: [
    ("rekey", #"{"newPassphrase":"mine"}"#), ("lock", "{}"), ("reloadConfig", "{}"), ("stopBroker", "{}"),
    ("checkVault", "{}"), ("tryProvider", "{}"), ("continueTrial", #"{"trialId":"x"}"#), ("logout", #"{"all":true}"#),
    ("prove", "{}"), ("openSocket", #"{"profiles":["default"],"lifetimeSeconds":9}"#), ("listSockets", "{}"),
    ("closeSocket", #"{"socketId":"open-0"}"#), ("readAudit", "{}"), ("listConsents", "{}"),
    ("answerConsent", #"{"consentId":"c","allow":true}"#),
  ])
  func `a client with nothing but the socket is refused and told what to prove`(
    _ method: String, _ params: String
  ) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.askBare(Self.call("login", #"{"email":"a@example.test","password":"right"}"#))
      let answer = client.askBare(Self.call(method, params)).first ?? ""
      #expect(answer.contains(#""kind":"accessDenied""#) && answer.contains(#""retryable":false"#), "\(answer)")
      let proof = try #require(ProofGiving.wanted(by: answer))
      #expect(PathName.directory(of: proof.path) == harness.stateDirectory.path)
      #expect(proof.path.contains("/proof-") && !answer.contains("nonce"))
      #expect(!harness.store.isLocked && harness.provider.revocations == 0 && !harness.stopFlag.isRaised)
      #expect(client.askBare(Self.call("getAccessToken")).first?.contains("access-1") == true)
      #expect(harness.stateDirectory.names.isEmpty)
    }
  }

  @Test func `a client may log out one profile without a proof`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      for params in ["{}", #"{"all":false}"#, #"{"profile":"default"}"#] {
        #expect(client.askBare(Self.call("logout", params)).first?.contains(#""serverRevoked""#) == true)
      }
    }
  }

  @Test func `the file makes its own connection administrative, and is gone then`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, other) = (try harness.connect(), try harness.connect())
      let proof = try Self.proof(client)
      // Until it is used, it stays the same.
      #expect(try Self.proof(client, Self.call("checkVault")) == proof)
      let foreign = try Self.proof(other)
      #expect(foreign != proof)
      try ProofGiving.give(proof, by: client.process)
      #expect(other.askBare(Self.call("prove")).first?.contains("accessDenied") == true)
      #expect(client.askBare(Self.call("prove")) == [Self.done])
      #expect(harness.stateDirectory.names.isEmpty)
      #expect(client.askBare(Self.call("prove")) == [Self.done])
      #expect(client.askBare(Self.call("lock")) == [Self.done])
      #expect(other.askBare(Self.call("lock")).first?.contains("accessDenied") == true)
    }
  }

  /// What is in the place of the file.
  enum Fake {
    case nothing, noProcess, otherProcess, readableByOthers, symbolicLink, hardLink, directory, pipe, foreignOwner

    /// Those that every user can make.
    static let own: [Fake] = [
      .nothing, .noProcess, .otherProcess, .readableByOthers, .symbolicLink, .hardLink, .directory, .pipe,
    ]
  }

  private static func put(_ fake: Fake, _ proof: StateProof, _ process: Int32, _ elsewhere: Scratch) throws {
    let path = ProofGiving.file(of: proof, by: process)
    switch fake {
    case .nothing: break
    case .noProcess: close(open(proof.path, O_CREAT | O_WRONLY, 0o600))
    case .otherProcess: try ProofGiving.give(proof, by: process + 1)
    case .readableByOthers:
      try ProofGiving.give(proof, by: process)
      chmod(path, 0o644)
    case .symbolicLink:
      try elsewhere.write("", to: "real")
      symlink(elsewhere.file("real"), path)
    case .hardLink:
      try elsewhere.write("", to: "real")
      link(elsewhere.file("real"), path)
    case .directory: mkdir(path, 0o600)
    case .pipe: mkfifo(path, 0o600)
    case .foreignOwner:
      try ProofGiving.give(proof, by: process)
      chown(path, 12345, 12345)
    }
  }

  @Test(arguments: Fake.own)
  func `anything else in its place proves nothing, and another file is asked for`(_ fake: Fake) async throws {
    try await Self.expectNoProof(fake)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
  func `a file of another user in its place proves nothing, and another file is asked for`() async throws {
    try await Self.expectNoProof(.foreignOwner)
  }

  private static func expectNoProof(_ fake: Fake) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      let proof = try Self.proof(client)
      let elsewhere = Scratch()
      try Self.put(fake, proof, client.process, elsewhere)
      let answer = client.askBare(Self.call("prove")).first ?? ""
      let next = try #require(ProofGiving.wanted(by: answer))
      #expect(next.path != proof.path)
      #expect(answer.contains(ProofGiving.file(of: proof, by: client.process)), "the missing file is named: \(answer)")
      #expect(client.askBare(Self.call("lock")).first?.contains("accessDenied") == true)
      // The first one is worth nothing any more.
      _ = rmdir(ProofGiving.file(of: proof, by: client.process))
      try ProofGiving.give(proof, by: client.process)
      #expect(client.askBare(Self.call("prove")).first?.contains("accessDenied") == true)
      #expect(!harness.store.isLocked)
    }
  }

  @Test func `requests of a batch share one proof`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      let batch = "[\(Self.call("lock")),\(Self.call("checkVault", "{}", 8))]"
      let text = client.askBare(batch).first ?? ""
      let answers = try JSONDocument(parsing: Array(text.utf8)).root.elements()
      let proofs = answers.compactMap { ProofGiving.wanted(by: String(decoding: $0.text, as: UTF8.self)) }
      #expect(proofs.count == 2 && proofs.first == proofs.last)
    }
  }

  @Test func `what was asked for and never used goes with its connection`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      try ProofGiving.give(try Self.proof(client), by: client.process)
      #expect(harness.stateDirectory.names.count == 1)
      client.close()
      #expect(harness.stateDirectory.names.isEmpty)
    }
  }

  @Test func `what another process has created proves nothing, though it is told of the same file`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      // A relay that asks the broker itself, and lets the owner's own program create the file.
      let relay = try harness.connect(process: 1000)
      let proof = try Self.proof(relay)
      try ProofGiving.give(proof, by: 2000)
      #expect(relay.askBare(Self.call("prove")).first?.contains("accessDenied") == true)
      #expect(relay.askBare(Self.call("lock")).first?.contains("accessDenied") == true)
    }
  }

  @Test func `a client in another PID namespace is refused, which is said`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect(process: 0)
      for method in ["lock", "prove"] {
        let answer = client.askBare(Self.call(method)).first ?? ""
        #expect(answer.contains("accessDenied") && answer.contains("PID namespace"), "\(answer)")
        #expect(ProofGiving.wanted(by: answer) == nil)
      }
    }
  }

  @Test func `leftovers are removed, and nothing else`() throws {
    let scratch = Scratch()
    let digits = String(repeating: "0f", count: 16)
    let leftovers = ["prove-" + digits, "proof-" + digits + ".1", "proof-" + digits + ".4194304"]
    let others = [
      "prove-" + digits + "0", "prove-" + digits.uppercased(), "prove-x", "proof-" + digits, "proof-" + digits + ".",
      "proof-" + digits + ".1.2", "proof-" + digits + ".x", "proof-x.1", "prove-" + digits + ".1", "vault.sqlite",
    ]
    for name in leftovers + others { try scratch.write("x", to: name) }
    ProofDirectory(path: scratch.path).removeLeftovers()
    #expect(Set(scratch.names) == Set(others))
  }

  @Test func `a name that the client has chosen proves itself with the first request`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, other) = (try harness.connect(), try harness.connect())
      let name = "proof-" + String(repeating: "5e", count: 16)
      let proof = StateProof(path: harness.stateDirectory.file(name))
      let call = Self.call("prove", #"{"name":"\#(name)"}"#)
      // Not before the file is there, and not for what only looks like such a name.
      #expect(client.askBare(call).first?.contains("accessDenied") == true)
      try ProofGiving.give(proof, by: client.process)
      for wrong in ["proof-5e", "../\(name)", "\(name).1", name.uppercased(), "vault.sqlite"] {
        let answer = client.askBare(Self.call("prove", #"{"name":"\#(wrong)"}"#)).first ?? ""
        #expect(answer.contains("accessDenied"), "\(wrong): \(answer)")
      }
      #expect(client.askBare(call) == [Self.done])
      #expect(harness.stateDirectory.names.isEmpty)
      #expect(client.askBare(Self.call("lock")) == [Self.done])
      #expect(other.askBare(call).first?.contains("accessDenied") == true, "it counts once")
    }
  }
}
