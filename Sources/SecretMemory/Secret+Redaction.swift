extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// What stands for every secret, whatever its bytes and length.
  public var description: String { "<redacted>" }

  /// The same constant as `description`.
  public var debugDescription: String { description }

  /// A mirror without children, so that `dump` and other reflection find nothing.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>(), displayStyle: .struct) }
}
