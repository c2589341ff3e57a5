import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// Where a profile's token may go: origins, paths and methods.
@Suite(.standardTimeLimit) struct RequestRulesTests {
  private static func judge(
    _ method: APIRequest.Method, _ url: String, paths: [String]? = nil, methods: Set<APIRequest.Method> = [.get, .head]
  ) throws -> RequestRules.Refusal? {
    let origin = try TargetAddress("https://api.example.com").origin
    let rule = RequestRule(origin, methods: methods, paths: try paths.map { try $0.map { try PathPattern($0) } })
    let address = try TargetAddress(url)
    do throws(RequestRules.Refusal) {
      try RequestRules(allow: [rule]).judge(method, address)
      return nil
    } catch { return error }
  }

  @Test(
    arguments: [
      ("https://api.example.com/v1/a/b", ["/v1/**"], true), ("https://api.example.com/v1", ["/v1/**"], true),
      ("https://api.example.com/v10/a", ["/v1/**"], false),
      ("https://api.example.com/v1/orders/7", ["/v1/orders/*"], true),
      ("https://api.example.com/v1/orders/7/x", ["/v1/orders/*"], false),
      ("https://api.example.com/v1/orders", ["/v1/orders/*"], false),
      ("https://api.example.com/V1/a", ["/v1/*"], false),
      ("https://api.example.com/v1/%61?x=/v2/", ["/v1/a"], true),
      ("https://api.example.com/a/x/y/b", ["/a/**/b"], true),
      ("https://api.example.com/a/b", ["/a/**/b"], true), ("https://api.example.com/a/b/c", ["/a/**/b"], false),
      ("https://api.example.com/a/b/x/b", ["/**/b"], true), ("https://api.example.com/", ["/"], true),
      ("https://api.example.com/a", ["/"], false), ("https://api.example.com/any", nil, true),
      ("https://api.example.com:443/any", nil, true),
    ] as [(String, [String]?, Bool)])
  func `a path is compared segment by segment`(_ url: String, _ paths: [String]?, _ isAllowed: Bool) throws {
    #expect(try Self.judge(.get, url, paths: paths) == (isAllowed ? nil : .path(0)))
  }

  @Test(arguments: [
    "https://api.example.com.evil.test/v1", "https://api.example.com:8443/v1", "https://example.com/v1",
    "http://localhost/v1", "https://xapi.example.com/",
  ])
  func `another server is none of the rule's`(_ url: String) throws {
    #expect(try Self.judge(.get, url) == .origin)
  }

  @Test func `methods that are not named are refused, and without a list only those that read are allowed`() throws {
    let url = "https://api.example.com/v1"
    #expect(try Self.judge(.head, url) == nil)
    for method in APIRequest.Method.allCases where method != .get && method != .head {
      #expect(try Self.judge(method, url) == .method(0))
      #expect(try Self.judge(method, url, methods: [method]) == nil)
    }
  }

  @Test(arguments: ["v1", "/v1/../x", "/v1/%2fx", "/v1//x", "/v1?x", "/v1\\x", "/a/./b", "/a/%2e%2e/b"])
  func `a pattern that no path can be compared with is refused`(_ text: String) {
    #expect(throws: TargetAddress.Fault.self) { _ = try PathPattern(text) }
  }

  @Test func `a pattern takes no longer than its length times that of the path`() throws {
    let pattern = try PathPattern("/" + Array(repeating: "**/a", count: 40).joined(separator: "/") + "/b")
    let path = Array(repeating: "a", count: 2000)
    #expect(!pattern.matches(path))
  }
}
