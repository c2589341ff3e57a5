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
      let token = try BoundToken(Secret(utf8: "rt"))
      do throws(ProviderFailure) {
        result = .success((try await provider.refresh(token)).refreshToken.map { text($0.value) } ?? "none")
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

  private static let page = ["Content-Type: text/html; charset=utf-8"]

  @Test(arguments: [
    "<br />\n<b>Warning</b>: Undefined index in /x.php on line 3<br />\n\(tokens)", "<!-- debug -->\(tokens)",
    "<pre>\(tokens)</pre>", "<html><script>let a = {x: 1}; if (a) { b() }</script><p>{}</p>\(tokens)</html>",
    #"{"log":"x"}\#n"# + tokens, String(repeating: "-", count: 40) + tokens, "\(tokens)<!-- {0.1} -->",
    "\(tokens)\(tokens)",
  ])
  func `the one object with tokens is read from whatever stands around it`(_ body: String) async throws {
    #expect(try await refreshed(FakeProvider.Reply(200, body, Self.page)) == .success("rt2"))
    #expect(try await refreshed(FakeProvider.Reply(200, body)) == .success("rt2"))
    #expect(try await refreshed(FakeProvider.Reply(500, body, Self.page)) == .success("rt2"))
  }

  @Test(arguments: [
    "<pre>\(tokens.dropLast(3))", "<pre>{&quot;access_token&quot;:&quot;at2&quot;}</pre>",
    #"<pre>\#(tokens)</pre><pre>{"access_token":"at3","refresh_token":"rt3"}</pre>"#,
    "<p>{'access_token': 'at2', 'refresh_token': 'rt2'}</p>",
    #"<p>"{\"access_token\":\"at2\",\"refresh_token\":\"rt2\"}"</p>"#,
  ])
  func `a page that speaks of tokens and cannot be read is a lost reply`(_ body: String) async throws {
    #expect(
      try await refreshed(FakeProvider.Reply(200, body, Self.page)) == .failure(.outcomeUnknown(.invalidResponse)))
  }

  @Test(arguments: [
    "<html>Sign in</html>", #"<form><input name="access_token"><input name='refresh_token'></form>"#,
    #"<pre>{"error":"invalid_grant"}</pre>"#, #"<script>window.state = {"token":""}</script>"#,
  ])
  func `any other page is not the provider's`(_ body: String) async throws {
    #expect(try await refreshed(FakeProvider.Reply(200, body, Self.page)) == .failure(.transient(.invalidResponse)))
  }

  @Test func `an error page that repeats the request gives no token`() async throws {
    let body = #"<pre>{"grant_type":"refresh_token","refresh_token":"rt"}</pre>"#
    #expect(try await refreshed(FakeProvider.Reply(500, body, Self.page)) == .failure(.transient(.providerUnavailable)))
    #expect(
      try await refreshed(FakeProvider.Reply(200, body, Self.page)) == .failure(.outcomeUnknown(.invalidResponse)))
  }

  @Test func `UTF-16 is read by its mark`() async throws {
    for (mark, isBig) in [([0xFF, 0xFE], false), ([0xFE, 0xFF], true)] as [([UInt8], Bool)] {
      let body =
        mark
        + Self.tokens.utf16.flatMap { unit in
          let (high, low) = (UInt8(unit >> 8), UInt8(unit & 255))
          return isBig ? [high, low] : [low, high]
        }
      let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n".utf8)
      #expect(try await refreshed(FakeProvider.Reply(raw: head + body)) == .success("rt2"))
    }
  }

  @Test(arguments: [
    ("null", "none"), ("false", "none"), ("{}", "none"), ("0", "none"), (#""""#, "none"), ("7", "7"),
    ("90071992547409931", "90071992547409931"),
  ])
  func `no refresh token in other words costs no access token, and a number is its digits`(
    _ value: String, _ expected: String
  ) async throws {
    let body = #"{"access_token":"at2","refresh_token":\#(value)}"#
    #expect(try await refreshed(FakeProvider.Reply(200, body)) == .success(expected))
  }

  @Test(arguments: ["true", "-7", "7.5", "[]", #"["rt2"]"#, #"{"token":"rt2"}"#])
  func `a refresh token that cannot be understood is a lost one`(_ value: String) async throws {
    let body = #"{"access_token":"at2","refresh_token":\#(value)}"#
    #expect(
      try await refreshed(FakeProvider.Reply(200, body)) == .failure(.outcomeUnknown(.invalidResponse)))
  }

  @Test(arguments: [#""""#, #"" ""#, #""Bearer ""#, #""\tbearer""#, "1", "null", "false"])
  func `a type of token that says nothing is no other type`(_ type: String) async throws {
    let body = #"{"access_token":"at2","refresh_token":"rt2","token_type":\#(type)}"#
    #expect(try await refreshed(FakeProvider.Reply(200, body)) == .success("rt2"))
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
