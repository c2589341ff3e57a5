import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import ProviderKit
import TestServers
import TestSupport
import Testing

@testable import RESTProvider

/// Whether a backend can be reached, and what is said where it cannot.
@Suite(.standardTimeLimit) struct ProbeTests {
  /// What a probe of a backend that answers has found.
  ///
  /// `tolerance` is how many seconds the difference of the clocks may be wrong: a whole second of `Date`, and half of
  /// what the answer took, which is long on a machine that has much else to do.
  private func answer(_ provider: RESTProvider) async throws -> (status: Int, skew: Int64?, tolerance: Int64) {
    let probe = await provider.probe()
    guard case .answered(let status, let roundTrip, let skew)? = probe.outcome else {
      Issue.record("\(probe)")
      throw TestServerFailure.notStarted
    }
    #expect(roundTrip > .zero && roundTrip < Patience.ceiling)
    return (status, skew?.components.seconds, 1 + (roundTrip / 2).components.seconds + 1)
  }

  /// What a probe of a backend that cannot be reached has found.
  private func failure(of probe: ProviderProbe) throws -> (failure: ProviderFailure, advice: String) {
    guard case .failed(let failure, let advice)? = probe.outcome else {
      Issue.record("\(probe)")
      throw TestServerFailure.notStarted
    }
    return (failure, advice)
  }

  private func failed(_ provider: RESTProvider) async -> ProviderFailure? {
    guard case .failed(let failure, let advice)? = await provider.probe().outcome else { return nil }
    #expect(advice.hasSuffix(".") || advice.contains(": "))
    return failure
  }

  @Test func `a backend that refuses is reached, by one request that carries nothing`() async throws {
    try await Backend.run(["--account", ann]) { backend in
      try await withProvider(backend, clientID: "cli", clientSecret: "made-up-secret") { provider in
        let (status, skew, tolerance) = try await answer(provider)
        let difference = try #require(skew)
        #expect(status == 401 && abs(difference) <= tolerance)
        let place = try #require(await provider.probe().place)
        #expect(place.host == "127.0.0.1:\(backend.url.port)" && !place.usesTLS)
      }
      let requests = try await backend.ledger("request")
      #expect(requests.count == 2)
      // Each has a connection of its own, or the certificate of an earlier one would do for ever.
      #expect(try await backend.ask(.get, "/ledger").required("connections").elements().count == 2)
      for request in requests {
        #expect(try request.required("method").string() == "GET" && request.required("path").string() == "/auth/me")
        #expect(try request.required("authorization").string() == "none")
        #expect(try !request.required("cookie").bool() && !request.required("queryPresent").bool())
        #expect(try request.required("bodyBytes").integer() == 0)
      }
    }
  }

