import SecretMemory
import TestServers
import TestSupport

@testable import HTTP

/// A client that is patient but for what a test says.
func client(
  interactive: Duration = Patience.ceiling, connect: Duration = Patience.ceiling, proxy: ProxySetting = .none,
  limits: HTTPLimits = HTTPLimits()
) throws -> HTTPClient {
  var timeouts = HTTPTimeouts.patient
  timeouts.interactive = interactive
  timeouts.connect = connect
  return try HTTPClient(version: "1.2.3", proxy: proxy, timeouts: timeouts, limits: limits)
}

/// The settings of a client that is patient, for a test that changes others.
func settings() -> HTTPClient.Settings {
  HTTPClient.Settings(
    userAgent: "AuthBroker/0", proxy: .none, timeouts: .patient, limits: HTTPLimits(), library: CurlLibrary.fileName)
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
