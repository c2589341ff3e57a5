public import JSON

/// The file by which a client shows that it has the broker's state directory.
///
/// The client creates it exclusively, empty and with mode 0600, and calls ``Prove``. Its name is ``path``, a full stop and
/// the number of the process that holds the connection, in decimal: a file that another client creates proves nothing.
public struct StateProof: Sendable, Equatable {
  /// The absolute path, directly in the state directory, without the process number.
  public var path: String

  public init(path: String) { self.path = path }
}

extension StateProof: ObjectCodable {
  public static let blank = StateProof(path: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("path", &path)
  }
}