  @Test func `a closed port is unreachable, and reached when it opens`() async throws {
    try await Backend.run { backend in
      try await withProvider(backend) { provider in
        try await backend.ask(.post, "/listen", #"{"open":false}"#)
        #expect(await failed(provider) == .transient(.networkUnavailable))
        try await backend.ask(.post, "/listen", #"{"open":true}"#)
        let status = try await answer(provider).status
        #expect(status == 401)
      }
    }
  }

  @Test(
    arguments: [
      ("ok", nil), ("expired", "has expired"), ("unknown-ca", "tls.caFile"), ("self-signed", "tls.caFile"),
      ("wrong-host", "another host"), ("tls1.1-only", "TLS 1.2"),
    ] as [(String, String?)])
  func `each certificate that is not trusted is told apart, and gets no byte`(
    _ mode: String, _ words: String?
  ) async throws {
    try await Backend.run(["--tls", mode]) { backend in
      try await withProvider(backend, tls: TLSPolicy(caFile: backend.caFile)) { provider in
        let probe = await provider.probe()
        #expect(probe.place?.usesTLS == true)
        guard let words else { return #expect(probe.isAnswered) }
        let (failure, advice) = try failure(of: probe)
        #expect(failure.kind == .tlsFailed && advice.contains(words), "\(advice)")
        for connection in try await backend.ask(.get, "/ledger").required("connections").elements() {
          #expect(try connection.required("applicationBytesReceived").integer() == 0)
        }
      }
    }
  }

  @Test func `another key than the pinned ones is told as such, and gets nothing`() async throws {
    try await Backend.run(["--tls"]) { backend in
      let good = TLSPolicy(caFile: backend.caFile, pins: try PinSet(backend.pins))
      try await withProvider(backend, tls: good) { provider in
        let status = try await answer(provider).status
        #expect(status == 401)
      }
      let others = ["sha256//" + String(repeating: "A", count: 43) + "=", backend.pins[1]]
      let wrong = TLSPolicy(caFile: backend.caFile, pins: try PinSet(others))
      let before = try await backend.ledger("request").count
      try await withProvider(backend, tls: wrong) { #expect(await failed($0) == .transient(.tlsPinMismatch)) }
      #expect(try await backend.ledger("request").count == before)
    }
  }

  @Test func `a backend that does not answer is given up, and asked no second time`() async throws {
    try await Backend.run { backend in
      var failure: ProviderFailure?
      for timeout in Patience.timeouts(from: .seconds(1)) {
        try await backend.ask(.post, "/reset", "{}")
        try await backend.misbehave("hold-before-commit", at: "getCurrentUser")
        try await withProvider(backend, timeout: timeout) { failure = await failed($0) }
        try await backend.ask(.post, "/release", "{}")
        try await backend.ask(.delete, "/misbehave")
        let count = try await backend.ledger("request").count
        #expect(count <= 1)
        if failure == .outcomeUnknown(.timeout), count == 1 { return }
      }
      Issue.record("\(failure.map { "\($0)" } ?? "an answer")")
    }
  }

  @Test(
    arguments: [
      ("date-ahead", 3600), ("date-behind", -3600), ("date-garbage", nil),
    ] as [(String, Int64?)])
  func `the backend's clock is read from its answer`(_ name: String, _ expected: Int64?) async throws {
    try await Backend.run { backend in
      try await withProvider(backend) { provider in
        try await backend.misbehave(name, at: "getCurrentUser")
        let (_, skew, tolerance) = try await answer(provider)
        guard let expected else { return #expect(skew == nil) }
        let difference = try #require(skew) - expected
        #expect(abs(difference) <= tolerance)
      }
    }
  }

  @Test(arguments: ["status-503-retry-seconds", "status-404-json", "status-500-json", "captive-portal"])
  func `any answer means that it is reached`(_ name: String) async throws {
    try await Backend.run { backend in
      try await withProvider(backend) { provider in
        try await backend.misbehave(name, at: "getCurrentUser")
        _ = try await answer(provider)
      }
      #expect(try await backend.ledger("request").count == 1)
    }
  }

  @Test func `a backend that cannot say who the user is is asked for its address`() async throws {
    var mapping = RESTMapping.standard
    mapping.endpoints[.currentUser] = nil
    try await Backend.run { backend in
      try await withProvider(backend, mapping: mapping) { provider in
        let status = try await answer(provider).status
        #expect(status == 404)
      }
    }
  }

  @Test func `a name that does not resolve, and whatever else may go wrong, comes with a sentence`() async throws {
    let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
    let faulty = RESTProfileConfiguration(baseURL: try HTTPURL("https://nowhere.invalid/x?y"))
    #expect(throws: HTTPFailure.invalidURL) { try RESTProvider(faulty, client: client, secrets: noSecret) }
    let plain = RESTProfileConfiguration(baseURL: try HTTPURL("https://nowhere.invalid/secret/path"))
    let probe = await (try RESTProvider(plain, client: client, secrets: noSecret)).probe()
    await client.close()
    #expect(probe.place == .init(host: "nowhere.invalid", usesTLS: true))
    let (failure, advice) = try failure(of: probe)
    #expect(failure == .transient(.networkUnavailable) && advice.contains("does not resolve"))
    let failures: [HTTPFailure] = [
      .invalidURL, .libraryMissing, .setUpFailed, .overloaded, .closed, .proxyFailed, .timedOut(sent: false),
      .timedOut(sent: true), .connectionLost(sent: true), .responseTooLarge, .malformedResponse, .tlsFailed(.other),
    ]
    for failure in failures { #expect(failure.advice("baseUrl").count > 20) }
    for source in AuthoritySource.allCases {
      #expect(HTTPFailure.tlsFailed(.caFile(source)).advice("baseUrl").contains("cannot be read") || source != .system)
    }
    let sentences = TLSFault.allCases.map { $0.message("baseUrl") }
    #expect(Set(sentences).count == sentences.count)
  }
}

extension ProviderProbe {
  /// Whether there is an answer.
  fileprivate var isAnswered: Bool {
    if case .answered? = outcome { return true }
    return false
  }
}
