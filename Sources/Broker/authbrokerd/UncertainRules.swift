import Configuration
import LinuxSystem

/// The rules that this machine's kernel does not keep as they read: for the check of the configuration, and the doctor.
enum UncertainRules {
  /// A sentence for each key that is concerned, naming the first rule with it.
  static func all(
    _ configuration: BrokerConfiguration, _ abilities: @autoclosure () -> PeerProcess.Abilities
  ) -> [String] {
    let rules = configuration.access ?? []
    let places = (unit: rules.firstIndex { $0.unit != nil }, label: rules.firstIndex { $0.label != nil })
    guard places.unit != nil || places.label != nil else { return [] }
    let abilities = abilities()
    var sentences: [String] = []
    if let index = places.unit, !abilities.holdsProcess {
      sentences.append(
        "access.rules[\(index)].client.unit is a label and no boundary here: this kernel cannot hold the process of a "
          + "connection (SO_PEERPIDFD), which Linux 6.5 and later can; tell clients apart by sockets")
    }
    if let index = places.label, !abilities.labels {
      sentences.append(
        "access.rules[\(index)].client.label matches no client here: no security module labels connections "
          + "(SO_PEERSEC); tell clients apart by sockets")
    }
    return sentences
  }
}
