import Glibc
import HTTP
import LinuxSystem
import SecretMemory

// HTTPProbe COMMAND URL CA-FILE [COUNT]
//
//   get    prepares itself as the daemon does, sends one request with a token, prints the status
//   raw    the same without the preparation: shows what the preparation is for
//   maps   prints how many mappings of libcurl and OpenSSL there are before and after the first request
//   bench  sends COUNT requests, one after another, and prints the median of their times in nanoseconds
//   post   the same with requests that may be sent once
//   search sends a request with a random token, then prints how often that token, and the text whose bytes are COUNT in
//          hexadecimal, are found in its memory: while the connection is kept, and after the end of the client

/// How many mappings of libraries that a request brings this process has.
func mappings() throws -> Int {
  let maps = try FileDescriptor.open("/proc/self/maps", .read).contents(limit: 1 << 20)
  let text = String(decoding: maps, as: UTF8.self)
  return text.split(separator: "\n").filter {
    $0.contains("libcurl") || $0.contains("libssl") || $0.contains("libcrypto")
  }
  .count
}

/// A text that shall not be in memory: kept in disguise.
struct Pattern {
  private static let mask: UInt8 = 0x5A
  private let masked: [UInt8]

  init(masking bytes: some Sequence<UInt8>) {
    masked = bytes.map { $0 ^ Self.mask }
  }

  /// A secret of these bytes.
  func secret() throws -> Secret {
    try Secret(byteCount: masked.count) { span in
      for index in span.indices { span[index] = masked[index] ^ Self.mask }
    }
  }

  /// How often the text is in the memory that this process can write to.
  func count() throws -> Int {
    let maps = try FileDescriptor.open("/proc/self/maps", .read).contents(limit: 1 << 20)
    let memory = try FileDescriptor.open("/proc/self/mem", .read)
    var found = 0
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") where line.contains(" rw") {
      let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int64($0, radix: 16) }
      // Nothing of ours is so large; a sanitizer's own records are.
      guard ends.count == 2, ends[1] - ends[0] < 256 << 20 else { continue }
      guard let bytes = try? memory.contents(from: ends[0], limit: Int(ends[1] - ends[0])) else { continue }
      found += occurrences(in: bytes)
    }
    return found
  }

  private func occurrences(in bytes: [UInt8]) -> Int {
    var found = 0
    bytes.withUnsafeBytes { bytes in
      guard var rest = bytes.baseAddress else { return }
      let end = rest + bytes.count
      while let hit = memchr(rest, Int32(masked[0] ^ Self.mask), end - rest) {
        let here = UnsafeRawBufferPointer(start: UnsafeRawPointer(hit), count: end - UnsafeRawPointer(hit))
        guard here.count >= masked.count else { return }
        if masked.indices.allSatisfy({ here[$0] ^ Self.mask == masked[$0] }) { found += 1 }
        rest = UnsafeRawPointer(hit) + 1
      }
    }
    return found
  }
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else { preconditionFailure("usage: HTTPProbe COMMAND URL CA-FILE [COUNT]") }
let command = arguments[1]
if command != "raw" { Environment.scrub() }
let before = try mappings()
// A server of the tests may wait for a processor for long.
var timeouts = HTTPTimeouts()
(timeouts.connect, timeouts.interactive, timeouts.refresh) = (.seconds(300), .seconds(300), .seconds(300))
let client = try HTTPClient(version: "probe", proxy: .none, timeouts: timeouts)
let policy = TLSPolicy(caFile: arguments[3])
let transport = AuthenticatedTransport(client, policy: policy)
let request = HTTPRequest(command == "post" ? .post : .get, try HTTPURL(arguments[2]))
let token = try Secret(utf8: "a-token-of-a-probe")

switch command {
case "bench", "post":
  let count = arguments.count > 4 ? Int(arguments[4]) ?? 1 : 1
  var times: [Int64] = []
  let clock = ContinuousClock()
  for _ in 0..<count {
    let start = clock.now
    _ = try await transport.send(request, bearer: token)
    times.append((clock.now - start).wholeNanoseconds)
  }
  print(times.sorted()[times.count / 2])
case "search":
  let digits = Array("0123456789abcdefghijklmnopqrstuv".utf8)
  // Byte by byte: an array of what is looked for would be found itself.
  let sent = Pattern(masking: (0..<40).lazy.map { _ in digits[Int.random(in: 0..<32)] })
  let hexadecimal = Array(arguments.last ?? "").compactMap(\.hexDigitValue)
  let received = Pattern(
    masking: stride(from: 0, to: hexadecimal.count - 1, by: 2).lazy
      .map { UInt8(hexadecimal[$0] << 4 | hexadecimal[$0 + 1]) }
  )
  for _ in 0..<3 {
    let post = HTTPRequest(.post, try HTTPURL(arguments[2]), body: .json(try sent.secret()))
    _ = try await transport.send(post, bearer: try sent.secret())
  }
  print(try sent.count(), try received.count())
  await client.close()
  print(try sent.count(), try received.count())
case "maps":
  _ = try await transport.send(request, bearer: token)
  print(before, try mappings())
default:
  print(try await transport.send(request, bearer: token).status)
}
await client.close()
