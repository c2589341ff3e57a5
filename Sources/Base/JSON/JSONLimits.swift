/// Bounds that a JSON text from a peer must keep.
public struct JSONLimits: Sendable, Equatable {
  /// The most levels of nested arrays and objects.
  ///
  /// 64 is far above any message of the protocol and far below any stack.
  public var depth: Int

  /// How many bytes a text may have.
  ///
  /// Offsets on the tape are 32 bits wide, so 1 GiB is the hard ceiling.
  public var byteCount: Int

  /// Whether a number that 64 bits cannot hold may stand in a document; only reading its value fails then.
  ///
  /// For documents of others, in which more than that number matters.
  public var toleratesLargeNumbers: Bool

  /// How many members an object may have.
  public var members = Int.max

  /// How many elements an array may have.
  public var elements = Int.max

  /// How many values a text may have in all, member names included.
  public var values = Int.max

  /// How many bytes a string may have as it stands in the text, without its quotes.
  public var stringBytes = Int.max

  /// How many bytes a number may have.
  public var numberBytes = Int.max

  /// 64 levels and 1 MiB, in any structure.
  public static let standard = JSONLimits(depth: 64, byteCount: 1 << 20)

  /// Bounds of the caller's choice, in any structure; `byteCount` is cut to 1 GiB.
  public init(depth: Int, byteCount: Int, toleratesLargeNumbers: Bool = false) {
    self.depth = depth
    self.byteCount = min(byteCount, 1 << 30)
    self.toleratesLargeNumbers = toleratesLargeNumbers
  }
}
