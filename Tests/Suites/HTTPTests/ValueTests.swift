import SecretMemory
import TestSupport
import Testing

@testable import HTTP

@Suite(.standardTimeLimit) struct HTTPURLTests {
  @Test(arguments: [
    ("https://example.com", "https://example.com/"), ("HTTPS://Example.COM:443/a?b=c", "https://example.com/a?b=c"),
    ("https://a-b.c_d.example:8443?x", "https://a-b.c_d.example:8443/?x"),
    ("https://[::1]:9/%41", "https://[::1]:9/%41"),
    ("https://192.0.2.1/", "https://192.0.2.1/"), ("http://localhost:80/", "http://localhost/"),
    ("http://127.0.0.1:1/", "http://127.0.0.1:1/"), ("http://[::1]/", "http://[::1]/"),
    ("https://7f.example.1e/", "https://7f.example.1e/"),
  ])
  func `A URL that may be called is understood as it was written`(_ text: String, _ canonical: String) throws {
    #expect(throws: Never.self) { try HTTPURL(text) }
    #expect(try HTTPURL(text).text == canonical)
  }

  @Test(arguments: [
    "", "https://", "https:///a", "http://example.com/", "http://128.0.0.1/", "http://localhost.example.com/",
    "http://127.1/", "http://[::2]/", "http://localhost@example.com/", "ftp://example.com/", "file:///etc/passwd",
    "//example.com", "example.com", "https:/example.com", "https://user@example.com/", "https://u:p@example.com/",
    "https://example.com#f", "https://example.com/#f", "https://exa mple.com/", "https://example.com/a b",
    "https://example.com/\r\nX: y", "https://example.com/\u{0}", "https://example.com/\u{7F}", "https://exämple.com/",
    "https://example.com/ä", "https://example.com:0/", "https://example.com:65536/", "https://example.com:+1/",
    "https://example.com:/", "https://example.com:443:443/", "https://.example.com/", "https://example..com/",
    "https://example.com./", "https://127.1/", "https://0x7f.0.0.1/", "https://2130706433/", "https://256.1.1.1/",
    "https://01.1.1.1/", "https://[::1", "https://::1/", "https://[1.2.3.4]/", "https://[fe80::1%25eth0]/",
    "https://example.com/%zz", "https://example.com/%4", "https://example.com/\\a",
    "https://example.com\\@evil.example/",
    "https://exam{ple}.com/", "https://a/<b>", "https://\(String(repeating: "a", count: 64)).com/",
    "https://example.com/" + String(repeating: "a", count: 8000),
  ])
  func `A URL that could mean something else is refused`(_ text: String) {
    #expect(throws: HTTPFailure.invalidURL) { try HTTPURL(text) }
  }

  @Test func `A path is put below the base, with one slash between`() throws {
    for base in ["https://example.com/api", "https://example.com/api/"] {
      for path in ["/auth/login", "auth/login"] {
        #expect(try HTTPURL(base).appending(path: path).text == "https://example.com/api/auth/login")
      }
    }
    #expect(try HTTPURL("https://example.com").appending(path: "/a?b=c").text == "https://example.com/a?b=c")
    #expect(throws: HTTPFailure.invalidURL) { try HTTPURL("https://example.com/?a").appending(path: "b") }
    #expect(throws: HTTPFailure.invalidURL) { try HTTPURL("https://example.com/").appending(path: "/a b") }
    #expect(throws: HTTPFailure.invalidURL) { try HTTPURL("https://example.com/").appending(path: "/a\r\nb") }
  }

  @Test func `Another target at the same server is the URL of both`() throws {
    let longest = "/" + String(repeating: "a", count: HTTPURL.longest - 1)
    for base in ["https://example.com", "https://Example.com:8443/api?a", "http://[::1]:1/", "http://127.0.0.1:80"] {
      let server = try HTTPURL(base)
      for target in [
        "/", "/a?b=c", "", "a", "/a b", "/a#b", "/%4", "/%41", "//x", longest, String(longest.dropLast(18)),
      ] {
        let whole = target.hasPrefix("/") ? try? HTTPURL(server.origin + target) : nil
        let made = try? server.at(target: target)
        #expect(made == whole && made?.written == whole?.written && made?.text == whole?.text, "\(target.prefix(9))")
      }
    }
  }

