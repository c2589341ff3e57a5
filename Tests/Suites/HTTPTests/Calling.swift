import SecretMemory
import TestServers
import TestSupport

@testable import HTTP

/// A client that is patient but for what a test says; no answer takes longer than `longest` says, if it does.
func client(
  interactive: Duration = Patience.ceiling, stillness: Duration = Patience.ceiling, longest: Duration? = nil,
  connect: Duration = Patience.ceiling, proxy: ProxySetting = .none, limits: HTTPLimits = HTTPLimits()
) throws -> HTTPClient {
  var settings = settings()
  settings.timeouts.interactive = interactive
  settings.timeouts.stillness = stillness
  settings.timeouts.longestReply = longest ?? interactive
  settings.timeouts.connect = connect
  settings.proxy = proxy
  settings.limits = limits
  return try HTTPClient(settings)
}

/// The settings of a client that is patient, for a test that changes others.
///
/// Between two requests of a test other tests may have the processors for longer than connections are kept by default.
func settings() -> HTTPClient.Settings {
  var settings = HTTPClient.Settings(
    userAgent: "AuthBroker/1.2.3", proxy: .none, timeouts: .patient, limits: HTTPLimits(),
    library: CurlLibrary.fileName)
  settings.linger = Patience.ceiling
  return settings
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
