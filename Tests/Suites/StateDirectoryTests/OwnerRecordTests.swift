import LinuxSystem
import StateDirectory
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct OwnerRecordTests {
  @Test(arguments: [nil, "/etc/c.json", "/odd \"\\\n\u{1}\u{7f} path/é😀"])
  func `what is written is read again`(configuration: String?) throws {
    let record = OwnerRecord(
      pid: 42, version: "1.0.0", configuration: configuration, socket: "/run/b.sock",
      startedAt: "2026-01-02T03:04:05Z")
    let bytes = record.encoded()
    #expect(bytes.last == 10)
    #expect(bytes.dropLast().allSatisfy { $0 != 10 })
    #expect(OwnerRecord(decoding: bytes) == record)
  }

  @Test func `every cut of a record is no record`() {
    let record = OwnerRecord(pid: 1, version: "1", configuration: "/c", socket: "/s", startedAt: "now").encoded()
    for end in 0..<record.count - 1 { #expect(OwnerRecord(decoding: Array(record[..<end])) == nil) }
  }

  @Test func `unknown members are ignored and known ones may stand in any order`() {
    let text = #" { "new" : 7 , "startedAt":"t","socket":"\/s","config":null,"version":"é","pid":3 } "#
    let expected = OwnerRecord(pid: 3, version: "é", configuration: nil, socket: "/s", startedAt: "t")
    #expect(OwnerRecord(decoding: Array(text.utf8)) == expected)
  }

  @Test(arguments: [
    "", "null", "[]", "{}", #"{"pid":-1,"version":"1","socket":"/s","startedAt":"t"}"#,
    #"{"pid":99999999999,"version":"1","socket":"/s","startedAt":"t"}"#,
    #"{"pid":1,"version":"1","socket":"relative","startedAt":"t"}"#,
    #"{"pid":1,"pid":2,"version":"1","socket":"/s","startedAt":"t"}"#,
    #"{"pid":1,"version":"1","socket":"/s","startedAt":"t"} x"#,
    #"{"pid":1,"version":"\ud800","socket":"/s","startedAt":"t"}"#,
  ])
  func `anything else is no record`(text: String) {
    #expect(OwnerRecord(decoding: Array(text.utf8)) == nil)
  }

  @Test(arguments: [0, 1]) func `an owner is the process that was started when its record says`(_ shift: UInt64) throws
  {
    let scratch = Scratch()
    let lock = try FileLock(scratch.path + "/broker.lock")
    let start = try #require(ProcessIdentity.startTime(of: ProcessIdentity.pid))
    let record = OwnerRecord(
      pid: ProcessIdentity.pid, version: "1", configuration: nil, socket: "/s", startedAt: "t",
      startTime: start + shift)
    for bytes in [record.encoded(), OwnerRecord.beginning(pid: record.pid, startTime: record.startTime)] {
      try lock.replaceContents(with: bytes)
      #expect(OwnerRecord.owner(of: lock.path)?.pid == (shift == 0 ? record.pid : nil))
    }
  }

  @Test func `a record is of no process where its lock is free`() throws {
    let scratch = Scratch()
    let path = scratch.path + "/broker.lock"
    let start = ProcessIdentity.startTime(of: ProcessIdentity.pid)
    try FileLock(path).replaceContents(with: OwnerRecord.beginning(pid: ProcessIdentity.pid, startTime: start))
    #expect(OwnerRecord.owner(of: path) == nil)
  }

  @Test func `a record that others could have written is not read`() throws {
    let scratch = Scratch()
    let record = OwnerRecord(pid: 1, version: "1", configuration: nil, socket: "/s", startedAt: "t")
    let lock = try FileLock(scratch.path + "/broker.lock")
    try lock.replaceContents(with: record.encoded())
    #expect(OwnerRecord(at: lock.path) == record)
    #expect(try ChildProcess(.init(path: "/bin/chmod", arguments: ["666", lock.path], environment: [:])).wait() == 0)
    #expect(OwnerRecord(at: lock.path) == nil)
  }
}
