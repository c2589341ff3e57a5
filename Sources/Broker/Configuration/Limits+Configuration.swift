import BrokerCore
import ConfigurationFile

extension Limits {
  /// Reads the section `limits` by walking the table, with the default of each limit that is absent.
  init(_ section: inout ConfigurationSection) {
    self.init()
    for row in Limit.rows {
      if row.unit != .seconds {
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
