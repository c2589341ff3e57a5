import ProviderKit
import TestSupport
import Testing

@testable import HTTP
@testable import SecretMemory

/// Refusals that come as forms.
@Suite(.standardTimeLimit) struct RefusalFormTests {
  private func read(_ text: String) -> RefusalForm? {
    var (lines, body) = ([] as [UInt8], Array(text.utf8))
    return RefusalForm(HTTPResponse(status: 400, lines: WipedBytes(taking: &lines), body: WipedBytes(taking: &body)))
  }

  @Test(arguments: [
    ("invalid%5Fgrant", "invalid_grant"), ("a+b%2bc", "a b+c"), ("a%+5", "a%+5"), ("a%", "a%"), ("a%4", "a%4"),
    ("a+%zz", "a+%zz"),
  ])
  func `a value is decoded, and stands as it is where its encoding is none`(_ value: String, _ expected: String) {
    #expect(read("error=\(value)")?.error == expected)
    #expect(read("error=x&error_description=\(value)\r\n")?.description == expected)
  }

  @Test(arguments: ["", "error=", "a=b", "error=x&access_token=t", "<p>error=x</p>", "e x=1&error=x"])
  func `what has no error, or a token, is no form`(_ text: String) { #expect(read(text) == nil) }
}
