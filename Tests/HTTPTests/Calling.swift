import SecretMemory

@testable import HTTP

/// A client whose time-outs are short enough to wait for.
func client(
  interactive: Duration = .seconds(30), connect: Duration = .seconds(15), proxy: ProxySetting = .none,
  limits: HTTPLimits = HTTPLimits()
) throws -> HTTPClient {
  var timeouts = HTTPTimeouts()
  timeouts.interactive = interactive
  timeouts.connect = connect
  timeouts.refresh = .seconds(120)
  return try HTTPClient(version: "1.2.3", proxy: proxy, timeouts: timeouts, limits: limits)
}

/// What trusts the authority of the tests.
func testPolicy(pins: [String]? = nil) throws -> TLSPolicy {
  TLSPolicy(caFile: ScriptedServer.caFile, pins: try pins.map { try PinSet($0) })
}

/// The failure of a call, or nil if it got a response.
func failure(_ call: () async throws(HTTPFailure) -> HTTPResponse) async -> HTTPFailure? {
  do {
    _ = try await call()
    return nil
  } catch {
    return error
  }
}

/// A secret of a test.
func secret(_ text: String) throws -> Secret { try Secret(utf8: text) }

extension HTTPResponse {
  /// The body as text.
  var text: String { body.withArray { String(decoding: $0, as: UTF8.self) } }
}
