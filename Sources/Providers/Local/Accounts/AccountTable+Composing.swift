import ProviderKit
import SQLite

extension AccountTable {
  /// Brings the addresses and names of earlier versions to the form in which new ones are stored.
  ///
  /// An address stays as it is where another account has its form, or where it has none: no login finds such an account
  /// any more, its sessions go on, and the owner of the state directory deletes it. Names lose what no new name may hold.
  ///
  /// - Throws: `SQLiteError`.
  func composeNames() throws(SQLiteError) {
    var rows: [(id: String, email: String, name: String?)] = []
    do {
      let query = try connection.prepare("SELECT id, email, name FROM account ORDER BY created_at, id")
      while try query.step() {
        rows.append((try query.text(at: 0), try query.text(at: 1), query.isNull(at: 2) ? nil : try query.text(at: 2)))
      }
    }
    for row in rows {
      let name = row.name.flatMap { AccountName(SanitizedText($0).text)?.text }
      try compose(row.id, EmailAddress(row.email)?.text ?? row.email, name)
    }
  }

  private func compose(_ id: String, _ email: String, _ name: String?) throws(SQLiteError) {
    let rename = try connection.prepare("UPDATE account SET name = ?2 WHERE id = ?1")
    try rename.bind(id, at: 1)
    if let name { try rename.bind(name, at: 2) }
    try rename.run()
    let move = try connection.prepare("UPDATE OR IGNORE account SET email = ?2 WHERE id = ?1")
    try move.bind(id, at: 1)
    try move.bind(email, at: 2)
    try move.run()
  }
}
