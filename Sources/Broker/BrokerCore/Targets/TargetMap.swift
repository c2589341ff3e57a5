package import BrokerProtocol

/// The one closed map from servers to tokens: a server that is not in it gets none.
package struct TargetMap: Sendable, Equatable {
  /// How many entries a configuration may have: far more servers than a person has accounts for.
  package static let mostTargets = 1000

  /// The entries, in the order of the configuration.
  package private(set) var targets: [Target] = []
  /// The places of the entries of each server and user, the longest path first.
  private var places: [Server: [Place]] = [:]

  private struct Server: Sendable, Hashable {
    let origin: TargetAddress.Origin
    let user: String?
  }

  private struct Place: Sendable, Equatable {
    let address: TargetAddress
    let index: Int
  }

  /// A map without entries.
  package init() {}

  /// The entries whose profile is visible, in the order of the configuration.
  package func targets(in visible: ProfileMask) -> [Target] {
    visible.isAll ? targets : targets.filter { visible.includes($0.profile) }
  }

  /// Adds an entry.
  ///
  /// - Parameters:
  ///   - target: the entry.
  ///   - address: its `url`, taken apart as a prefix.
  /// - Returns: false where the map has an entry of the same address, and stays as it is.
  package mutating func add(_ target: Target, at address: TargetAddress) -> Bool {
    let server = Server(origin: address.origin, user: address.user)
    var others = places[server] ?? []
    guard !others.contains(where: { $0.address == address }) else { return false }
    let position = others.firstIndex { $0.address.path.count < address.path.count } ?? others.endIndex
    others.insert(Place(address: address, index: targets.count), at: position)
    places[server] = others
    targets.append(target)
    return true
  }

  /// The entry of an address, of those whose profile is visible; nil where there is none.
  ///
  /// Entries for the user that the address names come before those for any user, a whole host before `*.`, and the longest
  /// path first.
  ///
  /// - Throws: why the address cannot be compared.
  package func target(for url: String, in visible: ProfileMask) throws(TargetAddress.Fault) -> Target? {
    let address = try TargetAddress(url)
    let origins = address.origin.patterns
    for user in address.user.map({ [$0, nil] }) ?? [nil] {
      for origin in origins {
        let place = places[Server(origin: origin, user: user)]?.first { place in
          address.isBelow(place.address) && visible.includes(targets[place.index].profile)
        }
        if let place { return targets[place.index] }
      }
    }
    return nil
  }
}
