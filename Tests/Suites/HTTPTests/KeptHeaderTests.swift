import HTTPMessage
import SecretMemory
import TestSupport
import Testing

@testable import HTTP

/// The header lines that are kept between the requests of one thread.
@Suite(.standardTimeLimit) struct KeptHeaderTests {
  private final class Nowhere: ResponseSink, BodySource {
    func begin(_ head: HTTPResponse) {}
    func take(_ piece: Span<UInt8>) -> PieceAnswer { .taken }
    func fill(_ room: inout OutputSpan<UInt8>) -> Bool { false }
  }

  private static func exchange(
    _ authorization: Authorization, _ path: String = "/", _ fields: [HTTPField] = [], type: String? = nil,
    proof: Secret? = nil
  ) throws -> Exchange {
    var request = HTTPRequest(.get, try HTTPURL("https://example.com\(path)"), fields: fields)
    request.proof = proof
    let nowhere = Nowhere()
    let upload = try type.map { try HTTPUpload(nowhere, count: 1, contentType: $0) }
    return Exchange(
      .request(request, authorization), TLSPolicy(), allowed: .seconds(1),
      stream: Exchange.Stream(upload: upload, sink: nowhere))
  }

  @Test func `equal ones are made once, and every difference makes others`() throws {
    var kept = KeptHeader(isOn: true)
    let token = Authorization.bearer(try secret("one"))
    let first = try kept.list(of: Self.exchange(token))
    // Another copy of the same token, and another address.
    #expect(try kept.list(of: Self.exchange(.bearer(try secret("one")), "/other?a=b")) === first)
    let field = try HTTPField("x-a", "b")
    let others: [Exchange] = [
      try Self.exchange(.bearer(try secret("two"))), try Self.exchange(.proven(try secret("one"))),
      try Self.exchange(.secret(try secret("one"), field: "Authorization", scheme: "")),
      try Self.exchange(.secret(try secret("one"), field: "X-Key", scheme: "")),
      try Self.exchange(.secret(try secret("one"), field: "X-Key", scheme: "Bearer")),
      try Self.exchange(token, "/", [field]), try Self.exchange(token, "/", [field, field]),
      try Self.exchange(token, type: "text/plain"), try Self.exchange(token, type: "text/html"),
    ]
    var before = first
    for other in others {
      let list = try kept.list(of: other)
      #expect(list !== before)
      #expect(try kept.list(of: other) === list)
      before = list
    }
    kept.clear()
    #expect(try kept.list(of: others[others.count - 1]) !== before)
  }

  @Test func `what is shown once is not kept, and nothing is where that was not chosen`() throws {
    let proof = try secret("proof")
    for isOn in [true, false] {
      var kept = KeptHeader(isOn: isOn)
      let exchange = try Self.exchange(.proven(try secret("one")), proof: isOn ? proof : nil)
      let list = try kept.list(of: exchange)
      #expect(try kept.list(of: exchange) !== list)
    }
  }
}
