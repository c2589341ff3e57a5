import AuthBrokerClient
import BrokerProtocol
import TestSupport
import Testing

@testable import authbroker

/// The command that a message names, as a person types it.
@Suite(.standardTimeLimit) struct NextCommandTests {
  private static func arguments(_ words: String...) throws -> Arguments {
    try Arguments(words, known: Option.global)
  }

  @Test func `a command names the broker that this command line named, each word as a shell takes it`() throws {
    let arguments = try Self.arguments("--state", "/a b's", "--config", "/c", "--socket", "/s")
    let login = Message("no", next: NextCommand("log in with", "login", "--flow", "a b"))
    let options = #"--state '/a b'\''s' --socket /s --config /c"#
    #expect(login.text(for: arguments) == "no; log in with: authbroker \(options) login --flow 'a b'")
    #expect(login.text(for: nil) == "no; log in with: authbroker login --flow 'a b'")
    #expect(Message("no").text(for: arguments) == "no")
  }

  @Test func `stop needs the state directory alone, and help no broker at all`() throws {
    let arguments = try Self.arguments("--state", "/s", "--config", "/c")
    #expect(NextCommand("end it with", "stop").text(for: arguments) == "end it with: authbroker --state /s stop")
    #expect(NextCommand("see", "help", "stop").text(for: arguments) == "see: authbroker help stop")
  }

  @Test func `no byte of a word controls the terminal`() {
    let command = NextCommand("wait with", "login", "--flow", "a\u{1B}[2J")
    #expect(command.text(for: nil) == "wait with: authbroker login --flow 'a?[2J'")
  }

  @Test func `the default profile needs no name`() {
    let login = NextCommand("log in with", "login")
    #expect(login.on(.default) == login && login.on(nil) == login)
    #expect(login.on(ProfileName("work")).words == ["login", "--profile", "work"])
  }

  @Test func `what a message is the reason for stands before it, and its command stays`() {
    let reason = Message("it is locked", next: NextCommand("unlock it with", "unlock"))
    #expect(reason.behind("no: ").text(for: nil) == "no: it is locked; unlock it with: authbroker unlock")
  }
}
