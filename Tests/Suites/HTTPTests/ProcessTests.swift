import LinuxSystem
import TestSupport
import Testing

@testable import HTTP

/// What can only be seen in a process of its own: its environment, and what it has loaded.
@Suite(.standardTimeLimit) struct ProcessTests {
  private static let probe: String = {
    let own = ProcessIdentity.executable.map { PathName.directory(of: $0) } ?? ""
    return [own, Repository.root + "/.build/debug"].map { $0 + "/HTTPProbe" }
      .first { (try? FileStatus.following($0)) != nil } ?? own
  }()

  /// Runs the probe to its end and returns what it printed.
  private func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> String {
    let (here, there) = try FileDescriptor.pipe().ends { ($0.release(), $1.release()) }
    let reader = FileDescriptor(owning: here)
    do {
      // Closed before anything is read: a probe that printed nothing ends the reading, too.
      let writer = FileDescriptor(owning: there)
      var plan = ChildProcess.Plan(path: Self.probe, arguments: arguments, environment: environment)
      // It ends in the middle of a kept connection, which is no leak.
      plan.environment["ASAN_OPTIONS"] = "detect_leaks=0"
      plan.descriptors = [(writer.number, 1), (2, 2)]
      try ChildProcess(plan).wait()
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    guard case .bytes(let count) = reader.read(into: &buffer) else { return "" }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }

  @Test func `Neither libcurl nor OpenSSL is in memory before the first request`() throws {
    let server = ScriptedServer.answering()
    let counts = try run(["maps", server.url().text, "/dev/null"]).split(whereSeparator: \.isWhitespace)
    #expect(counts.first == "0")
    #expect(Int(counts.last ?? "") ?? 0 > 0)
  }

  /// Sanitizers keep what was freed, and shadows of it: there is nothing to be said about copies under one.
  private static var isWatched: Bool {
    Environment.current["ASAN_OPTIONS"] == nil && Environment.current["TSAN_OPTIONS"] == nil
  }

  @Test(.enabled(if: isWatched, "a sanitizer keeps what was freed"), arguments: [ScriptedServer.Face.plain, .good])
  func `After a call neither token nor body nor response is left in memory, libcurl's and OpenSSL's included`(
    _ face: ScriptedServer.Face
  ) throws {
    let received = "a-secret-of-the-response-0123456789"
    let server = ScriptedServer.answering(face, #"{"accessToken":"\#(received)"}"#)
    let pattern = ScriptedServer.hexadecimal(received)
    let counts = try run(["search", server.url().text, ScriptedServer.caFile, pattern])
    // While the connection is kept, and after the end.
    #expect(counts == "0 0\n0 0\n")
    #expect(server.requests.count == 3)
  }

  @Test(
    .enabled(if: isWatched, "a sanitizer keeps what was freed"),
    .enabled(if: (try? FileStatus.following("/usr/bin/openssl")) != nil, "openssl is not installed"))
  func `After a signature no private key is left in memory, nor what is sent and received afterwards`() throws {
    let scratch = Scratch()
    _ = try output(of: ["/usr/bin/openssl", "genrsa", "-out", scratch.file("key"), "2048"])
    let received = "a-secret-of-the-response-0123456789"
    let server = ScriptedServer.answering(.good, #"{"accessToken":"\#(received)"}"#)
    let pattern = ScriptedServer.hexadecimal(received)
    let printed = try run(["signed", server.url().text, ScriptedServer.caFile, pattern, scratch.file("key")])
    // libcrypto is loaded with the first key, keys are found nowhere, and then no token.
    #expect(printed == "true true 0\n0 0\n0 0\n")
  }

  @Test(arguments: ["get", "raw"])
  func `A planted netrc, key log, authority and proxy have no effect`(_ command: String) throws {
    let folder = try TemporaryDirectory(prefix: "ab-http", in: Scratch.parent)
    let netrc = Array("machine localhost login planted password planted\ndefault login planted password planted\n".utf8)
    try FileDescriptor.open(folder.path + "/.netrc", [.write, .create]).writeAll(netrc.span)
    let server = ScriptedServer.answering(.good)
    let elsewhere = ScriptedServer.answering()
    let proxy = "http://127.0.0.1:\(elsewhere.port)"
    let environment = [
      "HOME": folder.path, "NETRC": folder.path + "/.netrc", "SSLKEYLOGFILE": folder.path + "/keys",
      "https_proxy": proxy, "HTTPS_PROXY": proxy, "all_proxy": proxy, "ALL_PROXY": proxy,
      "CURL_CA_BUNDLE": "/dev/null", "SSL_CERT_FILE": "/dev/null", "SSL_CERT_DIR": "/proc/nonexistent",
    ]
    let printed = try run([command, server.url().text, ScriptedServer.caFile], environment)
    #expect(printed == "200\n")
    #expect(server.requests.count == 1)
    #expect(server.requests[0].contains("\r\nAuthorization: Bearer a-token-of-a-probe\r\n"))
    #expect(!server.requests[0].contains("Basic"))
    #expect(elsewhere.connections == 0)
    // libcurl itself would write the keys: what prevents it is that the daemon scrubs its environment when it starts.
    let isKeyLogWritten = (try? FileStatus.following(folder.path + "/keys")) != nil
    #expect(isKeyLogWritten == (command == "raw"))
  }

  @Test(.enabled(if: isWatched, "a sanitizer keeps what was freed"), arguments: ["down", "up"])
  func `However much passes by a side that is slow, the memory stays what it was`(_ way: String) throws {
    let size = 100 << 20
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"
    let first: [ScriptedServer.Step] = [.read, .send(ScriptedServer.reply(200, "{}"))]
    // What is not repeated gets a connection of its own.
    let server =
      way == "down"
      ? ScriptedServer(.plain, first + [.read, .send(head), .pour(size)])
      : ScriptedServer(.plain, first + [.wait], [.swallow, .send(ScriptedServer.reply(200, ""))])
    let numbers = try run([way, server.url().text, "/dev/null", "\(size)"]).split(whereSeparator: \.isWhitespace)
    #expect(numbers.first == "\(size)")
    #expect(Int(numbers.last ?? "") ?? .max <= 2048)
  }
}
