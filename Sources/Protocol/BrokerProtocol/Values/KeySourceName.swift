public import JSON

/// Where the key that opens the vault comes from.
public enum KeySourceName: String, Sendable, CaseIterable {
  /// A file of random bytes that only its owner can read.
  case file
  /// A passphrase that a person gives by `unlock`.
  case passphrase
  /// A credential that the service manager passes (systemd.exec(5), `LoadCredential=`).
  case credential
  /// The output of a program, such as a password manager.
  case command
}

extension KeySourceName: JSONEncodable, JSONDecodable {
  /// Writes the name.
  public func encode(to writer: inout JSONWriter) { writer.string(rawValue) }

  /// Reads the name.
  public init(from node: JSONNode) throws(JSONMismatch) {
    guard let source = KeySourceName(rawValue: try node.string()) else {
      throw node.mismatch("file, passphrase, credential or command")
    }
    self = source
  }
}
