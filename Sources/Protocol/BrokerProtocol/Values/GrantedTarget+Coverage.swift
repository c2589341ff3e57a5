/// The judgement of a client on an answer to a question for the token of an address.
extension GrantedTarget {
  /// Whether the prefix covers an address: mostly as both are written, else by their parts, which takes longer.
  package func covers(_ address: String) -> Bool {
    let plain = prefix.utf8.contains(UInt8(ascii: "@")) ? address : TargetUser.removed(from: address)
    if plain.utf8.starts(with: prefix.utf8) {
      guard let next = plain.utf8.dropFirst(prefix.utf8.count).first else { return true }
      if "/?#".utf8.contains(next) { return true }
    }
    guard let prefix = try? TargetAddress(prefix: prefix), let address = try? TargetAddress(address) else {
      return false
    }
    return address.isBelow(prefix)
  }
}

extension BrokerError {
  /// Whether the refusal of a question for the token of an address may be about another profile: a broker that knows no
  /// addresses asks the one that is not named.
  package var mayBeAnotherProfiles: Bool {
    ![.unknownTarget, .invalidParams, .deadlineExceeded, .vaultLocked, .shuttingDown].contains(kind)
  }
}
