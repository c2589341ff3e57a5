import BrokerCore
import BrokerProtocol
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// What a scripted browser needs to know of the address it was sent to.
struct BrowserVisit {
  /// What a server answers.
  typealias Answer = @Sendable (FakeProvider.Request, String) -> FakeProvider.Reply

  let port: UInt16
  let query: [String: String]
  let action: ProviderUserAction

  init(_ action: ProviderUserAction) throws {
    self.action = action
    let text = action.verificationURI
    var query: [String: String] = [:]
    for pair in try #require(text.split(separator: "?").last).split(separator: "&") {
      let halves = pair.split(separator: "=", maxSplits: 1)
      query[String(halves[0])] = FakeProvider.Request.decoded(halves.count > 1 ? halves[1] : "")
    }
    self.query = query
    let redirect = try #require(query["redirect_uri"].flatMap { LoopbackRedirect($0) })
    port = UInt16(redirect.port)
  }

  var state: String { query["state"] ?? "" }

  /// Sends a request as it is, and gives the whole response; empty where the connection ends without one.
  func send(_ request: String, on address: LoopbackSocket.Address = .ipv4) async throws -> String {
    let port = port
    return try await OwnThread.run {
      let connection = try LoopbackSocket.connect(to: address, port: port)
      try connection.sendAll(Array(request.utf8).span)
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case .bytes(let count) = connection.read(into: &buffer) { bytes += buffer[..<count] }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Opens an address as a browser does.
  func open(
    _ target: String, host: String? = nil, method: String = "GET", on address: LoopbackSocket.Address = .ipv4
  ) async throws -> String {
    try await send(
      "\(method) \(target) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\nUser-Agent: test\r\n\r\n", on: address)
  }
}

/// Runs a login in a browser: `visits` does what the browser does, and gives what it was shown last.
func loginInBrowser(
  metadata: String = "", token: @escaping BrowserVisit.Answer = twoTokens,
  _ visits: @escaping (BrowserVisit, OIDCProvider) async throws -> Void
) async throws -> (result: Result<ProviderSession, ProviderFailure>, requests: [FakeProvider.Request]) {
  var found: (Result<ProviderSession, ProviderFailure>, [FakeProvider.Request])?
  try await withProvider(metadata: metadata, answer: token) { provider, server in
    let action = try #require(try await provider.login(Credentials(method: .browser)).action)
    let visit = try BrowserVisit(action)
    let waiting = Task { () -> Result<ProviderSession, ProviderFailure> in
      do throws(ProviderFailure) { return .success(try await provider.awaitRedirect(flow: action.flow)) } catch {
        return .failure(error)
      }
    }
    try await visits(visit, provider)
    found = (await waiting.value, server.requests(at: "/token"))
    // It has answered once, and nobody listens any more.
    #expect(throws: Errno.connectionRefused) { _ = try LoopbackSocket.connect(to: .ipv4, port: visit.port).number }
  }
  return try #require(found)
}

/// What a token endpoint answers that gives no ID token.
let twoTokens: BrowserVisit.Answer = { request, _ in
  request.path == "/token" ? FakeProvider.Reply(200, #"{"access_token":"at","refresh_token":"rt"}"#) : .notFound
}

/// A connection that is held open.
final class HeldConnection: Sendable {
  let descriptor: FileDescriptor

  init(port: UInt16) throws { descriptor = try LoopbackSocket.connect(to: .ipv4, port: port) }

  func send(_ text: String) throws { try descriptor.sendAll(Array(text.utf8).span) }

  func rest() async throws -> String {
    try await OwnThread.run {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case .bytes(let count) = self.descriptor.read(into: &buffer) { bytes += buffer[..<count] }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
