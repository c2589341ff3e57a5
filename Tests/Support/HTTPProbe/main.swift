import Glibc
import HTTP
import LinuxSystem
import SecretMemory
import Signing
import Synchronization

// HTTPProbe COMMAND URL CA-FILE [COUNT]
//
//   get    prepares itself as the daemon does, sends one request with a token, prints the status
//   raw    the same without the preparation: shows what the preparation is for
//   maps   prints how many mappings of libcurl and OpenSSL there are before and after the first request
//   bench  sends COUNT requests, one after another, and prints the median of their times in nanoseconds
//   post   the same with requests that may be sent once
//   down   takes a response piece by piece, each from the hand of another task, then prints its size and by how many
//          KiB the memory of the process has grown at most meanwhile
//   up     sends COUNT bytes in the same manner and prints the same
//   search sends a request with a random token, then prints how often that token, and the text whose bytes are COUNT in
//          hexadecimal, are found in its memory: while the connection is kept, and after the end of the client
//   signed makes a key, reads the one of a file that a further argument names, signs with both and lets go of them; then
//          prints how often their numbers are found in its memory, and does what search does: libcrypto is there before
//          libcurl then

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

  /// A part of what is lent.
  init(masking bytes: Span<UInt8>, _ range: Range<Int>) {
    masked = range.map { bytes[$0] ^ Self.mask }
  }

  init(masking bytes: some Sequence<UInt8>) {
    masked = bytes.map { $0 ^ Self.mask }
  }

  /// The same from the last byte to the first, as libcrypto has its numbers.
  var reversed: Pattern { Pattern(masking: masked.reversed().lazy.map { $0 ^ Self.mask }) }

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

/// Both ends of a stream, which another task keeps waiting between two pieces.
final class SlowEnds: BodySource, ResponseSink, Sendable {
  private struct State {
    var isFree = true
    var left: Int
    var count = 0
  }
  private let state: Mutex<State>
  private let (ticks, clock) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  init(sending left: Int) { state = Mutex(State(left: left)) }

  func fill(_ room: inout OutputSpan<UInt8>) -> Bool {
    state.withLock { state in
      guard state.isFree else { return true }
      let count = min(room.freeCapacity, state.left)
      for _ in 0..<count { room.append(0x78) }
      state.isFree = false
      state.left -= count
      state.count += count
      clock.yield()
      return state.left > 0
    }
  }

  func begin(_ head: HTTPResponse) {}

  func take(_ piece: Span<UInt8>) -> PieceAnswer {
    state.withLock { state in
      guard state.isFree else { return .later }
      state.isFree = false
      state.count += piece.count
      clock.yield()
      return .taken
    }
  }

  /// Runs a stream with these ends, and returns how many bytes passed.
  func run(_ stream: HTTPStream) async throws -> Int {
    let other = Task {
      for await _ in ticks {
        state.withLock { $0.isFree = true }
        stream.resume()
      }
    }
    _ = try await stream.run()
    other.cancel()
    return state.withLock { $0.count }
  }
}

/// How much of this process was in memory at most, in KiB.
func peak() throws -> Int {
  let status = String(
    decoding: try FileDescriptor.open("/proc/self/status", .read).contents(limit: 1 << 16), as: UTF8.self)
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
}

/// Signs with a key that nothing keeps, and returns a part of it that is as secret as the whole.
func signed(_ key: SigningKey) throws -> Pattern {
  let message = Array("what is signed".utf8)
  _ = try key.sign(message.span)
  return key.withDER { der in
    // The number of a short one is behind its version (RFC 5915, section 3); the factors are in the middle of a long one.
    let start = der.count < 200 ? 7 : der.count / 2
    return Pattern(masking: der, start..<(start + 24))
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
case "down", "up":
  let count = command == "up" ? Int(arguments.last ?? "") ?? 0 : 0
  // Loads the library, and warms up.
  _ = try await transport.send(HTTPRequest(.get, request.url), bearer: token)
  let before = try peak()
  let ends = SlowEnds(sending: count)
  let upload = try HTTPUpload(ends, count: nil, contentType: nil)
  let stream = transport.stream(
    HTTPRequest(command == "up" ? .put : .get, request.url), command == "up" ? upload : nil, bearer: token,
    stillness: .seconds(300), to: ends)
  let passed = try await ends.run(stream)
  print(passed, try peak() - before)
case "search", "signed":
  if command == "signed" {
    print(try mappings() == 0, terminator: " ")
    var file = try FileDescriptor.open(arguments.last ?? "", .read).contents(limit: 1 << 16)
    let patterns = [try signed(.random()), try signed(SigningKey(pem: try Secret(wiping: &file)))]
    print(try mappings() > 0, try patterns.map { try $0.count() + $0.reversed.count() }.reduce(0, +))
  }
  let digits = Array("0123456789abcdefghijklmnopqrstuv".utf8)
  // Byte by byte: an array of what is looked for would be found itself.
  let sent = Pattern(masking: (0..<40).lazy.map { _ in digits[Int.random(in: 0..<32)] })
  let hexadecimal = Array(arguments[4]).compactMap(\.hexDigitValue)
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
