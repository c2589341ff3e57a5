internal import JSON

/// Writes JSON-RPC responses and notifications in the protocol's member order, framed, into a connection's output.
public struct ResponseWriter: Sendable {
  /// The framing of the connection.
  public let framing: Framing

  /// A writer for one framing.
  public init(framing: Framing) {
    self.framing = framing
  }

  /// The bytes before the id.
  package static let head: StaticString = #"{"jsonrpc":"2.0","id":"#
  /// The bytes between the id and a result.
  package static let resultLabel: StaticString = #","result":"#
  /// The bytes between the id and an error.
  private static let errorLabel: StaticString = #","error":"#

  /// Appends a response whose result is JSON already.
  ///
  /// This is the hot path: nothing is copied twice.
  public func appendResult(_ result: Span<UInt8>, id: Span<UInt8>, to output: inout [UInt8]) {
    append(result, id: id, label: Self.resultLabel, to: &output)
  }

  /// Appends an error response; `error` is the JSON of the error object.
  public func appendError(_ error: Span<UInt8>, id: Span<UInt8>, to output: inout [UInt8]) {
    append(error, id: id, label: Self.errorLabel, to: &output)
  }

  private func append(_ body: Span<UInt8>, id: Span<UInt8>, label: StaticString, to output: inout [UInt8]) {
    let byteCount = Self.head.utf8CodeUnitCount + id.count + label.utf8CodeUnitCount + body.count + 1
    output.makeRoom(for: byteCount + Framing.largestOverhead)
    framing.begin(messageOf: byteCount, to: &output)
    output.append(copying: Self.head)
    output.append(copying: id)
    output.append(copying: label)
    output.append(copying: body)
    output.append(UInt8(ascii: "}"))
    framing.end(&output)
  }

  /// The JSON of one response, without framing: an entry of a batch's answer.
  public static func response(id: Span<UInt8>, isError: Bool, body: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    ResponseWriter(framing: .lines).append(body, id: id, label: isError ? errorLabel : resultLabel, to: &bytes)
    bytes.removeLast()
    return bytes
  }
}
