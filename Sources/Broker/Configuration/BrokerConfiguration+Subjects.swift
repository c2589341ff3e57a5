import BrokerProtocol
import ConfigurationFile
import ProviderKit

/// The profiles that get their tokens for those of other ones.
extension BrokerConfiguration {
  /// Reports each `from` that names no profile, or leads back to its own.
  static func checkSubjects(_ profiles: [ProfileConfiguration], _ root: ConfigurationSection) {
    let subjects = Dictionary(
      profiles.compactMap { profile in
        if case .remote(let remote) = profile.provider, !remote.subjects.isEmpty {
          (profile.name, remote.subjects)
        } else {
          nil
        }
      }
    ) { first, _ in first }
    guard !subjects.isEmpty else { return }
    let section = root.section("profiles", at: root.node(at: "profiles"))
    // Those of the file: a profile with a mistake is no reason for another one here.
    let names = section.namedMembers()
    for (name, references) in subjects.sorted(by: { $0.key < $1.key }) {
      guard let value = names.first(where: { $0.name == name.description })?.value else { continue }
      let profile = section.section(name.description, at: value)
      for (key, subject) in references {
        if !names.contains(where: { $0.name == subject.description }) {
          let nearest = Spelling.nearest(to: subject.description, among: names.map(\.name))
          report(
            key, "names a profile that is not configured",
            nearest.map { "did you mean \"\($0)\"?" } ?? "add it to profiles", in: profile)
        } else if leads(subject, to: name, subjects) {
          report(key, "leads in a circle back to the profile \(name)", "name one that someone logs in to", in: profile)
        }
      }
    }
  }

  private static func report(_ key: String, _ message: String, _ advice: String, in profile: ConfigurationSection) {
    let parts = key.split(separator: ".").map(String.init)
    let inner = profile.section(parts[0], at: profile.node(at: parts[0]))
    inner.report(parts[parts.count - 1], message, advice)
  }

  /// Whether the tokens of one profile are, after any number of steps, issued for those of another.
  private static func leads(
    _ start: ProfileName, to end: ProfileName, _ subjects: [ProfileName: [(key: String, profile: ProfileName)]]
  ) -> Bool {
    var (seen, waiting) = (Set<ProfileName>(), [start])
    while let name = waiting.popLast() {
      if name == end { return true }
      if seen.insert(name).inserted { waiting += (subjects[name] ?? []).map(\.profile) }
    }
    return false
  }
}
