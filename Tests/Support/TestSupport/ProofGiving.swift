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
  package static func give(_ proof: StateProof) throws {
    let file = try FileDescriptor.open(proof.path, [.write, .create, .exclusive])
    try file.writeAll(Array(proof.nonce.utf8).span)
  }
}
