import BrokerCore

extension Limits {
  /// Reads the section `limits` by walking the table, with the default of each limit that is absent.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value or unknown key.
  init(_ section: inout ConfigurationSection) throws(ConfigurationError) {
    self.init()
    for row in Limit.rows {
      if row.unit != .seconds {
        self[row.limit] = try section.read(WholeNumberSetting(row.name, row.range, standard: row.standard))
      } else if section.has(row.name) {
        let setting = DurationSetting(row.name, row.range, standard: row.range.lowerBound)
        self[row.limit] = try section.read(setting).wholeMilliseconds
      } else {
        section.note(row.name)
      }
    }
    try section.refuseUnknownKeys()
  }
}

extension Duration {
  /// The time in milliseconds; a setting has no finer ones.
  fileprivate var wholeMilliseconds: Int {
    Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
  }
}
