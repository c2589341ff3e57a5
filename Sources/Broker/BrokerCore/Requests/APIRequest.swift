package import BrokerProtocol
import HTTPMessage
import JSON
import TextCoding

/// A request of a client's to an API: well-formed, and not judged by any rule yet.
package struct APIRequest: Sendable {
  /// The request methods (RFC 9110, section 9; RFC 5789): never TRACE, which answers with the token, nor CONNECT, behind which
  /// nothing is seen.
  package enum Method: String, CaseIterable, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"

    /// Whether a request has no body (RFC 9110, sections 9.3.1 and 9.3.2).
    var hasNoBody: Bool { self == .get || self == .head }
  }

  /// The method.
  package let method: Method
  /// The address, without a fragment.
  package let url: String
  /// The same, taken apart.
  package let address: TargetAddress
  /// The header fields.
  package let fields: [HeaderFields.Field]
  /// The body; nil where there is none.
  package let body: [UInt8]?
  /// How long its client waits.
  package let timeout: Duration

  /// The parameters of a request; `origin` is the server of one that has a path in the place of an address.
  ///
  /// - Throws: `invalidParams`, with the parameter.
  init(_ params: SendRequest.Params, at origin: TargetAddress.Origin? = nil) throws(BrokerError) {
    guard let method = Method(rawValue: params.method) else {
      throw .unfit("/method", "must be one of \(Method.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    (self.method, timeout) = (method, params.timeout)
    let given = params.url.prefix { $0 != "#" }
    url = origin.map { $0.text + given } ?? String(given)
    do throws(TargetAddress.Expected) { address = try TargetAddress(ofRequest: url) } catch {
      throw .unfit("/url", "must be \(error.expectation)")
    }
    guard params.body == nil || params.bodyBytes == nil else {
      throw .unfit("/bodyBase64", "must be absent, since /body is there")
    }
    body = params.bodyBytes ?? params.body.map { Array($0.utf8) }
    guard body == nil || !method.hasNoBody else {
      throw .unfit(params.body == nil ? "/bodyBase64" : "/body", "must be absent: \(method.rawValue) has no body")
    }
    guard timeout > .zero, timeout <= SendRequest.Params.longestTimeout else {
      throw .unfit(
        "/timeoutSeconds", "must be above 0, and at most \(SendRequest.Params.longestTimeout.components.seconds)")
    }
    fields = params.headers?.fields ?? []
    try Self.check(fields)
  }

  /// A request that was queued, with its key; nil where no request can be sent to its address any more.
  init?(_ queued: QueuedRequest, _ headers: HeaderFields, body: [UInt8]?) {
    guard let address = try? TargetAddress(ofRequest: queued.url) else { return nil }
    (method, url, self.address, timeout) = (queued.method, queued.url, address, queued.timeout)
    fields = headers.fields + [HeaderFields.Field(Self.keyField, queued.key)]
    self.body = body
  }

  /// The field by which an API knows a request again (draft-ietf-httpapi-idempotency-key-header).
  static let keyField = "Idempotency-Key"

  /// The server as an address.
  package var origin: String { address.origin.text }

  // MARK: Header fields

  /// More than any API wants.
  private static let mostFields = 32
  /// The fields that are the broker's: credentials, the server, the connection, and how a body is framed and encoded.
  private static let reserved: Set = [
    "accept-encoding", "authorization", "connection", "content-length", "cookie", "dpop", "expect", "host",
    "keep-alive",
    "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// Whether a field is the broker's.
  package static func isReserved(_ name: String) -> Bool {
    let name = name.lowercased()
    return reserved.contains(name) || name.hasPrefix("proxy-")
  }

  private static func check(_ fields: [HeaderFields.Field]) throws(BrokerError) {
    guard fields.count <= mostFields else { throw .unfit("/headers", "must have at most \(mostFields) fields") }
    var names: Set<String> = []
    for field in fields {
      let pointer = JSONPointer.root.member("headers").member(field.name).description
      guard (1...64).contains(field.name.utf8.count), field.name.utf8.allSatisfy(HTTPToken.isToken) else {
        throw .unfit("/headers", "must have names of letters, digits and hyphens")
      }
      guard !isReserved(field.name) else {
        throw .unfit(pointer, "must be absent: the broker sets this field, or none is sent")
      }
      guard names.insert(field.name.lowercased()).inserted else {
        throw .unfit(pointer, "must stand once; several values are joined by commas")
      }
      guard HeaderFields.Field.isValue(field.value) else {
        throw .unfit(pointer, "must be 1 to 2048 visible ASCII characters, with single blanks between them")
      }
    }
  }
}

extension TargetAddress {
  /// The address that is expected in place of one to which no request can go.
  package struct Expected: Error {
    /// The end of a sentence: "must be …".
    package let expectation: String
  }

  /// The address of a request.
  ///
  /// - Throws: why none can go there.
  init(ofRequest text: String) throws(Expected) {
    let web = Expected(expectation: "an https:// address, or an http:// one of this machine, without a user name")
    do throws(Fault) { try self.init(text) } catch {
      throw error == .scheme ? web : Expected(expectation: error.expectation)
    }
    guard AddressParts(text)?.user == nil, ["https", "http"].contains(origin.scheme) else { throw web }
  }

  /// The address of a server that requests can go to, and nothing behind it.
  ///
  /// - Throws: why it is none.
  package init(ofServer text: String) throws(Expected) {
    try self.init(ofRequest: text)
    guard path.isEmpty, !text.contains("?"), !text.contains("#") else {
      throw Expected(expectation: "a server alone, such as https://api.example.com, without a path")
    }
  }
}

extension TargetAddress.Origin {
  /// The server as an address, with its port where that is not the scheme's own.
  package var text: String { "\(scheme)://\(host)" + (port == AddressParts.port(of: scheme) ? "" : ":\(port)") }
}

extension HeaderFields.Field {
  /// Whether a text can be sent as a value: visible ASCII and blanks between, not empty.
  fileprivate static func isValue(_ value: String) -> Bool {
    (1...2048).contains(value.utf8.count) && value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
      && value.utf8.first != 0x20 && value.utf8.last != 0x20
  }
}