  @Test func `Whether a path can be put below a base is known without doing so`() throws {
    let longest = String(repeating: "a", count: HTTPURL.longest)
    for base in ["https://example.com", "https://example.com/", "https://example.com/api/", "https://example.com/?a"] {
      let base = try HTTPURL(base)
      // Around the longest address: with the slashes that are put between, and without.
      let long = (0...8).map { longest.dropFirst($0) }.flatMap { [String($0), "/" + $0] }
      for path in ["", "/", "a", "/a?b=c", "/a b", "/%4", "/%41"] + long {
        #expect(base.canAppend(path: path) == ((try? base.appending(path: path)) != nil), "\(base) \(path.prefix(9))")
        guard let whole = try? base.appending(path: path) else { continue }
        #expect(whole.target.utf8.count <= HTTPURL.longest)
        #expect((try? HTTPURL("https://e" + whole.target.prefix(7000))) != nil)
      }
    }
  }

  @Test func `Nothing but the origin of a URL is ever printed`() throws {
    let url = try HTTPURL("https://example.com:8443/path?code=hush")
    var text = "\(url) \(String(reflecting: url)) \(String(describing: [url]))"
    dump(HTTPRequest(.get, url), to: &text)
    #expect(!text.contains("hush") && !text.contains("path"))
    #expect(url.description == "https://example.com:8443")
  }
}

@Suite(.standardTimeLimit) struct HTTPFieldTests {
  @Test(arguments: [
    ("Authorization", "x"), ("authorization", "x"), ("Cookie", "a=b"), ("Host", "evil"), ("Content-Length", "1"),
    ("Transfer-Encoding", "chunked"), ("Proxy-Authorization", "x"), ("Expect", "100-continue"), ("Connection", "x"),
    ("", "x"), ("A B", "x"), ("A:", "x"), ("A\r\n", "x"), ("Ä", "x"), ("X", ""), ("X", "a\r\nB: c"), ("X", "a\nb"),
    ("X", "a\u{0}"), ("X", "ä"), ("X", " a"), ("X", "a "), ("X", String(repeating: "a", count: 2049)),
  ])
  func `A field that could become another, or is not the caller's, is refused`(_ name: String, _ value: String) {
    #expect(throws: HTTPFailure.invalidField) { try HTTPField(name, value) }
  }

  @Test func `Too many fields are refused before anything is sent`() throws {
    let fields = try (0...HTTPField.most).map { try HTTPField("X-\($0)", "a") }
    let request = HTTPRequest(.get, try HTTPURL("https://example.com"), fields: fields)
    #expect(throws: HTTPFailure.invalidField) { _ = try StringList(request, .none, nil) }
  }
}

@Suite(.standardTimeLimit) struct PinSetTests {
  private let first = "sha256//" + String(repeating: "A", count: 43) + "="
  private let second = "sha256//" + String(repeating: "B", count: 42) + "A="

  @Test func `Two pins or more make a set`() throws {
    #expect(try PinSet([first, second]).joined == first + ";" + second)
  }

  @Test func `A pin without a spare one is refused`() {
    #expect(throws: PinSet.Refusal.spareMissing) { try PinSet([]) }
    #expect(throws: PinSet.Refusal.spareMissing) { try PinSet([first]) }
    #expect(throws: PinSet.Refusal.spareMissing) { try PinSet([first, first]) }
    #expect(throws: PinSet.Refusal.tooMany) { try PinSet(Array(repeating: first, count: 16) + [second]) }
  }

  @Test(arguments: [
    "", "sha256//", "sha256/AAAA", "sha1//AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "sha256//" + String(repeating: "A", count: 44),
    "sha256//" + String(repeating: "A", count: 42) + "==", "sha256//" + String(repeating: "A", count: 42) + "B=",
    "sha256//" + String(repeating: "-", count: 43) + "=", "sha256//" + String(repeating: "A", count: 43) + "=;",
    "sha256//" + String(repeating: "A", count: 42) + "\n=",
  ])
  func `What is no digest of a key is refused by its place`(_ text: String) {
    #expect(throws: PinSet.Refusal.malformed(index: 1)) { try PinSet([first, text, second]) }
  }
}

@Suite(.standardTimeLimit) struct HTTPResponseTests {
  private let now: Int64 = 1_700_000_000

  private func response(_ fields: String..., status: Int = 200) -> HTTPResponse {
    var collector = HeaderCollector(limits: HTTPLimits())
    for line in ["HTTP/1.1 \(status) Something"] + fields + [""] {
      _ = collector.collect(Array((line + "\r\n").utf8).span)
    }
    guard let response = collector.head(status: status) else { preconditionFailure("it is a status") }
    return response
  }

  @Test func `A field is found whatever its case, trimmed; the first one counts`() {
    let response = response("X-A:  one \t", "x-a: two", "X-Empty:", "X-Bad: a\u{1}b", "nonsense", "Longer-X-A: no")
    #expect(response.field("x-a") == "one")
    #expect(response.field("x-empty") == "")
    #expect(response.field("x-bad") == nil)
    #expect(response.field("x-none") == nil)
  }

