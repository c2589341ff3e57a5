import BrokerCore
import BrokerProtocol
import Records
import SQLite
import SecretMemory

/// The requests that clients have queued, without what is sent.
struct QueuedRequestTable: BoundTable {
  static let kind = Manifest.Table.queuedRequest
  static let table = "queued_request"
  static let selection: StaticString =
    "SELECT name, provider_type, issuer, client_id, format, sealed FROM queued_request"
  static let replacement: StaticString =
    """
    REPLACE INTO queued_request (name, provider_type, issuer, client_id, format, sealed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    """
  static let removal: StaticString = "DELETE FROM queued_request WHERE name = ?1"
  static let resealing: StaticString = "UPDATE queued_request SET sealed = ?2 WHERE name = ?1"

  let connection: SQLiteConnection
  let seal: VaultSeal

  /// The row's name.
  static func name(of id: QueuedRequest.ID) -> String { NumberedName(id.profile, id.number).text }

  static func value(of row: borrowing Statement, _ opened: OpenedRow) throws -> QueuedRequest? {
    guard let name = NumberedName(opened.name), let binding = opened.place.binding else { return nil }
    let id = QueuedRequest.ID(profile: name.profile, number: name.number)
    return try QueuedRequestCoding.decode(opened.plaintext, id, binding)
  }

  /// Keeps a request in place of what was kept of it.
  ///
  /// - Returns: the tag of its row.
  /// - Throws: `VaultError.storage`.
  func keep(_ request: QueuedRequest) throws(VaultError) -> RowTag? {
    try put(QueuedRequestCoding.encode(request), as: Self.name(of: request.id), of: request.binding)
  }

  /// Forgets every request of a profile, listed or not.
  ///
  /// - Throws: `VaultError.storage`.
  func forgetAll(of profile: ProfileName) throws(VaultError) {
    try connection.removeRows("DELETE FROM queued_request WHERE name >= ?1 || '/' AND name < ?1 || '0'", of: profile)
  }
}

/// The contents of queued requests – what is sent, or what came –: up to 512 KiB each, opened when it is needed, into ordinary memory.
struct QueuedContentsTable {
  /// The vault's database.
  let connection: SQLiteConnection
  /// Seals and opens the contents.
  let seal: VaultSeal

  private static func place(_ name: String, isAnswer: Int64, format: Int64) -> SealedPlace {
    SealedPlace(table: "queued_contents", row: name, format: format, numbers: [isAnswer])
  }

  /// Keeps the contents of a request in place of the earlier ones.
  ///
  /// - Throws: `VaultError.storage`.
  func keep(_ contents: QueuedContents, of id: QueuedRequest.ID) throws(VaultError) {
    let name = QueuedRequestTable.name(of: id)
    let (isAnswer, bytes) = QueuedContentsCoding.encode(contents)
    let number: Int64 = isAnswer ? 1 : 0
    let box = seal.seal(bytes.span, at: Self.place(name, isAnswer: number, format: SealedPlace.currentFormat))
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        "REPLACE INTO queued_contents (name, is_answer, format, sealed) VALUES (?1, ?2, ?3, ?4)")
      try statement.bind(name, at: 1)
      try statement.bind(number, at: 2)
      try statement.bind(SealedPlace.currentFormat, at: 3)
      try statement.bind(box, at: 4)
      try statement.run()
    } catch { throw .storage(error) }
  }

  /// Opens the contents of a request.
  ///
  /// - Returns: nil where there are none.
  /// - Throws: `StoreFailure.tampered` where they are not what was written, `.failed`.
  func contents(of id: QueuedRequest.ID) throws(StoreFailure) -> QueuedContents? {
    let name = QueuedRequestTable.name(of: id)
    let found: QueuedContents?
    do throws(SQLiteError) {
      let row = try connection.prepare("SELECT is_answer, format, sealed FROM queued_contents WHERE name = ?1")
      try row.bind(name, at: 1)
      guard try row.step() else { return nil }
      let isAnswer = try row.int64(at: 0)
      let bytes = try opened(row, 2, Self.place(name, isAnswer: isAnswer, format: try row.int64(at: 1)))
      found = bytes.flatMap { QueuedContentsCoding.decode($0, isAnswer: isAnswer == 1) }
    } catch { throw StoreFailure(.storage(error)) }
    guard let found else { throw .tampered(profile: id.profile) }
    return found
  }

  private func opened(
    _ row: borrowing Statement, _ column: Int32, _ place: SealedPlace
  ) throws(SQLiteError) -> [UInt8]? {
    try row.withBlob(at: column) { box in seal.openOrdinary(box, at: place) }
  }

  /// Removes the contents of the request whose row has a name.
  ///
  /// - Throws: `VaultError.storage`.
  func remove(_ name: String) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare("DELETE FROM queued_contents WHERE name = ?1")
      try statement.bind(name, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }

  /// Forgets the contents of every request of a profile.
  ///
  /// - Throws: `VaultError.storage`.
  func forgetAll(of profile: ProfileName) throws(VaultError) {
    try connection.removeRows("DELETE FROM queued_contents WHERE name >= ?1 || '/' AND name < ?1 || '0'", of: profile)
  }

  /// Seals all contents that open under another key; those that do not stay as they are, and open no more.
  ///
  /// - Throws: `VaultError.storage`.
  func reseal(with new: VaultSeal) throws(VaultError) {
    do throws(SQLiteError) {
      var names: [String] = []
      let rows = try connection.prepare("SELECT name FROM queued_contents")
      while try rows.step() { names.append(try rows.text(at: 0)) }
      for name in names { try reseal(name, with: new) }
    } catch { throw .storage(error) }
  }

  private func reseal(_ name: String, with new: VaultSeal) throws(SQLiteError) {
    let box: [UInt8]
    do {
      let row = try connection.prepare("SELECT is_answer, format, sealed FROM queued_contents WHERE name = ?1")
      try row.bind(name, at: 1)
      guard try row.step() else { return }
      let place = Self.place(name, isAnswer: try row.int64(at: 0), format: try row.int64(at: 1))
      guard let bytes = try opened(row, 2, place) else { return }
      box = new.seal(bytes.span, at: place)
    }
    let update = try connection.prepare("UPDATE queued_contents SET sealed = ?2 WHERE name = ?1")
    try update.bind(name, at: 1)
    try update.bind(box, at: 2)
    try update.run()
  }
}

extension SQLiteConnection {
  /// Removes the rows whose names begin with a profile's and a stroke: the zero is the character behind the stroke.
  ///
  /// - Throws: `VaultError.storage`.
  func removeRows(_ removal: StaticString, of profile: ProfileName) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try prepare(removal)
      try statement.bind(profile.description, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }
}
