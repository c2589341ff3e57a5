/// Makes the connection administrative, once its client has shown that it has the state directory.
///
/// A method that needs this answers `accessDenied` with a ``StateProof``; so does this method where none is outstanding.
public enum Prove: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "prove"
}
