package import HTTP
package import JSON
import SecretMemory

/// Reads the JSON object of a provider's reply: strictly by the grammar, else as far as its vital members are sound.
///
/// Only replies of providers are read so. What clients send is read strictly, everywhere.
package enum ReplyObject {
  /// The limits of a reply, eight times as deep as any that is understood; a number that is too large is no reason to
  /// lose the tokens beside it.
  private static let limits = JSONLimits(depth: 64, byteCount: 1 << 20, toleratesLargeNumbers: true)

  /// The stand-in for a vital member that is not sound: no provider writes it, and no reader takes it for a value.
  static let unsound = "\"\\u0000\""

  /// Whether a member stands for one that was not sound.
  package static func isUnsound(_ node: JSONNode?) -> Bool { node.flatMap { try? $0.string() } == "\0" }

  /// Lends the object of a body; where the body is none, the one object with an access token that is in it.
  ///
  /// - Parameters:
  ///   - bytes: the body.
  ///   - vital: the members that must be there once, or more often with the same bytes.
  ///   - body: gets the object; what it returns must not refer to it, since its bytes are wiped.
  /// - Returns: what `body` returns; nil where there is no object.
  /// - Throws: what `body` throws.
  package static func withRoot<R, E: Error>(
    of bytes: [UInt8], _ vital: VitalMembers, _ body: (JSONNode) throws(E) -> R?
  ) throws(E) -> R? {
    if let root = try? JSONDocument(parsing: bytes, limits: limits).root {
      return root.kind == .object ? try body(root) : nil
    }
    var plain = ReplyText.utf8(fromUTF16: bytes) ?? []
    defer { wipe(&plain) }
    let bytes = plain.isEmpty ? bytes : plain
    var embedded = EmbeddedObject(vital, limits, in: bytes)
    guard var text = ReplyRepair.repaired(bytes.span, vital) ?? embedded.find(in: bytes) else { return nil }
    defer { wipe(&text) }
    return try read(text, body)
  }

  /// Whether a reply whose end did not come is complete by its body: an object that the grammar accepts ends itself,
  /// and nothing but blanks could follow.
  package static func isWhole(_ response: HTTPResponse) -> Bool {
    response.body.withArray { bytes in
      (try? JSONDocument(parsing: bytes, limits: limits).root.kind) == .object
    }
  }

  /// Whether the whole body is an object that explains why there are no tokens, as far as the grammar accepts it.
  static func isRefusal(_ response: HTTPResponse) -> Bool {
    response.body.withArray { bytes in
      guard let root = try? JSONDocument(parsing: bytes, limits: limits).root, root.kind == .object else {
        return false
      }
      return root["error"] != nil || RefusalWords(root).hasName || RefusalWords.areIn(root)
    }
  }

  /// In a function of its own: when it returns, nothing refers to the text any more.
  private static func read<R, E: Error>(_ text: [UInt8], _ body: (JSONNode) throws(E) -> R?) throws(E) -> R? {
    guard let root = try? JSONDocument(parsing: text, limits: limits).root, root.kind == .object else { return nil }
    return try body(root)
  }
}
