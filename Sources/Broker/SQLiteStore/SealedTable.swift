import Records
import SQLite
import Sealing
import SecretMemory

/// A table with one sealed value a row, whose rows the manifest lists.
///
/// Rows are read with the name in the first column and the box in the last one.
protocol SealedTable {
  /// The contents of a box.
  associatedtype Value

  /// The table's name in the manifest.
  static var kind: Manifest.Table { get }
  /// Reads all rows: the name first, the box last.
  static var selection: StaticString { get }
  /// How many columns the selection has.
  static var columnCount: Int32 { get }
  /// Exchanges the box (?2) and the key's identifier (?3) of a row (?1).
  static var resealing: StaticString { get }

  /// The vault's database.
  var connection: SQLiteConnection { get }
  /// Seals and opens the values of the rows.
  var seal: VaultSeal { get }

  /// The place that a row's box is bound to, from the row's other columns; nil for columns that no row of ours has.
  static func place(of row: borrowing Statement, named name: String) throws(SQLiteError) -> SealedPlace?
  /// The value of a row, from its other columns and its opened box; nil for contents that do not belong there.
  static func value(of row: borrowing Statement, _ opened: OpenedRow) throws -> Value?
}

/// Reads a column; returns nil for a value of another type, which no row of ours has.
///
/// - Throws: what else the database says: a row that the disk or the memory refuses is not left out.
func ifReadable<R>(_ read: () throws(SQLiteError) -> R) throws(SQLiteError) -> R? {
  do throws(SQLiteError) { return try read() } catch {
    guard error.code == .mismatch else { throw error }
    return nil
  }
}

/// One row as it was found.
struct FoundRow<Value> {
  /// Its name; nil when not even that can be read.
  var name: String?
  /// The tag of its box; nil when there is no box.
  var tag: RowTag?
  /// The value; nil when it is not what was sealed for this place.
  var value: Value?
}

extension SealedTable {
  /// Hands each row to a closure, in no order; a row that does not open does not stop the others.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func forEachRow(_ body: (consuming FoundRow<Value>) -> Void) throws(VaultError) {
    do {
      let rows = try connection.prepare(Self.selection)
      while try rows.step() { body(try row(rows)) }
    } catch { throw VaultError(whileReading: error) }
  }

  /// All rows, in no order.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func rows() throws(VaultError) -> [FoundRow<Value>] {
    var found: [FoundRow<Value>] = []
    try forEachRow { found.append($0) }
    return found
  }

  /// Reads the row that a statement is on.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func row(_ row: borrowing Statement) throws(VaultError) -> FoundRow<Value> {
    var found = FoundRow<Value>()
    do {
      let name = try row.text(at: 0)
      found.name = name
      found.tag = try row.withBlob(at: Self.columnCount - 1) { RowTag(ofBox: $0) }
      guard let place = try Self.place(of: row, named: name) else { return found }
      let plaintext = try row.withBlob(at: Self.columnCount - 1) { try seal.open($0, at: place) }
      found.value = try Self.value(of: row, OpenedRow(place: place, plaintext: plaintext, seal: seal))
    } catch SealingError.secretMemoryExhausted {
      throw .secretMemoryExhausted
    } catch is SecretMemoryExhausted {
      // What was carried along from a newer version found no room: that is no reason to call the row forged.
      throw .secretMemoryExhausted
    } catch let error as SQLiteError where error.code != .mismatch {
      // What the disk or the memory refuses is no forgery: the row may be read the next time.
      throw .storage(error)
    } catch {
      // What does not open is told by its absence.
    }
    return found
  }

  /// Seals every row that opens under another key; one that does not open stays as it is, and opens no more.
  ///
  /// - Parameters:
  ///   - new: what the rows are sealed with from now on.
  ///   - manifest: gets the new tags of those rows that it listed.
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func reseal(with new: VaultSeal, in manifest: inout Manifest) throws(VaultError) {
    var boxes: [(name: String, box: [UInt8])] = []
    do {
      let rows = try connection.prepare(Self.selection)
      while try rows.step() {
        guard let name = try ifReadable({ () throws(SQLiteError) in try rows.text(at: 0) }),
          let place = try ifReadable({ () throws(SQLiteError) in try Self.place(of: rows, named: name) }) ?? nil
        else { continue }
        let tag = try rows.withBlob(at: Self.columnCount - 1) { RowTag(ofBox: $0) }
        guard tag != nil, tag == manifest[Self.kind, name] else { continue }
        guard let plaintext = try rows.withBlob(at: Self.columnCount - 1, { try unsealed($0, at: place) }) else {
          continue
        }
        let box: [UInt8] = plaintext.withBytes { new.seal($0, at: place) }
        boxes.append((name, box))
      }
      for (name, box) in boxes {
        let update = try connection.prepare(Self.resealing)
        try update.bind(name, at: 1)
        try update.bind(box, at: 2)
        if Self.kind == .session { try update.bind(new.key.id.bytes, at: 3) }
        try update.run()
        manifest[Self.kind, name] = RowTag(ofBox: box.span)
      }
    } catch { throw VaultError(whileReading: error) }
  }

  private func unsealed(_ box: Span<UInt8>, at place: SealedPlace) throws(VaultError) -> Secret? {
    do throws(SealingError) {
      return try seal.open(box, at: place)
    } catch {
      if error == .secretMemoryExhausted { throw .secretMemoryExhausted }
      return nil
    }
  }
}
