import BrokerCore
import ConfigurationFile

extension Limits {
  /// Reads the section `limits` by walking the table, with the default of each limit that is absent.
  ///
  /// - Parameters:
  ///   - section: the section.
  ///   - outdated: gets the keys of version 0.2 that stand there, and that 0.3 will not have.
  ///   - known: the constants that such a key may set.
  init(
    _ section: inout ConfigurationSection, outdated: inout [String], known: Set<Limit> = Limit.outdated
  ) {
    self.init()
    for row in Limit.rows {
      if !Limit.configurable.contains(row.limit) {
        guard known.contains(row.limit), section.has(row.name) else { continue }
        outdated.append(section.path(of: row.name))
      }
      if !row.isTime {
        self[row.limit] = section.read(WholeNumberSetting(row.name, row.range, standard: row.standard))
      } else if section.value(row.name) != nil {
        let setting = DurationSetting(row.name, row.range, standard: row.range.lowerBound)
        self[row.limit] = section.read(setting).wholeMilliseconds
      }
    }
    section.finish()
  }
}

extension Duration {
  /// The time in milliseconds; a setting has no finer ones.
  fileprivate var wholeMilliseconds: Int {
    Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
  }
}
