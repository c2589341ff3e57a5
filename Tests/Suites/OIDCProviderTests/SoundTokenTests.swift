import BrokerCore
import BrokerProtocol
import HTTP
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Tokens that are sound, in an answer that is not: to throw them away is to lose the session.
@Suite(.standardTimeLimit) struct SoundTokenTests {
  private static let tokens = #"{"access_token":"at2","refresh_token":"rt2"}"#

  private func refreshed(_ reply: FakeProvider.Reply) async throws -> Result<String, ProviderFailure> {
    var result = Result<String, ProviderFailure>.success("")
    try await withProvider(reply: reply) { provider, _ in
      let token = try Secret(utf8: "rt")
      do throws(ProviderFailure) {
        result = .success((try await provider.refresh(token)).refreshToken.map(text) ?? "none")
      } catch { result = .failure(error) }
    }
    return result
  }

  private func text(_ secret: Secret) -> String {
    secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
  }

  @Test(arguments: [206, 302, 400, 401, 403, 404, 429, 500, 502, 503, 504, 520, 599])
  func `a refresh takes both tokens whatever status they come with`(_ status: Int) async throws {
    #expect(try await refreshed(FakeProvider.Reply(status, Self.tokens)) == .success("rt2"))
  }

  /// A reply whose framing wants more than its body.
  private static func cut(_ status: Int, _ body: String, _ framing: String) -> FakeProvider.Reply {
    FakeProvider.Reply(raw: Array("HTTP/1.1 \(status) Something\r\n\(framing)\r\n\r\n\(body)".utf8))
  }

  @Test func `a whole object is read behind faulty framing, and half of one is lost`() async throws {
    let long = "Content-Length: 99"
    #expect(try await refreshed(Self.cut(200, Self.tokens, long)) == .success("rt2"))
    let chunk = "\(String(Self.tokens.utf8.count, radix: 16))\r\n\(Self.tokens)\r\n"
    #expect(try await refreshed(Self.cut(200, chunk, "Transfer-Encoding: chunked")) == .success("rt2"))
    let rows: [(Int, String, ProviderFailure)] = [
      (400, #"{"error":"invalid_grant"}"#, .sessionEnded(.refreshRejected)),
      (503, #"{"error":"temporarily_unavailable"}"#, .transient(.providerUnavailable)),
      (200, "{}", .outcomeUnknown(.invalidResponse)),
      (200, String(Self.tokens.dropLast()), .outcomeUnknown(.networkUnavailable)),
      (200, Self.tokens + ",", .outcomeUnknown(.networkUnavailable)),
      (200, "[]", .outcomeUnknown(.networkUnavailable)), (200, "", .outcomeUnknown(.networkUnavailable)),
      (400, "", .outcomeUnknown(.networkUnavailable)), (400, "<html>", .outcomeUnknown(.networkUnavailable)),
    ]
    for (status, body, expected) in rows {
      #expect(try await refreshed(Self.cut(status, body, long)) == .failure(expected), "\(status) \(body)")
    }
  }
}
