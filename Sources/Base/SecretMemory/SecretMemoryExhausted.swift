/// Says that the locked arena has no room for another secret.
///
/// The arena refuses instead of spilling into ordinary memory, which may be swapped out or dumped. Room comes back as
/// soon as other secrets are released.
public struct SecretMemoryExhausted: Error, Equatable {
  /// The one value of this type.
  public init() {}
}
