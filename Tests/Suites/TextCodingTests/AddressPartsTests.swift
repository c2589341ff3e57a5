import TestSupport
import Testing
import TextCoding

@Suite(.standardTimeLimit) struct AddressPartsTests {
  @Test(
    arguments: [
      ("https://example.com", "https", nil, "example.com", 443, ""),
      ("HTTP://Ada:p@ss@Example.COM:8080/a?b#c", "http", "Ada:p@ss", "example.com", 8080, "/a?b#c"),
      ("imaps://[::1]?x@y", "imaps", nil, "[::1]", 993, "?x@y"),
      ("smtp://@mail.example#/", "smtp", "", "mail.example", 587, "#/"),
      ("ftp://a", "ftp", nil, "a", nil, ""), ("https://a b/c", "https", nil, nil, nil, "/c"),
      ("https:///c", "https", nil, nil, nil, "/c"), ("://a:1/", "", nil, "a", 1, "/"),
    ] as [(String, String, String?, String?, Int?, String)])
  func `an address has a scheme, maybe a user, a server and the rest`(
    _ text: String, scheme: String, user: String?, host: String?, port: Int?, rest: String
  ) throws {
    let parts = try #require(AddressParts(text))
    #expect(parts.scheme == scheme && parts.user.map(String.init) == user)
    #expect(parts.server?.host == host && parts.port == port && parts.rest == rest)
  }

  @Test(arguments: ["", "a", "https:", "https:/a", "a:b://c", "//a", ":/a"])
  func `what has no scheme is none`(_ text: String) { #expect(AddressParts(text) == nil) }
}
