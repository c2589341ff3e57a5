import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import HTTP
@testable import RESTProvider

@Suite(.standardTimeLimit) struct BackendReplyTests {
  private func reply(
    _ name: RESTEndpoint.Name, _ status: Int, _ body: [UInt8], _ lines: String = "Content-Type: application/json\r\n"
  ) -> BackendReply {
    var (lines, body) = (Array(lines.utf8), body)
    let response = HTTPResponse(
      status: status, lines: WipedBytes(taking: &lines), body: WipedBytes(taking: &body))
    return BackendReply(name, response, .standard, sentAt: sentAt, receivedAt: sentAt + .seconds(2))
  }

  private func failure(_ body: () throws(ProviderFailure) -> Void) -> ProviderFailure? {
    do {
      try body()
      return nil
    } catch { return error }
  }

  /// Why there are no tokens in a reply; nil where there are.
  private func failure(of reply: BackendReply) async -> ProviderFailure? {
    do throws(ProviderFailure) {
      _ = try await reply.read { reader throws(SecretMemoryExhausted) in try reader.tokens() }
      return nil
    } catch { return error }
  }

  @Test(arguments: [206, 302, 400, 401, 404, 429, 500, 502, 503, 520, 599])
  func `tokens without a word of refusal are taken whatever status they come with`(_ status: Int) async {
    let both = Array(#"{"tokens":{"access":"a","refresh":"r"},"message":"late"}"#.utf8)
    for name in [RESTEndpoint.Name.refresh, .login, .verifyOtp, .verifyBackupCode, .register] {
      #expect(await failure(of: reply(name, status, both)) == nil, "\(name)")
    }
    #expect(await failure(of: reply(.currentUser, status, both)) != nil)
    #expect(await failure(of: reply(.refresh, status, Array(#"{"access_token":"a"}"#.utf8))) != nil)
    let refused = Array(#"{"access_token":"a","refresh_token":"r","error":"late"}"#.utf8)
    #expect(await failure(of: reply(.refresh, status, refused)) != nil)
  }

  @Test func `the refresh token that is first in the mapping is taken, from a cookie or the body`() async throws {
    let cookie = "Set-Cookie: rt=c; HttpOnly\r\n"
    for (paths, lines, expected) in [
      (["cookie:rt", "refreshToken"], cookie, "c"), (["refreshToken", "cookie:rt"], cookie, "r"),
      (["cookie:rt", "refreshToken"], "", "r"), (["other", "cookie:rt", "refreshToken"], cookie, "c"),
      (["other", "cookie:rt"], cookie, "c"),
    ] {
      var reader = try reader(#"{"accessToken":"a","refreshToken":"r"}"#)
      var (head, body): ([UInt8], [UInt8]) = (Array(lines.utf8), [])
      reader = ReplyReader(
        root: reader.root, paths: Self.paths(paths), moments: reader.moments,
        response: HTTPResponse(status: 200, lines: WipedBytes(taking: &head), body: WipedBytes(taking: &body)))
      #expect(try reader.tokens()?.refreshToken?.value.revealedString() == expected, "\(paths)")
    }
  }

  private static func paths(_ texts: [String]) -> RESTReplyPaths {
    var paths = RESTMapping.standard.reply
    paths[.refreshToken] = texts.compactMap { RESTPath(reading: $0) }
    return paths
  }

  @Test func `tokens are read from a page, and one that speaks of tokens is a lost reply`() async {
    let page = "Content-Type: text/html\r\n"
    let both = #"{"tokens":{"access":"a","refresh":"r"}}"#
    for status in [200, 500] {
      let debug = reply(.refresh, status, Array("<br/>\n<b>Notice</b>: x\n\(both)".utf8), page)
      #expect(await failure(of: debug) == nil)
    }
    for (body, expected) in [
      ("<pre>\(both.dropLast())", .outcomeUnknown(.invalidResponse)), ("<html>", .transient(.invalidResponse)),
      (#"<input type="hidden" name="access" value="x">"#, .transient(.invalidResponse)),
    ] as [(String, ProviderFailure)] {
      #expect(await failure(of: reply(.refresh, 200, Array(body.utf8), page)) == expected, "\(body)")
    }
  }

  @Test(
    arguments: [
      ("", nil), ("{}", nil), (#"{"success":true}"#, nil), ("OK", nil), ("[]", nil), (#"{"error":null}"#, nil),
      (#"{"success":false}"#, .refused(.validationFailed)), (#"{"error":"no"}"#, .refused(.validationFailed)),
      ("<!DOCTYPE html>", .transient(.invalidResponse)), (" \n<html>", .transient(.invalidResponse)),
    ] as [(String, ProviderFailure?)])
  func `a success of which nothing is wanted is one unless somebody else speaks`(
    _ body: String, _ expected: ProviderFailure?
  ) {
    let reply = reply(.forgotPassword, 200, Array(body.utf8))
    #expect(failure { () throws(ProviderFailure) in try reply.expectSuccess() } == expected)
  }

  @Test(arguments: [
    ("", RESTEndpoint.Name.refresh, ProviderFailure.outcomeUnknown(.invalidResponse)),
    ("{}", .refresh, .outcomeUnknown(.invalidResponse)), ("OK", .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"access_token":"a""#, .refresh, .outcomeUnknown(.invalidResponse)),
    ("<html>", .refresh, .transient(.invalidResponse)),
    (#"{"access_token":"a","expires_in":-"#, .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"access_token":"a","expires_in":1."#, .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"access_token":"a","expires_in":1e"#, .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"access_token":"a","expires_in":-}"#, .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"refresh_token":"r"}"#, .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"access_token":7,"refresh_token":"r"}"#, .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"tokens":{"access":"a b","refresh":"r"}}"#, .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"access_token":"a","access_token":"b","refresh_token":"r"}"#, .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"access_token":7,"refresh_token":""}"#, .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"access_token":7,"refresh_token":null}"#, .refresh, .outcomeUnknown(.invalidResponse)),
    (#"{"refresh_token":"r"}"#, .login, .refused(.invalidResponse)),
    ("{", .login, .refused(.invalidResponse)), ("[]", .login, .refused(.invalidResponse)),
    ("\u{FEFF}{}", .login, .refused(.invalidResponse)),
  ])
  func `a success that is not the expected JSON fails by what was asked`(
    _ body: String, _ name: RESTEndpoint.Name, _ expected: ProviderFailure
  ) async {
    let reply = reply(name, 200, Array(body.utf8))
    #expect(await failure(of: reply) == expected)
  }

  @Test func `nothing at all is nothing, whatever it is labelled`() async {
    let page = "Content-Type: text/html; charset=utf-8\r\n"
    for (status, body, expected) in [
      (401, "", .sessionEnded(.refreshRejected)), (400, " \r\n", .sessionEnded(.refreshRejected)),
      (401, "{}", .transient(.invalidResponse)), (401, "no", .transient(.invalidResponse)),
    ] as [(Int, String, ProviderFailure)] {
      let reply = reply(.refresh, status, Array(body.utf8), page)
      #expect(await failure(of: reply) == expected)
    }
    let done = reply(.logout, 200, [], page)
    #expect(failure { () throws(ProviderFailure) in try done.expectSuccess() } == nil)
  }

  @Test func `what a server writes about the time is taken with care`() async throws {
    let body = Array(#"{"access_token":"a","expires_at":1800004500}"#.utf8)
    for (date, expected) in [
      ("Fri, 15 Jan 2027 08:00:01 GMT", 4500), ("Fri, 15 Jan 2027 09:00:02 GMT", 900),
      ("Fri, 15 Jan 9999 09:00:02 GMT", 300), ("nonsense", 4500), ("Thu, 01 Jan 1970 00:00:00 GMT", 300),
    ] {
      let reply = reply(.login, 200, body, "Date: \(date)\r\n")
      let tokens = try await reply.read { reader throws(SecretMemoryExhausted) in try reader.tokens() }
      let end = tokens.accessTokenExpiresAt
      #expect(end == sentAt + .seconds(expected), "\(date)")
    }
  }

  // The body of a response, its status and its header are foreign: nothing in them may trap.
  @Test func `2,000 replies of random bytes are turned into something`() async {
    var random = SeededGenerator(seed: 0xBAD_5EED)
    let statuses = [200, 201, 204, 206, 301, 400, 401, 403, 404, 409, 410, 422, 423, 429, 500, 501, 503, 511, 599]
    let starts = ["", "{", "[", "<", " ", "{\"access_token\":", "{\"error\":", "\u{0}"]
    for _ in 0..<2000 {
      let noise = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let body = Array((starts.randomElement(using: &random) ?? "").utf8) + noise
      let lines =
        "Date: \(String(decoding: noise.prefix(8), as: UTF8.self))\nRetry-After: \(noise.count)9999999999999999\n"
      for name in [RESTEndpoint.Name.login, .refresh, .verifyOtp, .currentUser, .logout] {
        let reply = reply(name, statuses.randomElement(using: &random) ?? 200, body, lines)
        _ = await failure(of: reply)
        _ = failure { () throws(ProviderFailure) in try reply.expectSuccess() }
        _ = (reply.isEmpty, reply.isWorthAnotherTry)
      }
    }
  }
}
