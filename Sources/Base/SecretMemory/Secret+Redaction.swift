extension Secret: CustomStringConvertible, CustomDebugStringConvertible {
  /// The same placeholder for every secret, whatever its bytes and length.
  public var description: String { "<redacted>" }

  /// The same constant as `description`.
  public var debugDescription: String { description }
}
