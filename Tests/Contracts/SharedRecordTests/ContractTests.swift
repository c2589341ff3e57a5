import Fleet
import TestSupport
import Testing

/// The promises of a place for shared records: every one passes them.
@Suite(.standardTimeLimit) struct SharedRecordContractTests {
  @Test(
    .enabled(
      if: RecordPlace.Kind.areComplete, "PostgreSQL or its pool is not installed (packages postgresql, pgbouncer)"))
  func `a database keeps what is written through either pool`() async throws {
    for kind in [RecordPlace.Kind.sessionPool, .transactionPool] {
      try await RecordPlace.with(kind) { place async throws in
        #expect(try await place.write([7], as: "a", from: nil, to: 1) == true)
        #expect(try await place.read("a").rows == ["a": SharedRow(version: 1, bytes: [7])])
      }
    }
  }

  @Test(arguments: RecordPlace.Kind.allCases) func `a record is there as it was written, with its version`(
    _ kind: RecordPlace.Kind
  ) async throws {
    try await RecordPlace.with(kind) { place async throws in
      #expect(try await place.read().rows.isEmpty)
      #expect(try await place.write([0, 255, 1], as: "a", from: nil, to: 1) == true)
      #expect(try await place.write([], as: "b", from: nil, to: 7) == true)
      #expect(try await place.read("a").rows == ["a": SharedRow(version: 1, bytes: [0, 255, 1])])
      #expect(try await place.read("c").rows.isEmpty)
      let all = try await place.read().rows
      #expect(all == ["a": SharedRow(version: 1, bytes: [0, 255, 1]), "b": SharedRow(version: 7, bytes: [])])
    }
  }

  @Test(arguments: RecordPlace.Kind.allCases) func `a record is written over the version that was read alone`(
    _ kind: RecordPlace.Kind
  ) async throws {
    try await RecordPlace.with(kind) { place async throws in
      #expect(try await place.write([1], as: "a", from: nil, to: 1) == true)
      #expect(try await place.write([2], as: "a", from: nil, to: 1) == false)
      #expect(try await place.write([2], as: "a", from: 1, to: 2) == true)
      #expect(try await place.write([3], as: "a", from: 1, to: 2) == false)
      #expect(try await place.write([3], as: "a", from: 3, to: 4) == false)
      #expect(try await place.write([3], as: "a", from: 2, to: 9) == true)
      #expect(try await place.read("a").rows["a"] == SharedRow(version: 9, bytes: [3]))
    }
  }

  @Test(arguments: RecordPlace.Kind.allCases) func `a record that is not there is made by the first write alone`(
    _ kind: RecordPlace.Kind
  ) async throws {
    try await RecordPlace.with(kind) { place async throws in
      #expect(try await place.write([1], as: "a", from: 4, to: 5) == false)
      #expect(try await place.read().rows.isEmpty)
    }
  }

