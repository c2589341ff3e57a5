import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import AuthBrokerClient

@Suite(.standardTimeLimit) struct BrokerClientTests {
  @Test func `answers that overtake each other find their callers`() async throws {
    let client = try ScriptedBroker.client { wire in
      let first = wire.read()
      let second = wire.read()
      for request in [second, first] {
        let profile = (try? request?["params"]?["profile"]?.string()) ?? ""
        wire.answer(request, ScriptedBroker.session.replacingProfile(profile))
      }
    }
    async let a = client.session(profile: ProfileName("a"))
    async let b = client.session(profile: ProfileName("b"))
    let names = try await [a.profile.description, b.profile.description]
    #expect(names == ["a", "b"])
  }

  @Test func `two hundred calls at once are all answered`() async throws {
    let client = try ScriptedBroker.client { wire in
      while let request = wire.read() {
        wire.answer(request, ScriptedBroker.token(ScriptedBroker.id(request)))
      }
    }
    let tokens = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<200 { group.addTask { try await client.accessToken().tokenID } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(tokens.count == 200)
  }

  @Test func `a chosen profile that has no profile's name is the caller's mistake, not a missing broker`() throws {
    let wrong: EnvironmentVariables = ["AUTHBROKER_PROFILE": "no name"]
    #expect {
      try ProfileName.meant(nil, wrong)
    } throws: { error in
      guard case .broker(let error)? = error as? ClientError else { return false }
      return error.kind == .invalidParams && error.pointer == "/profile" && !error.isRetryable
    }
    #expect(try ProfileName.meant(ProfileName("a"), wrong) == ProfileName("a"))
  }

  @Test func `an error carries its kind and what to do`() async throws {
    let client = try ScriptedBroker.client { wire in
      let data = #"{"kind":"otpInvalid","nextAction":"verifyOtp","retryable":false,"attemptsRemaining":2}"#
      wire.refuse(wire.read(), 1022, data)
    }
    let error = await #expect(throws: ClientError.self) { try await client.session() }
    guard case .broker(let refusal) = error else {
      Issue.record("not the broker's error")
      return
    }
    #expect(refusal.kind == .otpInvalid)
    #expect(refusal.nextAction == .verifyOtp)
    #expect(refusal.attemptsRemaining == 2)
  }

  @Test func `the vault's methods say what they were told, and no more`() async throws {
    let client = try ScriptedBroker.client { wire in
      var texts: [String] = []
      while let request = wire.read() {
        let params = request["params"].map { String(decoding: Array($0.text), as: UTF8.self) } ?? ""
        texts.append(ScriptedBroker.method(request) + params)
        guard ScriptedBroker.method(request) == "checkVault" else {
          wire.answer(request, "{}")
          continue
        }
        let findings = texts.map { text in
          var writer = JSONWriter()
          VaultFinding(.tampered, isError: true, text).encode(to: &writer)
          return String(decoding: writer.bytes, as: UTF8.self)
        }
        wire.answer(request, #"{"ok":false,"findings":[\#(findings.joined(separator: ","))]}"#)
      }
    }
    try await client.lock()
    try await client.unlock()
    try await client.unlock(passphrase: try Secret(utf8: "old"))
    try await client.rekey(to: .passphrase, passphrase: try Secret(utf8: "old"), newPassphrase: try Secret(utf8: "new"))
    let result = try await client.checkVault(full: true)
    #expect(!result.isOK)
    #expect(
      result.findings.map(\.message) == [
        "lock{}", "unlock{}", #"unlock{"passphrase":"old"}"#,
        #"rekey{"keySource":"passphrase","passphrase":"old","newPassphrase":"new"}"#, #"checkVault{"full":true}"#,
      ])
  }

  @Test func `a provider that cannot be reached is a report, no error`() async throws {
    let client = try ScriptedBroker.client { wire in
      while let request = wire.read() {
        let params = request["params"].map { String(decoding: Array($0.text), as: UTF8.self) } ?? ""
        let kind = params == "{}" ? "timeout" : "aKindOfLater"
        wire.answer(
          request,
          #"{"providers":[{"profile":"work","provider":"rest","reachable":false,"host":"h","tls":true,"#
            + #""errorKind":"\#(kind)","message":"M."}]}"#)
      }
    }
    var reports = try await client.checkProviders().providers
    #expect(reports.map(\.errorKind) == [.timeout] && reports.map(\.message) == ["M."])
    reports = try await client.checkProviders(profile: ProfileName("work")).providers
    #expect(reports.map(\.errorKind) == [nil] && reports.map(\.isReachable) == [false])
  }

  @Test(arguments: [
    "no JSON\n", "[]\n", #"{"jsonrpc":"2.0","id":"one","result":{}}"# + "\n",
    #"{"jsonrpc":"2.0","id":1,"result":{"state":7}}"# + "\n", #"{"jsonrpc":"2.0","id":1}"# + "\n",
  ])
  func `an answer that is none fails the call`(text: String) async throws {
    let client = try ScriptedBroker.client { wire in
      _ = wire.read()
      wire.write(text)
      _ = wire.read()
    }
    let error = await #expect(throws: ClientError.self) { try await client.session() }
    guard case .unexpectedAnswer = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `an answer may come byte by byte, and be longer than any buffer`() async throws {
    let long = String(repeating: "x", count: 300_000)
    let client = try ScriptedBroker.client { wire in
      let first = wire.read()
      let text = #"{"jsonrpc":"2.0","id":\#(ScriptedBroker.id(first)),"result":\#(ScriptedBroker.session)}"# + "\r\n"
      for byte in text.utf8 { wire.write(String(Unicode.Scalar(byte))) }
      wire.answer(wire.read(), #"{"id":"u","name":"\#(long)"}"#)
    }
    #expect(try await client.session().provider == "local")
    #expect(try await client.currentUser().name == long)
  }

  @Test func `a request that the socket does not take at once is sent by and by`() async throws {
    let client = try ScriptedBroker.client { wire in
      let request = wire.read()
      let count = (try? request?["params"]?["text"]?.string().utf8.count) ?? 0
      wire.answer(request, #"{"text":"\#(count)"}"#)
    }
    let answer = try await client.call(Echo.self, .init(text: String(repeating: "y", count: 1 << 20)))
    #expect(answer.text == "\(1 << 20)")
  }

  @Test func `a token prints as redacted until it is revealed`() async throws {
    let client = try ScriptedBroker.client { wire in wire.answer(wire.read(), ScriptedBroker.token("canary")) }
    let token = try await client.accessToken()
    #expect(!"\(token)".replacingOccurrences("id-canary").contains("canary"))
    #expect(token.accessToken.revealedString() == "canary")
  }

  @Test func `a location without a broker says so`() async throws {
    let location = BrokerLocation(state: "/proc/nonexistent/authbroker", startsBroker: false)
    let error = await #expect(throws: ClientError.self) { try await BrokerClient.connect(to: location) }
    guard case .noBroker(let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("/proc/nonexistent/authbroker"))
  }
}

/// A method of no broker.
private enum Echo: BrokerMethod {
  static let name = "echo"
  typealias Result = Params

  struct Params: MethodParams {
    static let blank = Params(text: "")
    var text: String
    mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) { try coder.required("text", &text) }
  }
}

extension String {
  fileprivate func replacingProfile(_ name: String) -> String {
    split(separator: "default", maxSplits: 1, omittingEmptySubsequences: false).joined(separator: name)
  }

  fileprivate func replacingOccurrences(_ word: String) -> String {
    split(separator: word, omittingEmptySubsequences: false).joined()
  }
}
