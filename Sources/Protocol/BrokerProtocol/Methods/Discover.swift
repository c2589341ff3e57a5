internal import JSON

/// Returns this document: the OpenRPC document of exactly the methods that this broker has.
public enum Discover: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = RawJSON

  /// The name on the wire.
  public static let name = "rpc.discover"
}
