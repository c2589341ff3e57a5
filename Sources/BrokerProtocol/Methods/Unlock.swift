public import JSONRPC
public import SecretMemory

/// Opens the vault again; the first passphrase of a new vault becomes its own.
public enum Unlock: BrokerMethod {
  public static let name = "unlock"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The passphrase, where the key comes from one.
    public var passphrase: Secret?

    public init(passphrase: Secret? = nil) {
      self.passphrase = passphrase
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("passphrase", &passphrase, .secret)
    }
  }
}