  @Test(arguments: RecordPlace.Kind.allCases) func `of writers that come together one alone writes`(
    _ kind: RecordPlace.Kind
  ) async throws {
    try await RecordPlace.with(kind) { place async throws in
      #expect(try await place.write([0], as: "a", from: nil, to: 1) == true)
      let written = try await withThrowingTaskGroup(of: Bool.self) { group in
        for writer in 1...20 {
          group.addTask { try await place.write([UInt8(writer)], as: "a", from: 1, to: 2) }
        }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(written == 1)
      #expect(try await place.read("a").rows["a"]?.version == 2)
    }
  }

  @Test(arguments: RecordPlace.Kind.allCases) func `a reading by known versions finds what a whole one does`(
    _ kind: RecordPlace.Kind
  ) async throws {
    try await RecordPlace.with(kind) { place async throws in
      let names = ["", "a", "b\"\\,{", "ünï", "e f"]
      for (version, name) in zip(Int64(1)..., names) {
        #expect(try await place.write([UInt8(version)], as: name, from: nil, to: version) == true)
      }
      let all = try await place.read().rows
      // Every record as it is known, as another version, not at all; and one that is not there.
      for (index, name) in names.enumerated() {
        for known in [Int64(index) + 1, 99, nil] {
          let wanted = names.map { WantedRecord($0, version: $0 == name ? known : all[$0]?.version) }
          let found = try await place.read(wanted)
          #expect(found.rows == all.filter { $0.key == name && known != $0.value.version })
          #expect(found.gone.isEmpty && found.time > 0)
        }
      }
      let found = try await place.read([WantedRecord("g", version: 7), WantedRecord("h", version: nil)])
      #expect(found.rows.isEmpty && found.gone == ["g"])
      #expect(try await place.read([]).rows.isEmpty)
    }
  }

  @Test(arguments: RecordPlace.Kind.allCases) func `the clock is that of the place, and does not go back`(
    _ kind: RecordPlace.Kind
  ) async throws {
    try await RecordPlace.with(kind) { place async throws in
      let first = try await place.read().time
      #expect(try await place.read("a").time >= first)
      #expect(first > 0)
    }
  }

  @Test(arguments: RecordPlace.Kind.allCases) func `records of fifty thousand bytes, and of any name, are kept`(
    _ kind: RecordPlace.Kind
  ) async throws {
    try await RecordPlace.with(kind) { place async throws in
      let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
      for name in ["", "a'b\"c", "ünï", "a b"] {
        #expect(try await place.write(bytes, as: name, from: nil, to: 1) == true)
      }
      #expect(try await place.read("a'b\"c").rows["a'b\"c"]?.bytes == bytes)
      #expect(try await place.read().rows.count == 4)
    }
  }

  @Test(arguments: RecordPlace.Kind.allCases) func `records are written together, or none of them`(
    _ kind: RecordPlace.Kind
  ) async throws {
    try await RecordPlace.with(kind) { place async throws in
      #expect(try await place.write([1], as: "a", from: nil, to: 1) == true)
      #expect(try await place.write([1], as: "it's \"b\"", from: nil, to: 4) == true)
      let before = try await place.read().rows
      let a = SharedWrite([0, 255], as: "a", from: 1, to: 2)
      let b = SharedWrite([], as: "it's \"b\"", from: 4, to: 9)
      let new = SharedWrite([3], as: "", from: nil, to: 1)
      // Another version of one; one that is there, and one that is not.
      for wrong in [
        SharedWrite([9], as: "it's \"b\"", from: 3, to: 9), SharedWrite([9], as: "it's \"b\"", from: nil, to: 9),
        SharedWrite([9], as: "c", from: 1, to: 2),
      ] {
        for changes in [[a, wrong, new], [wrong, a], [new, wrong], [wrong]] {
          #expect(try await place.write(changes) == false)
          #expect(try await place.read().rows == before)
        }
      }
      #expect(try await place.write([a, b, new]) == true)
      let after = try await place.read().rows
      #expect(
        after == [
          "a": SharedRow(version: 2, bytes: [0, 255]), "it's \"b\"": SharedRow(version: 9, bytes: []),
          "": SharedRow(version: 1, bytes: [3]),
        ])
      #expect(try await place.write([a, b, new]) == false)
      #expect(try await place.read().rows == after)
    }
  }

  @Test(arguments: RecordPlace.Kind.allCases) func `of writers of the same records one writes all, and the others none`(
    _ kind: RecordPlace.Kind
  ) async throws {
    try await RecordPlace.with(kind) { place async throws in
      let names = (0..<5).map { "r\($0)" }
      for name in names { #expect(try await place.write([0], as: name, from: nil, to: 1) == true) }
      let written = try await withThrowingTaskGroup(of: Bool.self) { group in
        for writer in 1...10 {
          group.addTask {
            let all = names.map { SharedWrite([UInt8(writer)], as: $0, from: 1, to: 2) }
            return try await place.write(writer.isMultiple(of: 2) ? all : all.reversed())
          }
          group.addTask { try await place.write([100], as: "r\(writer % 5)", from: 1, to: 2) }
        }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      let rows = try await place.read().rows
      #expect(rows.values.allSatisfy { $0.version <= 2 })
      let bytes = Set(rows.values.map(\.bytes)).subtracting([[0], [100]])
      // All of one writer, or some of those that write one alone.
      if bytes.isEmpty { #expect(written > 0) } else { #expect(bytes.count == 1 && written == 1) }
    }
  }
}
