import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// Requests for an API, as clients give them.
@Suite(.standardTimeLimit) struct APIRequestTests {
  private static func request(
    _ method: String = "POST", _ url: String = "https://api.example.com/v1", _ headers: [(String, String)] = [],
    body: String? = nil, bytes: [UInt8]? = nil, timeout: Duration = .seconds(30)
  ) throws(BrokerError) -> APIRequest {
    try APIRequest(
      SendRequest.Params(
        method: method, url: url, headers: HeaderFields(headers.map { HeaderFields.Field($0.0, $0.1) }), body: body,
        bodyBytes: bytes, timeout: timeout))
  }

  private static func pointer(_ make: () throws(BrokerError) -> APIRequest) -> String? {
    do throws(BrokerError) {
      _ = try make()
      return nil
    } catch {
      #expect(error.kind == .invalidParams && error.message.contains(error.pointer ?? "?"), "\(error)")
      return error.pointer
    }
  }

  @Test func `a good request is taken as it is`() throws {
    let request = try Self.request(
      "PATCH", "https://api.example.com:8443/v1?x=%2f..#part", [("X-A", "b"), ("content-type", "text/plain")], body: "é"
    )
    #expect(request.method == .patch && request.url == "https://api.example.com:8443/v1?x=%2f..")
    #expect(request.body == Array("é".utf8) && request.fields.count == 2)
    #expect(request.origin == "https://api.example.com:8443")
  }

  @Test(arguments: ["TRACE", "CONNECT", "get", "", "G ET", "PROPFIND"])
  func `a method that the broker never sends is refused`(_ method: String) {
    #expect(Self.pointer { () throws(BrokerError) in try Self.request(method) } == "/method")
  }

  @Test(arguments: [
    "http://api.example.com/v1", "ftp://api.example.com/", "https://user@api.example.com/", "https://@api.example.com/",
    "https://:pw@api.example.com/", "https://api.example.com/../x", "https://api.example.com/a/%2e%2e/b",
    "https://api.example.com/a%2fb", "https://api.example.com//a", "https://api.example.com/a\\b", "/v1", "",
    "https://127.1/", "https://[::1%25eth0]/", "https://api.example.com:0/", "smtp://api.example.com/",
    "https://evil.test\\@api.example.com/", "https://api.example.com/a b",
  ])
  func `an address that could be read in two ways is refused`(_ url: String) {
    #expect(Self.pointer { () throws(BrokerError) in try Self.request("GET", url) } == "/url")
  }

  @Test(arguments: [
    "Authorization", "authorization", "Cookie", "Host", "Proxy-Authorization", "proxy-connection", "Connection", "TE",
    "Keep-Alive", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length", "Expect", "Accept-Encoding", "DPoP",
    "X-HTTP-Method-Override", "x-original-url", "X-Rewrite-URL",
  ])
  func `a field of the broker's, or one that makes another request of it, is refused by its name`(_ name: String) {
    let fields = [("X-A", "b"), (name, "x")]
    #expect(
      Self.pointer { () throws(BrokerError) in try Self.request(fields) } == "/headers/\(name)")
  }

  private static func request(_ fields: [(String, String)]) throws(BrokerError) -> APIRequest {
    try request("GET", "https://api.example.com/v1", fields)
  }

  @Test(arguments: ["a\r\nX-B: c", "", " a", "a ", "a\u{0}", "é", "a\u{7F}", String(repeating: "a", count: 2049)])
  func `a value that could end its line is refused`(_ value: String) {
    #expect(Self.pointer { () throws(BrokerError) in try Self.request([("X~a", value)]) } == "/headers/X~0a")
  }

  @Test func `names that are none, twins and too many of them are refused`() {
    for fields in [[("X A", "b")], [("", "b")], [("X:", "b")], (0..<33).map { ("X-\($0)", "b") }] {
      #expect(Self.pointer { () throws(BrokerError) in try Self.request(fields) } == "/headers")
    }
    let twins = [("X-A", "b"), ("x-a", "c")]
    #expect(Self.pointer { () throws(BrokerError) in try Self.request(twins) } == "/headers/x-a")
  }

  @Test func `a body stands once, and not with what only reads`() {
    #expect(Self.pointer { () throws(BrokerError) in try Self.request(body: "a", bytes: [1]) } == "/bodyBase64")
    #expect(Self.pointer { () throws(BrokerError) in try Self.request("GET", body: "a") } == "/body")
    #expect(Self.pointer { () throws(BrokerError) in try Self.request("HEAD", bytes: []) } == "/bodyBase64")
    for time in [Duration.zero, .seconds(601)] {
      #expect(Self.pointer { () throws(BrokerError) in try Self.request(timeout: time) } == "/timeoutSeconds")
    }
  }
}
