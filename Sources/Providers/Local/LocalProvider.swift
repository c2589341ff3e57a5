package import BrokerCore
package import BrokerProtocol
package import LinuxSystem
import SQLite
package import Sealing
import SecretMemory
import Synchronization

/// The embedded identity provider: accounts, one-time codes and tokens with no network at all.
///
/// It plays the remote, so the broker knows it as it knows every other provider, and never opens its files. It works on a
/// thread of its own, one call after the other: guesses that come at once are counted one by one. Its files are opened
/// by the first call. What the disk or the database cannot do is a passing trouble (`providerUnavailable`); what is damaged
/// is no passing one (`.misconfigured(.embeddedFiles)`). Its own keys rest sealed with a key that it is given for each call.
package actor LocalProvider: AuthProvider {
  /// The time.
  package typealias Clock = @Sendable () -> Timestamp

  /// There is one embedded provider in a state directory, so the type says it all.
  package nonisolated let binding = ProviderBinding(type: "local")
  /// A password is the only way in.
  package nonisolated var loginForms: [LoginForm] { [LoginForm(.password)] }
  /// None where a login names none.
  package nonisolated var requestedScopes: [String] { [] }
  /// The same for every configuration.
  package nonisolated var capabilities: ProviderCapabilities {
    var capabilities = ProviderCapabilities()
    capabilities.registration = self
    capabilities.emailVerification = self
    capabilities.forgottenPassword = self
    capabilities.passwordReset = self
    capabilities.userInfo = self
    capabilities.profileUpdate = self
    capabilities.passwordChange = self
    capabilities.accountDeletion = self
    capabilities.challenges = self
    capabilities.codeResending = self
    capabilities.backupCodes = self
    capabilities.backupCodeIssuing = self
    capabilities.factorEnrolment = self
    capabilities.targets = self
    capabilities.revocation = self
    return capabilities
  }

  /// The settings: lifetimes of tokens and codes, and limits of guesses.
  private(set) var configuration: LocalProviderConfiguration
  /// The audiences that tokens may be for, the session's own first; looked at without a turn of the actor.
  nonisolated let audiences: Mutex<[String]>
  /// Makes and checks the hashes that stand for passwords.
  let passwordHash: PasswordHash
  /// The directory of its files; made when they are first needed.
  let directory: String
  /// Sends its messages.
  nonisolated let delivery: Delivery
  private let clock: Clock
  private let sealingKey: @Sendable () -> SealingKey?
  private let hasEnded: @Sendable (LocalCall) -> Void
  /// The thread that the provider runs on.
  nonisolated let worker: WorkerThread
  private var files: LocalFiles?
  /// The fault of the files when they were opened last.
  private(set) var fault: LocalStoreFault?

  /// How often rows of no more use are looked for; messages are examined in every call.
  private static let cleaningInterval = Duration.seconds(60)
  private var nextCleaning: Timestamp?
  /// Whether messages are removed as their codes expire; not where there is none.
  var isSweeping = false

  /// A provider whose files are not opened yet.
  ///
  /// - Parameters:
  ///   - stateDirectory: absolute; the files are in `local-provider` below it.
  ///   - configuration: how it behaves.
  ///   - passwordHash: how much work a password hash is; less than usual in tests only.
  ///   - delivery: sends its messages; by default the outbox takes them all.
  ///   - sealingKey: opens the provider's own keys, always the same for the same files; nil while the broker's vault, which
  ///     has it, is locked.
  ///   - availableMemory: how many bytes there are for a password hash; nil where that is not known.
  ///   - clock: the wall clock, unless a test says otherwise.
  ///   - hasEnded: is told of each call that has ended, in its caller's task; must not wait.
  ///   - willHash: called before each computation of a password hash, for a test that counts them.
  package init(
    stateDirectory: String, configuration: LocalProviderConfiguration = LocalProviderConfiguration(),
    passwordHash: PasswordHash.Parameters = .standard, delivery: Delivery = Delivery(),
    sealingKey: @escaping @Sendable () -> SealingKey?,
    availableMemory: @escaping @Sendable () -> Int64? = { MachineLimits.availableMemory },
    clock: @escaping Clock = { LocalProvider.wallClock },
    hasEnded: @escaping @Sendable (LocalCall) -> Void = { _ in }, willHash: @escaping @Sendable () -> Void = {}
  ) {
    directory = stateDirectory + "/local-provider"
    self.configuration = configuration
    audiences = Mutex(configuration.everyAudience)
    self.delivery = delivery
    self.clock = clock
    self.sealingKey = sealingKey
    self.hasEnded = hasEnded
    self.passwordHash = PasswordHash(
      parameters: passwordHash, availableMemory: availableMemory, willCompute: willHash)
    worker = WorkerThread(name: "local-provider")
  }

  /// The executor that the actor runs on.
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    // The executor lives as long as the actor, and its thread keeps it alive longer.
    unsafe worker.asUnownedSerialExecutor()
  }

  /// The present moment of the wall clock.
  package static var wallClock: Timestamp {
    Timestamp(milliseconds: WallClock.milliseconds)
  }

  /// Starts the provider's thread, so that a machine that has none left shows it before the first call.
  ///
  /// - Throws: what pthread_create(3) says.
  package nonisolated func startThread() throws(Errno) { try worker.start() }

  /// Adopts other lifetimes and limits for tokens and codes issued from now on.
  package func update(_ configuration: LocalProviderConfiguration) {
    self.configuration = configuration
    audiences.withLock { $0 = configuration.everyAudience }
  }

  /// Closes the files and ends the thread, after the calls before.
  ///
  /// A later call opens them again.
  package nonisolated func shutDown() async {
    await close()
    worker.stop()
  }

  private func close() {
    // The end of the thread takes the alarm with it.
    isSweeping = false
    // What cannot be copied back from the write-ahead log now is copied at the next opening.
    try? files?.connection.close()
    files = nil
  }

  /// Does the work of one call of the broker's, and tells of it.
  ///
  /// - Throws: as ``perform(_:)``.
  func respond<R>(
    to purpose: String, _ body: (LocalDatabase, Timestamp) throws -> R
  ) throws(ProviderFailure) -> R {
    let start = BootClock.now
    do throws(ProviderFailure) {
      let value = try perform(body)
      hasEnded(LocalCall(purpose: purpose, failure: nil, duration: BootClock.now - start))
      return value
    } catch {
      hasEnded(LocalCall(purpose: purpose, failure: error, duration: BootClock.now - start))
      throw error
    }
  }

  /// Does the work of one call, and turns a failure of the machine into a passing one.
  ///
  /// - Throws: the refusals of `body`; `.transient(.vaultLocked)` while there is no sealing key; `.misconfigured` with
  ///   `.embeddedFiles` for files that are damaged; `.transient(.overloaded)` where the memory for secrets is full;
  ///   everything else becomes `.transient(.providerUnavailable)`.
  func perform<R>(_ body: (LocalDatabase, Timestamp) throws -> R) throws(ProviderFailure) -> R {
    do {
      let now = clock()
      guard let key = sealingKey() else { throw ProviderFailure.transient(.vaultLocked) }
      let database = try LocalDatabase(try openedFiles(key, at: now), sealingKey: key)
      try removeEnded(in: database, at: now)
      return try body(database, now)
    } catch let failure as ProviderFailure {
      throw failure
    } catch let fault as LocalStoreFault {
      self.fault = fault
      throw .misconfigured(.embeddedFiles)
    } catch is SecretMemoryExhausted {
      throw .transient(.overloaded)
    } catch SealingError.secretMemoryExhausted {
      throw .transient(.overloaded)
    } catch {
      throw .transient(.providerUnavailable, cause: Self.cause(of: error))
    }
  }

  /// The cause on this machine of a failure; nil where none is known.
  private static func cause(of error: any Error) -> PassingCause? {
    let system: Errno
    switch error {
    case MigrationError.failed(_, let error): return cause(of: error)
    case MigrationError.unreadable(let error): return cause(of: error)
    case let error as SQLiteError where error.isDiskFull: return .fullDisk
    case let error as SQLiteError where error.systemError != 0: system = Errno(code: error.systemError)
    case let error as Errno: system = error
    case PrivateDirectory.Refusal.failed(_, let error): system = error
    default: return nil
    }
    if system.isFullDisk { return .fullDisk }
    return [.readOnlyFileSystem, .accessDenied].contains(system) ? .unwritableFiles : nil
  }

  /// Opens the files of an earlier process, where there are any, so that its messages are removed in time.
  ///
  /// What cannot be opened now is opened, or refused, by the first call.
  package func start() {
    guard files == nil else { return }
    do {
      _ = try PrivateDirectory(directory, create: false)
      try perform { _, _ in () }
    } catch {}
  }

  /// Removes the messages whose code has expired.
  ///
  /// - Returns: how long nothing more is to be done; nil where no message is left.
  func removeExpiredMessages() -> Duration? {
    let now = clock()
    guard let files else { return nil }
    // What could not be removed, or examined, is tried again, and a clock that was set is noticed.
    do {
      guard let next = try nextExpiry(in: files, after: now) else { return nil }
      return next <= now ? .seconds(1) : min(next - now, Self.cleaningInterval)
    } catch { return .seconds(1) }
  }

  private func nextExpiry(in files: LocalFiles, after now: Timestamp) throws -> Timestamp? {
    try? files.removeMessages(try files.messages.expiredNumbers(at: now))
    return try files.messages.nextExpiry()
  }

  private func openedFiles(_ key: SealingKey, at now: Timestamp) throws -> LocalFiles {
    if let files { return files }
    fault = nil
    let opened = try LocalFiles(directory: directory, sealingKey: key, at: now)
    files = opened
    removeMessagesAtExpiry()
    return opened
  }

  /// A clock that was set back cleans at once, too.
  private func removeEnded(in database: LocalDatabase, at now: Timestamp) throws {
    try database.removeMessages(try database.messages.expiredNumbers(at: now))
    if let nextCleaning, now < nextCleaning, nextCleaning - now <= Self.cleaningInterval { return }
    try database.removeEnded(at: now)
    nextCleaning = now + Self.cleaningInterval
  }
}
