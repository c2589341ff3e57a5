/// A value that is JSON, but not of the expected kind.
public struct JSONMismatch: Error, Equatable, Sendable {
  /// The value that does not fit.
  public let pointer: JSONPointer

  /// The expected value, as the end of a sentence: "must be …".
  public let expected: String

  /// Whether the value may well fit, and there was only no memory to take it over: the same text may be read later.
  public let isForWantOfMemory: Bool

  /// A mismatch at one place; the offending value itself is never kept, since it may be a secret.
  public init(at pointer: JSONPointer, expected: String, isForWantOfMemory: Bool = false) {
    self.pointer = pointer
    self.expected = expected
    self.isForWantOfMemory = isForWantOfMemory
  }
}