  @Test func `Fields of an interim response and of a trailer are not the response's`() throws {
    var collector = HeaderCollector(limits: HTTPLimits())
    let lines = ["HTTP/1.1 103 Early", "X-A: early", "", "HTTP/1.1 200 OK", "X-B: b", "", "X-C: trailer", ""]
    for line in lines { _ = collector.collect(Array((line + "\r\n").utf8).span) }
    let head = collector.head(status: 200)
    let response = try #require(head)
    #expect(response.field("x-a") == nil)
    #expect(response.field("x-b") == "b")
    #expect(response.field("x-c") == nil)
  }

  @Test(arguments: [
    ("Retry-After: 120", Duration.seconds(120)), ("Retry-After: 0", .zero), ("Retry-After: 3601", .seconds(3600)),
    ("Retry-After: 99999999999999999999999", .seconds(3600)),
    ("Retry-After: Tue, 14 Nov 2023 22:15:00 GMT", .seconds(100)),
    ("Retry-After: Tue, 14 Nov 2023 20:00:00 GMT", .zero),
    ("Retry-After: Fri, 14 Nov 2099 22:15:00 GMT", .seconds(3600)),
  ])
  func `Retry-After is a wait of an hour at most`(_ field: String, _ wait: Duration) {
    #expect(response(field).retryAfter(now: now) == wait)
  }

  @Test(arguments: [
    "Retry-After: -1", "Retry-After: 1.5", "Retry-After: soon", "Retry-After:", "Retry-After: 1 2", "X: 1",
  ])
  func `A Retry-After that says nothing is none`(_ field: String) {
    #expect(response(field).retryAfter(now: now) == nil)
  }

  @Test(arguments: [
    ("RateLimit-Reset: 20", Duration.seconds(20)), ("X-RateLimit-Reset: 30", .seconds(30)),
    ("X-RateLimit-Reset: 1700000030", .seconds(30)), ("X-Rate-Limit-Reset: 1700000030000", .seconds(30)),
    ("X-RateLimit-Reset: 1600000000", .zero), ("RateLimit-Reset: 9999", .seconds(3600)),
    (#"RateLimit: "default";r=0;t=40"#, .seconds(40)), (#"RateLimit: "default"; r=0;  t=40"#, .seconds(40)),
    (#"RateLimit: "a"; t=40, "b"; t=60"#, .seconds(40)),
  ])
  func `Where a 429 has no Retry-After, the end of its window is one`(_ field: String, _ wait: Duration) {
    #expect(response("Date: Tue, 14 Nov 2023 22:13:20 GMT", field, status: 429).retryAfter(now: 5) == wait)
    #expect(response(field).retryAfter(now: now) == nil)
    #expect(response("Retry-After: 7", field, status: 429).retryAfter(now: now) == .seconds(7))
    #expect(response("RateLimit-Reset: soon", "X-RateLimit-Reset: -1", status: 429).retryAfter(now: now) == nil)
  }

  @Test func `A Retry-After moment is counted on the server's own clock`() {
    let wrong = response("Date: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: Sun, 06 Nov 1994 08:50:07 GMT")
    #expect(wrong.retryAfter(now: now) == .seconds(30))
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Tuesday, 01-Jan-30 00:00:00 GMT", 1_893_456_000),
  ])
  func `Each of the three forms of a date is read`(_ text: String, _ seconds: Int64) {
    #expect(HTTPDate(text, now: now)?.secondsSince1970 == seconds)
  }

  @Test(arguments: [
    "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
    "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 994 08:49:37 GMT",
    "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1969 08:49:37 GMT",
  ])
  func `What is no date is none`(_ text: String) {
    #expect(HTTPDate(text, now: now) == nil)
  }

  @Test(
    arguments: [
      ("application/json", true), ("Application/JSON; charset=utf-8", true), ("application/problem+json", true),
      ("text/html", false), ("application/jsonp", false), ("json", nil), ("/json", nil), ("a/b/c+json", nil), ("", nil),
    ] as [(String, Bool?)])
  func `A type is told by its essence`(_ value: String, _ isJSON: Bool?) {
    #expect(MediaType(value)?.isJSON == isJSON)
  }
}

@Suite(.standardTimeLimit) struct FormEncoderTests {
  @Test func `Names and values are percent-encoded, and the buffer grows over any length`() throws {
    let form = FormEncoder()
    form.append("grant type", "a&b=c%+ é*-._~")
    form.append("token", try Secret(utf8: String(repeating: "x/", count: 500)))
    let body = try form.finish(for: .interactive)
    let text = body.bytes.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    #expect(
      text == "grant+type=a%26b%3Dc%25%2B+%C3%A9*-._%7E&token=" + String(repeating: "x%2F", count: 500))
    #expect(body.contentType == "application/x-www-form-urlencoded")
  }
}
