public import JSON
public import SecretMemory

/// Secrets, in clear on the wire, in the locked arena here.
public struct SecretCoding: ValueCoding {
  public static let isSecret = true

  /// Whether they are tokens, which may be longer than other secrets.
  fileprivate let isToken: Bool

  /// The text cannot be wiped by the writer: the reader of its bytes must.
  public func write(_ value: Secret, to writer: inout JSONWriter) { value.withBytes { writer.string(utf8: $0) } }

  public func read(_ node: JSONNode) throws(JSONMismatch) -> Secret { isToken ? try node.token() : try node.secret() }
}

extension ValueCoding where Self == SecretCoding {
  /// A password or a code: see `JSONNode.secret()`.
  public static var secret: SecretCoding { SecretCoding(isToken: false) }

  /// A token: see `JSONNode.token()`.
  public static var token: SecretCoding { SecretCoding(isToken: true) }
}
