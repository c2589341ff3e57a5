/// Locks the vault: wipes its keys and every token from memory until `unlock`.
///
/// For clients the vault is locked at once. Operations under way are finished and saved before the keys are wiped;
/// where saving fails, the answer is storeFailed, and the keys are wiped as soon as it succeeds.
///
/// - Throws: accessDenied, storeFailed.
public enum Lock: BrokerMethod {
  /// The parameters: none.
  public typealias Params = Empty
  /// The result: an empty object.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "lock"
}
