#if !hasFeature(Embedded)
import BrokerProtocol
import ClientSocket
import JSON
import LinuxSystem

/// Calls of methods for clients that have the state directory.
extension ClientChannel {
  /// Sends a request; where it is refused for want of a proof, gives the proof and sends the request again.
  ///
  /// The second request has the id of the first, which is answered, so that it can be cancelled by that name.
  func sendProving(_ id: Int64, _ method: String, _ params: some JSONEncodable & Sendable, _ handler: @escaping Handler)
  {
    send(id, method, params) { [weak self] answer in
      guard let self, case .refusal(let refusal) = answer, let asked = refusal.proofPath(for: method, params) else {
        return handler(answer)
      }
      do throws(StateProofFile.Refusal) { try prove(asked) } catch {
        return handler(.refusal(refusal.unproven(error)))
      }
      send(id, method, params, handler)
    }
  }

  /// Makes the file and asks the broker to look at it.
  ///
  /// Only the reading thread does this, and the broker takes requests in order: a file that is there already was made
  /// for an earlier request, whose `prove` the broker has read by then.
  ///
  /// - Throws: why there is no use in sending the request again.
  private func prove(_ asked: String) throws(StateProofFile.Refusal) {
    let file = try StateProofFile(asked: asked, in: stateDirectory, for: socket)
    guard try file.create() else { return }
    send(nextID(), Prove.name, Prove.Params()) { _ in file.remove() }
  }
}
#endif
