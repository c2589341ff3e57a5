import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import LinuxSystem
import ProviderKit
import SecretMemory
import TestSupport
import Testing

@testable import RESTProvider

/// What is on the way to a backend.
@Suite(.standardTimeLimit) struct ConnectionTests {
  @Test(
    arguments: [
      ("ok", nil), ("tls1.2-only", nil), ("expired", .transient(.tlsFailed, cause: .tls(.expired))),
      ("wrong-host", .transient(.tlsFailed, cause: .tls(.hostMismatch))),
      ("self-signed", .transient(.tlsFailed, cause: .tls(.untrusted))),
      ("unknown-ca", .transient(.tlsFailed, cause: .tls(.untrusted))),
      ("tls1.1-only", .transient(.tlsFailed, cause: .tls(.protocolVersion))),
    ] as [(String, ProviderFailure?)])
  func `nothing is sent over a connection that is not trustworthy`(_ mode: String, _ expected: ProviderFailure?)
    async throws
  {
    try await Backend.run(["--tls", mode, "--account", ann]) { backend in
      try await withProvider(backend, tls: TLSPolicy(caFile: backend.caFile)) { provider in
        let credentials = try Credentials.ann()
        #expect(await failure { () throws(ProviderFailure) in try await provider.login(credentials) } == expected)
      }
      guard expected != nil else { return }
      for connection in try await backend.ask(.get, "/ledger").required("connections").elements() {
        #expect(try connection.required("applicationBytesReceived").integer() == 0)
      }
    }
  }

  @Test func `a key that is not pinned gets nothing`() async throws {
    try await Backend.run(["--tls", "--account", ann]) { backend in
      let good = TLSPolicy(caFile: backend.caFile, pins: try PinSet(backend.pins))
      try await withProvider(backend, tls: good) { provider in
        let outcome = try await provider.login(.ann())
        #expect(outcome.session != nil)
      }
      let others = ["sha256//" + String(repeating: "A", count: 43) + "=", backend.pins[1]]
      let wrong = TLSPolicy(caFile: backend.caFile, pins: try PinSet(others))
      let before = try await backend.ledger("request").count
      try await withProvider(backend, tls: wrong) { provider in
        let credentials = try Credentials.ann()
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
            == .transient(.tlsPinMismatch))
      }
      #expect(try await backend.ledger("request").count == before)
    }
  }

  @Test func `a refresh that reached nobody has not spent the token`() async throws {
    try await Backend.run(["--account", ann]) { backend in
      try await withProvider(backend) { provider in
        let token = try #require(try await provider.login(.ann()).session?.tokens.refreshToken)
        try await backend.ask(.post, "/listen", #"{"open":false}"#)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
            == .transient(.networkUnavailable))
        try await backend.ask(.post, "/listen", #"{"open":true}"#)
        #expect(try await provider.refresh(token).refreshToken != nil)
      }
      #expect(try await backend.ledger("refresh").map { try $0.required("outcome").string() } == ["rotated"])
    }
  }

  @Test(arguments: [
    ("status-500-json", 1, true, 2), ("status-500-json", 2, true, 3), ("status-500-json", 9, false, 3),
    ("reset-after-commit", 2, true, 3), ("status-503-retry-seconds", 1, false, 1), ("status-404-json", 1, false, 1),
  ])
  func `what only reads is tried again, twice at most, each time after a pause`(
    _ name: String, _ times: Int, _ succeeds: Bool, _ requests: Int
  ) async throws {
    try await Backend.run(["--account", ann]) { backend in
      try await withProvider(backend) { provider in
        let token = try #require(try await provider.login(.ann()).session).tokens.accessToken
        try await backend.misbehave(name, at: "getCurrentUser", ",\"times\":\(times)")
        let begin = BootClock.now
        let failure = await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: token) }
        #expect((failure == nil) == succeeds)
        // A kept connection that dies under a read is replaced at once, without a pause.
        let failures = name.hasPrefix("status") ? 1..<requests : 1..<1
        let pauses = failures.map { ReadRepetition.pause(afterFailures: $0, jitter: 0) }
        #expect(BootClock.now - begin >= pauses.reduce(.zero, +))
      }
      let reads = try await backend.ledger("request").filter {
        try $0.required("endpoint").string() == "getCurrentUser"
      }
      #expect(reads.count == requests)
    }
  }

  @Test func `a server clock that is wrong makes no token older or younger`() async throws {
    try await Backend.run(["--shape", "objects", "--account", ann, "--set", "dateSkewSeconds=0"]) { backend in
      for seconds in [-7200, 7200] {
        try await backend.ask(.post, "/clock", "{\"advanceSeconds\":\(seconds)}")
        try await withProvider(backend) { provider in
          let session = try #require(try await provider.login(.ann()).session)
          let rest = try #require(session.tokens.accessTokenExpiresAt) - provider.clock()
          #expect(rest > .seconds(700) && rest <= .seconds(902))
        }
        try await backend.ask(.post, "/clock", "{\"advanceSeconds\":\(-seconds)}")
      }
    }
  }

  @Test func `the end of a JWT is a hint where nothing else is said`() async throws {
    let settings = ["--set", "accessTokenForm=jwt", "--set", "includeExpiry=false"]
    try await Backend.run(["--shape", "oauth", "--account", ann] + settings) { backend in
      try await withProvider(backend) { provider in
        let tokens = try #require(try await provider.login(.ann()).session).tokens
        let rest = try #require(tokens.accessTokenExpiresAt) - provider.clock()
        #expect(rest > .seconds(700) && rest <= .seconds(901))
      }
    }
  }
}
