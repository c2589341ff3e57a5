internal import JSON

/// Returns this document: the OpenRPC document of exactly the methods that this broker has.
public enum Discover: BrokerMethod {
  /// The parameters: none.
  public typealias Params = Empty
  /// The result: the OpenRPC document.
  public typealias Result = RawJSON

  /// The name on the wire.
  public static let name = "rpc.discover"
}
