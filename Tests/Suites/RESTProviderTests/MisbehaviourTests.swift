import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import TestSupport
import Testing

@testable import RESTProvider

/// Every way in which the backend of `Tests/Servers/RESTServer` can go wrong.
@Suite(.standardTimeLimit) struct MisbehaviourTests {
  /// The misbehaviours are shared out among so many backends.
  private static let shares = 4

  private static func catalogue(_ backend: Backend) async throws -> [String] {
    try await backend.ask(.get, "/misbehaviours").required("misbehaviours").elements().map {
      try $0.required("name").string()
    }
  }

  @Test func `every misbehaviour has an expectation, and only one`() async throws {
    try await Backend.run { backend in
      let expected = Misbehaviours.groups.flatMap(\.names)
      #expect(Set(expected).count == expected.count)
      let names = try await Self.catalogue(backend)
      #expect(Set(names) == Set(expected))
      #expect(expected.count >= 60)
    }
  }

  @Test(arguments: 0..<shares)
  func `a refresh keeps or ends the session as it must, and sends the token once`(_ share: Int) async throws {
    try await Backend.run(["--shape", share.isMultiple(of: 2) ? "oauth" : "objects", "--account", ann]) { backend in
      let groups = Misbehaviours.groups.flatMap { group in group.names.map { (name: $0, expected: group.refresh) } }
      for (index, (name, expected)) in groups.enumerated() where index % Self.shares == share {
        var words = ""
        for timeout in Misbehaviours.timeouts(name) {
          let sent: Int
          (words, sent) = try await outcome(of: name, at: "refresh", backend, timeout) { provider, session in
            Misbehaviours.words(await failure { () throws(ProviderFailure) in try await provider.refresh(session) })
          }
          #expect(sent <= 1, "\(name)")
          if Misbehaviours.matches(words, expected) { break }
        }
        #expect(Misbehaviours.matches(words, expected), "\(name): \(words)")
      }
    }
  }

  @Test(arguments: 0..<shares)
  func `a login fails as it must, and is sent once`(_ share: Int) async throws {
    try await Backend.run(["--shape", share.isMultiple(of: 2) ? "nested" : "camel", "--account", ann]) { backend in
      let groups = Misbehaviours.groups.flatMap { group in group.names.map { (name: $0, expected: group.login) } }
      for (index, (name, expected)) in groups.enumerated() where index % Self.shares == share {
        let credentials = try Credentials.ann()
        var words = ""
        for timeout in Misbehaviours.timeouts(name) {
          let sent: Int
          (words, sent) = try await outcome(of: name, at: "login", backend, timeout) { provider, _ in
            var challenge: ProviderChallenge?
            let failure = await failure { () throws(ProviderFailure) in
              challenge = try await provider.login(credentials).challenge
            }
            return challenge == nil ? Misbehaviours.words(failure) : "challenge"
          }
          #expect(sent <= 1, "\(name)")
          if Misbehaviours.matches(words, expected) { break }
        }
        #expect(Misbehaviours.matches(words, expected), "\(name): \(words)")
      }
    }
  }

  /// What a call comes to at a backend that goes wrong once, and how often it was sent; the backend has a session whose
  /// refresh token the call gets.
  private func outcome(
    of name: String, at endpoint: String, _ backend: Backend, _ timeout: Duration,
    _ call: (RESTProvider, BoundToken) async throws -> String
  ) async throws -> (words: String, sent: Int) {
    try await backend.ask(.post, "/reset", "{}")
    let session = try await login(backend)
    let last = try await connections(of: "login", backend).max() ?? 0
    try await backend.misbehave(name, at: endpoint)
    var words = ""
    try await withProvider(backend, timeout: timeout) { provider in words = try await call(provider, session) }
    try await backend.ask(.post, "/release", "{}")
    try await backend.ask(.delete, "/misbehave")
    return (words, try await connections(of: endpoint, backend).count { $0 > last })
  }

  /// The number of the connection of each request to an endpoint.
  ///
  /// Connections are numbered as they are accepted, so that a request that an earlier call gave up has a lower one than
  /// the session's login, however late it is read.
  private func connections(of endpoint: String, _ backend: Backend) async throws -> [Int64] {
    try await backend.ledger("request").filter { try $0.required("endpoint").string() == endpoint }
      .map { try $0.required("connection").integer() }
  }

  /// A refresh token, got with more patience than the slow misbehaviours need.
  private func login(_ backend: Backend) async throws -> BoundToken {
    var token: BoundToken?
    try await withProvider(backend) { provider in token = try await provider.login(.ann()).session?.tokens.refreshToken
    }
    return try #require(token)
  }

  @Test(arguments: [
    ("ok", "********0123"), ("masked-phone-full", "+•••••••••23"), ("masked-phone-controls", "abcdefghi"),
    ("masked-phone-escapes", "]•;owned[••mred[•J31m"), ("masked-phone-bidi", "usergnp.exe"), ("masked-phone-empty", ""),
    ("masked-phone-newlines", "line oneSet-Cookie: a=b"), ("masked-phone-number", ""), ("masked-phone-object", ""),
    ("masked-phone-long", String(repeating: "n", count: 256)), ("otp-flow-number", "********0123"),
    ("otp-flow-null", nil), ("otp-flow-absent", nil), ("otp-flow-empty", nil), ("otp-flow-long", nil),
  ])
  func `a challenge is fit to be seen, or refused`(_ name: String, _ destination: String?) async throws {
    try await Backend.run(["--account", annWithCode]) { backend in
      try await withProvider(backend) { provider in
        try await backend.misbehave(name, at: "login")
        guard let destination else {
          let credentials = try Credentials.ann()
          let failure = await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
          #expect(failure == .refused(.invalidResponse))
          return
        }
        #expect(try await provider.login(.ann()).challenge?.maskedDestination == destination)
      }
    }
  }
}
