import BrokerCore
import BrokerProtocol
import LinuxSystem

/// The directory in which clients prove their access to the state directory, each by an empty file whose name the
/// broker has begun and the client's process number ends.
///
/// A client that has merely a socket, which may be forwarded or mounted into a container, cannot create such a file;
/// and one that another client creates bears that client's number. No other file of the directory is examined or
/// removed.
package struct ProofDirectory: Sendable {
  /// The prefix of the files' names.
  static let prefix = "proof-"
  /// The prefix of an earlier version, whose leftovers are removed as well.
  private static let earlierPrefix = "prove-"

  private let path: String

  /// The state directory, by its absolute path.
  package init(path: String) { self.path = path }

  /// Chooses a new name: 128 random bits, so that no two are ever the same.
  func challenge() -> StateProof {
    let digits = (0..<32).map { _ in Self.digits[Int.random(in: 0..<16)] }
    return StateProof(path: path + "/" + Self.prefix + String(decoding: digits, as: UTF8.self))
  }

  /// The proof under a name that a client has chosen, of as many digits; nil where it is no such name.
  func proof(named name: String) -> StateProof? {
    Self.isBeginning(name, Self.prefix) ? StateProof(path: path + "/" + name) : nil
  }

  /// The file by which a process gives a proof.
  private static func file(of proof: StateProof, by process: Int32) -> String { proof.path + ".\(process)" }

  /// Checks whether a process has created the file of a proof, and removes it.
  ///
  /// The file is not opened: neither a broker without a free descriptor nor a full disk keeps it from being seen.
  func takes(_ proof: StateProof, from process: Int32) -> Bool {
    defer { discard(proof, from: process) }
    guard let status = try? FileStatus.ofLink(Self.file(of: proof, by: process)) else { return false }
    return status.kind == .regular && status.owner == ProcessIdentity.user && status.permissions == 0o600
      && status.linkCount == 1
  }

  /// Removes the file of a proof that is not wanted any more.
  func discard(_ proof: StateProof, from process: Int32) {
    try? DirectoryEntry.remove(Self.file(of: proof, by: process))
  }

  /// Removes files that an earlier broker asked for and never took.
  package func removeLeftovers() {
    for name in (try? TemporaryDirectory.names(in: path)) ?? [] where Self.isName(name) {
      try? DirectoryEntry.remove(path + "/" + name)
    }
  }

  private static func isName(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    if parts.count == 1 { return isBeginning(name, earlierPrefix) }
    return parts.count == 2 && isBeginning(String(parts[0]), prefix) && !parts[1].isEmpty
      && parts[1].utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func isBeginning(_ name: String, _ prefix: String) -> Bool {
    let digits = name.utf8.dropFirst(prefix.utf8.count)
    return name.hasPrefix(prefix) && digits.count == 32
      && digits.allSatisfy { Self.digits.contains($0) }
  }

  private static let digits = Array("0123456789abcdef".utf8)
}

/// The methods for clients with access to the state directory.
///
/// The parent of a broker on standard input and output has started the process, which proves as much.
extension BrokerServer {
  /// Makes the connection administrative if its own process has created the file that it was asked for, or that it names.
  func prove(_ params: Prove.Params, _ request: Request) throws(BrokerError) -> Empty {
    let connection = request.connection
    guard !connection.principal.isAdministrative else { return Empty() }
    let chosen = params.name.flatMap { environment.proofs.proof(named: $0) }
    guard connection.principal.permissions.mayProve, let process = connection.provableProcess,
      let proof = chosen ?? connection.proof
    else {
      var question = denial(connection)
      question.admitsProof = question.proof != nil
      throw question
    }
    if chosen == nil { connection.proof = nil }
    guard environment.proofs.takes(proof, from: process) else {
      throw denial(connection, instead: "\(proof.path).\(process)")
    }
    connection.principal.isAdministrative = true
    connection.audited = nil
    return Empty()
  }

  /// The refusal of a method that needs a proof, with the one that is outstanding for the connection.
  ///
  /// - Parameters:
  ///   - connection: whose request is refused.
  ///   - missing: the file that was to be there when the client said that it is.
  /// - Returns: the error; without a proof where the client cannot give one.
  func denial(_ connection: RPCConnection, instead missing: String? = nil) -> BrokerError {
    let proof = outstandingProof(connection)
    let sentence =
      if !connection.principal.permissions.mayProve {
        "This requires proof of access to the broker's state directory, which a client of a limited socket cannot give; "
          + "call it on the broker's own socket."
      } else if proof == nil {
        "This requires proof of access to the broker's state directory, which a client in another PID namespace cannot "
          + "give; call it where the broker runs."
      } else if let missing {
        "\(missing) is no file of the broker's user with mode 0600: it is named after the process that holds the "
          + "connection, by its number in the broker's PID namespace."
      } else {
        "This requires proof of access to the broker's state directory; create the empty file that proof names with a "
          + "full stop and the process number of this connection's client, then call prove."
      }
    var error = BrokerError(.accessDenied, sentence)
    error.proof = proof
    return error
  }

  /// The error of a request as its client gets it: with a proof where one would let the request pass, and with nothing
  /// of a login that is not for this connection.
  func completed(_ error: BrokerError, of key: CallerID) -> BrokerError {
    var error = named(error)
    guard let connection = rpc.requests[key]?.connection, !connection.principal.isAdministrative else { return error }
    error = error.shown(to: connection.principal)
    guard error.admitsProof else { return error }
    error.proof = outstandingProof(connection)
    return error
  }

  /// The proof that a connection is asked for; nil where the kernel names no process that could give one.
  ///
  /// Until it is used it stays the same, so that requests which are under way at the same time share it.
  private func outstandingProof(_ connection: RPCConnection) -> StateProof? {
    guard connection.provableProcess != nil, connection.principal.permissions.mayProve else { return nil }
    let proof = connection.proof ?? environment.proofs.challenge()
    connection.proof = proof
    return proof
  }
}
