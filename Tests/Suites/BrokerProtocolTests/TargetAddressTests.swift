import BrokerProtocol
import TestSupport
import Testing

/// Addresses of requests whose server is known already.
@Suite(.standardTimeLimit) struct TargetAddressTests {
  private static let targets = [
    "/", "/a", "/a/", "/a//b", "/a/../b", "/a/./b", "/a/..", "/.", "/a%2fb", "/a%2Fb", "/a%5cb", "/%2e%2e/a",
    "/a%252fb",
    "/a%41b", "/a%7eb", "/a;b/c", "/..;/a", "/a?b=/../c", "/a#b", "/a?b#c", "/a\\b", "/a?\\", "/a b", "/a\u{7f}", "/é",
    "//other.example/a", "/@other.example", "/a:b@c", "/v1", "/v1/", "/%00", "/a?b c", "", "a", "?a", "/%zz", "/*",
    "/\"",
  ]

  @Test(arguments: [
    "https://api.example.com", "https://api.example.com:8443", "http://127.0.0.1:8080", "http://[::1]:1",
    "https://index.docker.io",
  ])
  func `a target at a server is the address of both`(_ server: String) throws {
    let origin = try TargetAddress(server).origin
    for target in Self.targets {
      let known = try? TargetAddress(target: target, at: origin)
      // A text that does not begin with a slash could be of the server's part.
      let whole = target.hasPrefix("/") ? try? TargetAddress(server + target) : nil
      #expect(known == whole, "\(target)")
    }
  }
}
