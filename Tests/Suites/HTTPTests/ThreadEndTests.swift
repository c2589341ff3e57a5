import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// The end of the thread on which transfers run: OpenSSL frees what it keeps for it only there.
@Suite(.standardTimeLimit) struct ThreadEndTests {
  /// A clock that counts the threads that have asked it, and those of them that are gone: they take their time for it.
  private final class ThreadCount: Sendable {
    struct Threads {
      var begun = 0
      var gone = 0
    }
    private let key: pthread_key_t
    private let state = Mutex(Threads())

    init() {
      var key = pthread_key_t()
      let code = pthread_key_create(&key) { context in
        guard let context else { return }
        usleep(100_000)
        Unmanaged<ThreadCount>.fromOpaque(context).takeRetainedValue().state.withLock { $0.gone += 1 }
      }
      precondition(code == 0, "a process has a thousand keys")
      self.key = key
    }

    deinit { pthread_key_delete(key) }

    var threads: Threads { state.withLock(\.self) }

    var now: Duration {
      if pthread_getspecific(key) == nil {
        state.withLock { $0.begun += 1 }
        pthread_setspecific(key, Unmanaged.passRetained(self).toOpaque())
      }
      return BootClock.now
    }
  }

  @Test(arguments: [Patience.ceiling, .zero])
  func `Closing waits for the end of the thread and what libraries keep for it, also of an idle one`(
    _ linger: Duration
  ) async throws {
    let server = ScriptedServer.answering()
    let count = ThreadCount()
    var settings = settings()
    settings.time = { count.now }
    settings.linger = linger
    let client = try HTTPClient(settings)
    for _ in 0..<3 { _ = try await PublicTransport(client).send(HTTPRequest(.get, try server.url())) }
    await client.close()
    let threads = count.threads
    #expect(threads.begun > 0 && threads.gone == threads.begun)
  }
}
