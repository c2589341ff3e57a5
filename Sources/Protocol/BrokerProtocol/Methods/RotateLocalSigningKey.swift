/// Makes a new key for access tokens of the embedded provider, and returns the key set with it; the one before verifies
/// what it has signed.
///
/// A key that signs no more stays in the set until every token that it signed has expired.
///
/// - Throws: directory.
public enum RotateLocalSigningKey: BrokerMethod {
  public static let name = "rotateLocalSigningKey"
  public typealias Params = Empty

  /// The key set after the change.
  public typealias Result = GetLocalKeySet.Result
}
