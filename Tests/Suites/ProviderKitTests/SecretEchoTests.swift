import SecretMemory
import TestSupport
import Testing
import TextCoding

@testable import ProviderKit

/// Taking a token out of what a server answers.
@Suite(.standardTimeLimit) struct SecretEchoTests {
  private static let token = "eyJhbGciOi/J9+abc.def~ghi"

  private static func removed(from text: String, token: String = token) throws -> String {
    var bytes = Array(token.utf8)
    return SecretEcho(of: try Secret(wiping: &bytes)).removed(from: text)
  }

  @Test func `a token is taken out wherever it stands`() throws {
    #expect(try Self.removed(from: "a \(Self.token), \(Self.token)") == "a [token], [token]")
    #expect(try Self.removed(from: Self.token) == "[token]")
    #expect(try Self.removed(from: "nothing") == "nothing")
    #expect(try Self.removed(from: "") == "")
    #expect(try Self.removed(from: String(Self.token.dropLast())) == String(Self.token.dropLast()))
  }

  @Test func `a token is found percent-encoded, and as JSON escapes a slash`() throws {
    #expect(try Self.removed(from: "t=eyJhbGciOi%2FJ9%2Babc.def~ghi&") == "t=[token]&")
    #expect(try Self.removed(from: #"{"t":"eyJhbGciOi\/J9+abc.def~ghi"}"#) == #"{"t":"[token]"}"#)
  }

  @Test(arguments: ["", "x", "xy", "xyz:", "oauth2accesstoken:", "a:b:c"], ["", ":", "yy", "zzz"])
  func `a token is found in base64, whatever stands around it`(_ front: String, _ back: String) throws {
    for form in [Base64.Form.padded, .url] {
      let text = String(decoding: Base64.encode((front + Self.token + back).utf8.span, as: form), as: UTF8.self)
      let rest = try Self.removed(from: "Basic \(text)").dropFirst("Basic ".count)
      #expect(rest.contains("[token]"), "\(rest)")
      // At each end there is at most one character that hangs on the token.
      let left = rest.split(separator: "[token]", omittingEmptySubsequences: false)
      #expect(left.count == 2 && left[0].count <= (front.utf8.count * 8 + 5) / 6 + 1, "\(rest)")
    }
  }

  @Test func `what a server makes of the token costs no more time than its length`() throws {
    let token = String(repeating: "ab", count: 4000) + "c"
    let text = String(repeating: "ab", count: 250_000)
    #expect(try Self.removed(from: text, token: token) == text)
  }

  @Test func `a text too short for a token is let be`() throws {
    #expect(try Self.removed(from: "a short word", token: "short") == "a short word")
  }
}
