import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import RESTDialect
import TestSupport
import Testing

@testable import RESTProvider

/// What a close look at a backend finds without credentials.
@Suite(.standardTimeLimit) struct ExaminationTests {
  private func findings(_ backend: Backend, _ mapping: RESTMapping = .standard) async throws -> [ProviderFinding] {
    var found: [ProviderFinding] = []
    try await withProvider(backend, mapping: mapping) { found = await $0.examine() }
    return found
  }

  private func level(_ check: String, _ findings: [ProviderFinding]) -> ProviderFinding.Level? {
    findings.first { $0.check == check }?.level
  }

  @Test func `a backend that is well is found to be so, by requests that change and carry nothing`() async throws {
    try await Backend.run(["--account", ann]) { backend in
      let found = try await findings(backend)
      #expect(found.map(\.check) == ["reachable", "clock", "path.currentUser", "paths"])
      #expect(found.allSatisfy { $0.level == .ok }, "\(found)")
      for request in try await backend.ledger("request") {
        #expect(try ["GET", "OPTIONS"].contains(request.required("method").string()))
        #expect(try request.required("authorization").string() == "none")
        #expect(try request.required("bodyBytes").integer() == 0 && !request.required("queryPresent").bool())
      }
    }
  }

  @Test(arguments: [
    ("captive-portal", ProviderFinding.Level.failure, "a web page"),
    ("status-404-json", .failure, "is missing"), ("redirect-302", .failure, "redirects"),
    ("status-403-json", .warning, "403"),
  ])
  func `what answers in the place of a refusal is told apart`(
    _ name: String, _ level: ProviderFinding.Level, _ words: String
  ) async throws {
    try await Backend.run { backend in
      try await backend.misbehave(name, at: "getCurrentUser")
      let found = try await findings(backend)
      let user = try #require(found.first { $0.check == "path.currentUser" }, "\(found)")
      #expect(user.level == level && user.message.contains(words) && user.advice != nil, "\(user)")
    }
  }

  @Test func `paths that are not there are named with what is lost`() async throws {
    try await Backend.run { backend in
      var mapping = RESTMapping.standard
      mapping.endpoints[.refresh]?.path = "/auth/tokens/renew"
      mapping.endpoints[.register]?.path = "/auth/sign-up"
      mapping.endpoints[.deleteAccount] = nil
      let found = try await findings(backend, mapping)
      #expect(level("path.refresh", found) == .warning && level("path.register", found) == .note)
      #expect(level("path.deleteAccount", found) == nil && level("path.login", found) == nil)
      #expect(found.first { $0.check == "path.refresh" }?.message.contains("/auth/tokens/renew") == true)
    }
  }

  @Test func `a certificate that has run out is all that is found, and gets no byte`() async throws {
    try await Backend.run(["--tls", "expired"]) { backend in
      var found: [ProviderFinding] = []
      try await withProvider(backend, tls: TLSPolicy(caFile: backend.caFile)) { found = await $0.examine() }
      #expect(found.map(\.errorKind) == [.tlsFailed] && found.first?.advice?.contains("has expired") == true)
      #expect(try await backend.ledger("request").isEmpty)
    }
  }

  @Test func `a backend that is not well is not looked at any closer`() async throws {
    try await Backend.run { backend in
      try await backend.misbehave("status-503-retry-seconds", at: "getCurrentUser")
      let found = try await findings(backend)
      #expect(found.first?.errorKind == .providerUnavailable && found.count == 2)
      #expect(try await backend.ledger("request").count == 1)
    }
  }

  @Test func `a password of the client that cannot be had is found, if the backend wants one at all`() async throws {
    try await Backend.run { backend in
      var mapping = RESTMapping.standard
      let missing: RESTProviderSettings.SecretSource = { .failure(.misconfigured(.secret)) }
      for authentication in [RESTMapping.ClientAuthentication.basic, .post, .none] {
        mapping.clientAuthentication = authentication
        var found: [ProviderFinding] = []
        try await withProvider(backend, mapping: mapping, clientID: "shop", secretSource: missing) {
          found = await $0.examine()
        }
        let isWanted = authentication != .none
        #expect(level("clientSecret", found) == (isWanted ? .failure : nil))
        #expect(found.last { $0.check == "clientSecret" }?.errorKind == (isWanted ? .configInvalid : nil))
        try await withProvider(backend, mapping: mapping, clientID: "shop", clientSecret: "made-up") {
          found = await $0.examine()
        }
        #expect(level("clientSecret", found) == (isWanted ? .ok : nil) && !"\(found)".contains("made-up"))
      }
      #expect(try await backend.ledger("request").allSatisfy { try $0.required("authorization").string() == "none" })
    }
  }

  @Test func `where every path answers alike nothing is said of any`() {
    let paths = RESTEndpoint.Name.allCases.map { PathReview.Path(name: $0, path: "/" + $0.rawValue, status: 204) }
    #expect(PathReview(paths, nowhere: 204).findings.map(\.level) == [.note])
    let missing = paths.map { PathReview.Path(name: $0.name, path: $0.path, status: 404) }
    #expect(PathReview(missing, nowhere: 404).findings.map(\.level) == [.note])
    #expect(PathReview([], nowhere: nil).findings.map(\.level) == [.note])
    // A backend that knows no OPTIONS says so of every path that it has.
    let known = paths.map { PathReview.Path(name: $0.name, path: $0.path, status: $0.name == .login ? 405 : 404) }
    let found = PathReview(known, nowhere: 404).findings
    #expect(found.first?.level == .ok && found.count == RESTEndpoint.Name.allCases.count)
  }
}
