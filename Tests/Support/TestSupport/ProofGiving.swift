package import BrokerProtocol
import JSON
import LinuxSystem

/// Shows a broker that the test has its state directory, as any client would.
package enum ProofGiving {
  /// The request that ends it.
  package static let request = #"{"jsonrpc":"2.0","id":"prove","method":"prove"}"#

  /// The proof that an answer asks for; nil if it asks for none.
  package static func wanted(by answer: some StringProtocol) -> StateProof? {
    guard answer.contains(#""proof":{"#), let root = try? JSONDocument(parsing: Array(answer.utf8)).root,
      let proof = root["error"]?["data"]?["proof"]
    else { return nil }
    return try? StateProof(from: proof)
  }

  /// Makes the file.
  ///
  /// - Parameters:
  ///   - proof: what was asked for.
  ///   - process: the one that made the connection: this one, or a relay that it started.
  /// - Throws: what open(2) says.
  package static func give(_ proof: StateProof, by process: Int32 = ProcessIdentity.pid) throws {
    _ = try FileDescriptor.open(file(of: proof, by: process), [.write, .create, .exclusive])
  }

  /// Where that file is.
  package static func file(of proof: StateProof, by process: Int32 = ProcessIdentity.pid) -> String {
    "\(proof.path).\(process)"
  }
}
