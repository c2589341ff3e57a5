import CCurl
import SecretMemory

/// Who the request is from.
enum Authorization: Sendable {
  /// No particular one.
  case none
  /// The holder of an access token (RFC 6750, section 2.1).
  case bearer(Secret)
  /// A client of the provider (RFC 6749, section 2.3.1).
  case basic(ClientCredentials)
}

/// The header lines of one request: one block of the locked arena, and libcurl's list pointing into it.
///
/// So the line with the credentials has no copy outside that block but those that libcurl makes while it sends.
@safe
final class HeaderBlock {
  /// The list's head, for `CURLOPT_HTTPHEADER`.
  let list: UnsafeMutablePointer<curl_slist>
  private let count: Int
  // Keeps the strings that the list points to.
  private let lines: Secret

  /// Writes the lines of a request.
  ///
  /// - Throws: `HTTPFailure.invalidField` when there are too many fields, or the credentials cannot be sent;
  ///   `.secretMemoryExhausted`.
  init(_ request: HTTPRequest, _ authorization: Authorization) throws(HTTPFailure) {
    guard request.fields.count <= HTTPField.most else { throw .invalidField }
    var writer = HeaderWriter()
    try writer.append(authorization)
    // An empty one keeps libcurl from naming a type where there is nothing.
    if let body = request.body {
      writer.append("Content-Type", body.contentType)
    } else {
      writer.appendLine("Content-Type:")
    }
    for field in request.fields { writer.append(field.name, field.value) }
    if !request.fields.contains(where: { $0.name.lowercased() == "accept" }) {
      writer.append("Accept", "application/json")
    }
    // An empty one keeps libcurl from asking for leave (100-continue) before it sends a large body.
    writer.appendLine("Expect:")
    let starts = writer.starts
    lines = try HTTPBody.secret(wiping: &writer.bytes, for: request.deadline)
    count = starts.count
    let list = UnsafeMutablePointer<curl_slist>.allocate(capacity: count)
    // The arena's memory stays where it is while `lines` lives, which this object holds.
    let base = unsafe lines.withBytes {
      unsafe $0.withUnsafeBufferPointer { unsafe UnsafeMutablePointer(mutating: $0.baseAddress) }
    }
    for (index, start) in starts.enumerated() {
      // Inside the block, where a line begins that ends with NUL. libcurl reads it only.
      let line = unsafe base.map { unsafe UnsafeMutableRawPointer($0 + start).assumingMemoryBound(to: CChar.self) }
      let next = unsafe index + 1 < starts.count ? list + index + 1 : nil
      // There is room for `count` elements.
      unsafe (list + index).initialize(to: curl_slist(data: line, next: next))
    }
    unsafe self.list = list
  }

  deinit {
    // Made by `init` with that many elements, which are trivial.
    unsafe list.deinitialize(count: count)
    // As above.
    unsafe list.deallocate()
  }
}

/// Collects header lines, each ended by NUL, in a buffer that is wiped as it grows.
struct HeaderWriter {
  /// What is collected; passes on to a `Secret`.
  var bytes: [UInt8] = []
  /// Where the lines begin.
  private(set) var starts: [Int] = []

  /// An empty block.
  init() { bytes.reserveCapacity(512) }

  /// Adds a line as it is.
  mutating func appendLine(_ line: String) {
    starts.append(bytes.count)
    append(line.utf8.span)
    bytes.append(0)
  }

  /// Adds a field that was checked.
  mutating func append(_ name: String, _ value: String) {
    appendLine("\(name): \(value)")
  }

  /// Adds the credentials.
  ///
  /// - Throws: `HTTPFailure.invalidField` when a token has a byte that cannot be sent; what was written is wiped then.
  mutating func append(_ authorization: Authorization) throws(HTTPFailure) {
    switch authorization {
    case .none: return
    case .bearer(let token):
      starts.append(bytes.count)
      append("Authorization: Bearer ".utf8.span)
      // Visible ASCII: more than the grammar of RFC 6750 allows, and nothing that ends a line.
      let isSendable = token.withBytes { bytes in
        !bytes.isEmpty && bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) }
      }
      guard isSendable else { throw .invalidField }
      token.withBytes { append($0) }
      bytes.append(0)
    case .basic(let client):
      starts.append(bytes.count)
      append("Authorization: Basic ".utf8.span)
      client.encode { append($0) }
      bytes.append(0)
    }
  }

  private mutating func append(_ text: Span<UInt8>) {
    bytes.reserveWiping(text.count + 1)
    for index in text.indices { bytes.append(text[index]) }
  }
}
