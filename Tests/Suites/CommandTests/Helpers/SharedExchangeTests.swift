import Glibc
import LinuxSystem
import SecretMemory
import StateDirectory
import Synchronization
import TestSupport
import Testing

@testable import authbroker

/// Exchanges for AWS's keys that are repeated, and that processes share.
@Suite(.standardTimeLimit) struct SharedExchangeTests {
  private static let keys = Array(#"{"Version":1,"AccessKeyId":"A"}"#.utf8)
  private let scratch = Scratch()

  private func paths() throws -> StatePaths {
    try FakeOwner.paths(scratch)
  }

  private static func text(_ keys: [UInt8]) -> String { String(decoding: keys, as: UTF8.self) }

  @Test func `what came of an exchange is read as it was told`() throws {
    let failure = CommandFailure(.providerUnavailable, "it cannot be reached")
    let results: [Result<[UInt8], CommandFailure>] = [.success(Self.keys), .failure(failure)]
    for result in results {
      let bytes = SharedExchange.message(result)
      let found = try #require(SharedExchange.result(bytes[...]))
      switch (result, found) {
      case (.success(let told), .success(let read)): #expect(told == read)
      case (.failure(let told), .failure(let read)):
        #expect(told.exitCode == read.exitCode && told.message == read.message)
      default: Issue.record("another result")
      }
      #expect(SharedExchange.result(bytes.dropLast()) == nil, "a reply that broke off is none")
    }
    #expect(SharedExchange.result([]) == nil && SharedExchange.result([0]) == nil)
  }

  @Test func `those who want the same while it is asked for get the one answer`() throws {
    let paths = try paths()
    _ = try PrivateDirectory(paths.state, create: true)
    let asked = Mutex(0)
    let exchange: @Sendable (String) throws -> String = { token in
      let shared = try #require(SharedExchange("same", try Secret(utf8: token), in: paths, linger: .zero))
      let answer = try shared.answer { () throws(CommandFailure) in
        asked.withLock { $0 += 1 }
        // Until the others are in the queue.
        var poll = PollSet(count: 0)
        _ = try? poll.wait(atMost: .milliseconds(500))
        return Self.keys
      }
      return Self.text(answer)
    }
    let found = Mutex<[String]>([])
    let threads = try (0..<8).map { _ in
      try SystemThread {
        let text = (try? exchange("token")) ?? "?"
        found.withLock { $0.append(text) }
      }
    }
    for thread in threads { thread.join() }
    #expect(found.withLock { $0 } == Array(repeating: Self.text(Self.keys), count: 8))
    #expect(asked.withLock { $0 } == 1)
    #expect(try exchange("token") == Self.text(Self.keys) && asked.withLock { $0 } == 2, "nothing is kept")
  }

  @Test func `tokens are told apart by marks of one length`() throws {
    let marks = try (0..<64).map { number in
      try #require(SharedExchange("same", try Secret(utf8: "token \(number)"), in: try paths())).mark
    }
    #expect(Set(marks).count == marks.count && marks.allSatisfy { $0.count == 8 })
  }

  @Test func `one who leaves before the answer comes does not end the one who asked`() throws {
    let paths = try paths()
    _ = try PrivateDirectory(paths.state, create: true)
    let shared = try #require(SharedExchange("same", try Secret(utf8: "token"), in: paths, linger: .zero))
    let result = Mutex<(text: String, isSignalled: Bool)>(("", true))
    let thread = try SystemThread {
      var pipe = sigset_t()
      // A set of this frame; a signal of this thread waits in it, whatever the process does with such signals.
      _ = unsafe (sigemptyset(&pipe), sigaddset(&pipe, SIGPIPE), pthread_sigmask(SIG_BLOCK, &pipe, nil))
      let answer = try? shared.answer { () throws(CommandFailure) in
        let place = paths.helpers + "/exchanges"
        let names = (try? TemporaryDirectory.names(in: place)) ?? []
        for name in names where name.hasSuffix(".socket") {
          guard let leaving = try? UnixSocket.connect(to: place + "/" + name, waitingAtMost: 1) else { continue }
          try? leaving.sendAll(shared.mark.span)
        }
        return Self.keys
      }
      var pending = sigset_t()
      // As above.
      let isSignalled = unsafe sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1
      result.withLock { $0 = (answer.map(Self.text) ?? "", isSignalled) }
    }
    thread.join()
    #expect(result.withLock { $0.text == Self.text(Self.keys) && !$0.isSignalled })
  }

  /// A program `curl` that answers with the lines of a script, `$n` being how often it was called.
  private func exchange(_ script: String) throws -> (sentence: String, calls: Int) {
    let body = """
      #!/bin/sh
      cat > /dev/null
      n=$(($(cat "\(scratch.file("calls"))" 2> /dev/null || echo 0) + 1))
      echo $n > "\(scratch.file("calls"))"
      error() {
        printf '<ErrorResponse><Error><Code>%s</Code></Error></ErrorResponse>\\n%s' "$1" "$2"
        exit 0
      }
      \(script)

      """
    try scratch.write(body, to: "curl")
    #expect(chmod(scratch.file("curl"), 0o700) == 0)
    let environment = ["PATH": scratch.path + ":/usr/bin:/bin", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/dev"]
    let arguments = try Arguments(["--sts-url", "http://127.0.0.1:1/"], known: AWSHelper.description.options)
    let role = try AWSRole(Context(arguments: arguments, environment: EnvironmentVariables(environment)))
    let token = try Secret(utf8: "token")
    var sentence = ""
    do throws(CommandFailure) { _ = try AWSExchange(of: role, environment).keys(for: token) { token } } catch {
      sentence = error.message.sentence
    }
    let calls = try FileDescriptor.open(scratch.file("calls"), .read).contents(limit: 16)
    return (sentence, Int(String(decoding: calls.dropLast(), as: UTF8.self)) ?? 0)
  }

  @Test(arguments: [
    "error IDPCommunicationError 400", "error Throttling 400", "error ServiceUnavailable 503", "exit 7", "exit 52",
  ])
  func `what passes is tried again, and what does not is told at once`(_ trouble: String) throws {
    let passing = try exchange("[ $n -gt 1 ] || { \(trouble); }; error AccessDenied 403")
    #expect(passing.sentence.contains("(AccessDenied)"))
    #expect(passing.calls == 2)
  }
}
