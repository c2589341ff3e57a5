import AuthBrokerClient
import BrokerProtocol
import LinuxSystem
import SecretMemory

/// The address that a browser on another computer ended at, as its user pastes it at the terminal.
enum RedirectPaste {
  /// The longest line that a terminal hands over (N_TTY_BUF_SIZE, see termios(3)).
  private static let longest = 4096

  /// Whether there is a terminal to paste at.
  static func isPossible(_ context: Context) -> Bool {
    context.canAsk && !context.wantsJSON && !context.arguments.has("--no-wait")
  }

  /// The line that was typed since the last look; nil where there is none, or nothing in it.
  ///
  /// - Throws: a failure where the memory for secrets is used up.
  static func line() throws(CommandFailure) -> Secret? {
    var set = PollSet(count: 1)
    set.watch(0, 0, readable: true)
    guard (try? set.wait(atMost: .zero)) ?? 0 > 0, set.isReady(0) else { return nil }
    let stream = FileDescriptor(owning: 0)
    var bytes = [UInt8](repeating: 0, count: longest)
    defer { wipe(&bytes) }
    let read = stream.read(into: &bytes)
    _ = stream.release()
    guard case .bytes(let count) = read, bytes[..<count].contains(where: { $0 > 0x20 }) else { return nil }
    guard count < longest else {
      Output.message(
        "a terminal cuts a line off behind \(longest - 1) characters, and this one is longer; let the browser open that"
          + " address through ssh, or log in with --method deviceCode")
      return nil
    }
    guard let line = try? Secret(copying: bytes.span.extracting(first: count)) else {
      throw CommandFailure(.failure, "the memory for secrets is used up")
    }
    return line
  }
}
