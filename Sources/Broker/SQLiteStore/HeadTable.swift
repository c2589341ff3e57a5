import Records
import SQLite
import Sealing

/// The one row with the head of the vault, and the rows of the manifest under it.
struct HeadTable {
  /// The vault's database.
  let connection: SQLiteConnection

  /// The sequence that stands in the clear; nil where there is no row.
  ///
  /// - Throws: `VaultError.storage`.
  func sequence() throws(VaultError) -> UInt64? {
    do throws(SQLiteError) {
      let row = try connection.prepare("SELECT sequence FROM head")
      return try row.step() ? UInt64(bitPattern: try row.int64(at: 0)) : nil
    } catch { throw .storage(error) }
  }

  /// Raises the sequence that stands in the clear; the seal says nothing of it.
  ///
  /// - Throws: `VaultError.storage`.
  func setSequence(_ sequence: UInt64) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare("UPDATE head SET sequence = ?1")
      try statement.bind(Int64(bitPattern: sequence), at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }

  /// The head; nil when it is missing or not what was written.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func head(_ seal: VaultSeal) throws(VaultError) -> VaultHead? {
    do {
      let row = try connection.prepare("SELECT generation, sealed FROM head")
      guard try row.step() else { return nil }
      let place = Self.place(generation: try row.int64(at: 0))
      let bytes = try row.withBlob(at: 1) { try seal.openBytes($0, at: place) }
      guard let head = VaultHead(decoding: bytes), Int64(bitPattern: head.generation) == (try row.int64(at: 0)) else {
        return nil
      }
      return head
    } catch { return try nothing(error) }
  }

  /// Seals the head and writes it with the sequence beside it.
  ///
  /// - Throws: `VaultError.storage`.
  func write(_ head: VaultHead, sequence: UInt64, _ seal: VaultSeal) throws(VaultError) {
    let generation = Int64(bitPattern: head.generation)
    let box = seal.seal(head.encoded().span, at: Self.place(generation: generation))
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        """
        INSERT INTO head (only, generation, sequence, sealed) VALUES (1, ?1, ?2, ?3)
        ON CONFLICT (only) DO UPDATE SET
          generation = excluded.generation, sequence = excluded.sequence, sealed = excluded.sealed
        """)
      try statement.bind(generation, at: 1)
      try statement.bind(Int64(bitPattern: sequence), at: 2)
      try statement.bind(box, at: 3)
      try statement.run()
    } catch { throw .storage(error) }
  }

  /// The rows of a bucket with the tag that the head must know it by; nil when it is not what was written.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func bucket(_ bucket: Int, tag: RowTag, _ seal: VaultSeal) throws(VaultError) -> [Manifest.Row: RowTag]? {
    do {
      let row = try connection.prepare("SELECT generation, sealed FROM manifest WHERE bucket = ?1")
      try row.bind(Int64(bucket), at: 1)
      guard try row.step() else { return tag == .none ? [:] : nil }
      guard try row.withBlob(at: 1, { RowTag(ofBox: $0) }) == tag else { return nil }
      let place = Self.place(bucket: bucket, generation: try row.int64(at: 0))
      let bytes = try row.withBlob(at: 1) { try seal.openBytes($0, at: place) }
      return Manifest.decode(bytes, bucket: bucket)
    } catch { return try nothing(error) }
  }

  /// Seals a bucket and writes it.
  ///
  /// - Returns: the tag that the head knows it by.
  /// - Throws: `VaultError.storage`.
  func write(_ manifest: Manifest, bucket: Int, generation: UInt64, _ seal: VaultSeal) throws(VaultError) -> RowTag {
    let generation = Int64(bitPattern: generation)
    let box = seal.seal(
      manifest.encoded(bucket: bucket).span, at: Self.place(bucket: bucket, generation: generation))
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        "REPLACE INTO manifest (bucket, generation, sealed) VALUES (?1, ?2, ?3)")
      try statement.bind(Int64(bucket), at: 1)
      try statement.bind(generation, at: 2)
      try statement.bind(box, at: 3)
      try statement.run()
    } catch { throw .storage(error) }
    return RowTag(ofBox: box.span) ?? .none
  }

  private static func place(generation: Int64) -> SealedPlace {
    SealedPlace(table: "head", row: "1", numbers: [generation])
  }

  private static func place(bucket: Int, generation: Int64) -> SealedPlace {
    SealedPlace(table: "manifest", row: String(bucket), numbers: [generation])
  }

  /// Returns nil for a row that cannot be opened, and throws a failure of the disk or of memory.
  private func nothing<R>(_ error: any Error) throws(VaultError) -> R? {
    switch error {
    case let error as SQLiteError where error.code != .mismatch: throw .storage(error)
    case SealingError.secretMemoryExhausted: throw .secretMemoryExhausted
    default: return nil
    }
  }
}
