import CLinux

/// The environment of this process.
///
/// It is read and changed before other threads start.
package enum Environment {
  /// All variables.
  ///
  /// Of two with one name the first counts, as in getenv(3).
  package static var current: [String: String] {
    var count = 0
    // The list ends with NULL, each entry is NUL-terminated and copied at once; no other thread changes it yet.
    while unsafe clinux_environment_entry(count) != nil { count += 1 }
    var variables = [String: String](minimumCapacity: count)
    for index in 0..<count {
      // As above.
      guard let entry = unsafe clinux_environment_entry(index),
        let equals = unsafe strchr(entry, Int32(UInt8(ascii: "=")))
      else { continue }
      // The name is what is before the first equals sign of the entry.
      let bytes = unsafe UnsafeRawBufferPointer(start: entry, count: UnsafePointer(equals) - entry)
      // As above: the value ends with the entry.
      let (name, value) = unsafe (String(decoding: bytes, as: UTF8.self), String(cString: equals + 1))
      if let first = variables.updateValue(value, forKey: name) { variables[name] = first }
    }
    return variables
  }

  /// Removes every variable that could make a library of this process log keys, load code, trust other certificates,
  /// write elsewhere or send its traffic through another host.
  ///
  /// The variables of libpq are among them (PostgreSQL, section 34.15): what a connection string leaves out is not filled in
  /// by who starts the process. Called after the configuration has read what it was told to read from the environment.
  package static func scrub() {
    for name in current.keys where isDangerous(name) || name.hasPrefix("PG") {
      // The string is NUL-terminated for the length of the call, which does not keep it.
      _ = unsafe unsetenv(name)
    }
  }

  /// The variables by which a service manager speaks to one process (sd_notify(3), sd_watchdog_enabled(3),
  /// sd_listen_fds(3)).
  private static let managerVariables: Set<String> = [
    "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID",
  ]

  /// Removes the variables by which a service manager speaks to this process alone: no child may speak to the manager
  /// in its name.
  package static func removeManagerVariables() {
    for name in managerVariables {
      // The string is NUL-terminated for the length of the call, which does not keep it.
      _ = unsafe unsetenv(name)
    }
  }

  /// The variables without those of ``removeManagerVariables()``, for children.
  package static func withoutManagerVariables(_ environment: [String: String]) -> [String: String] {
    environment.filter { !managerVariables.contains($0.key) }
  }

  /// The environment for a daemon: without the variables that the dynamic loader and the allocator obey before a
  /// process runs its own code (ld.so(8), mallopt(3)), and with a crash that prints no memory (`SWIFT_BACKTRACE`).
  ///
  /// The others stay for its configuration to read; the daemon itself removes them afterwards.
  package static func forDaemon(_ environment: [String: String]) -> [String: String] {
    var variables = environment.filter { name, _ in
      name != "GLIBC_TUNABLES" && !name.hasPrefix("LD_") && !name.hasPrefix("MALLOC_")
    }
    variables["SWIFT_BACKTRACE"] = "enable=no"
    return variables
  }

  /// Sets a variable of this process, which is inherited: before the first other thread, and behind the reading of the
  /// command line.
  package static func set(_ name: String, to value: String) {
    // The strings are NUL-terminated for the length of the call, which copies them.
    _ = unsafe clinux_set_environment(name, value)
  }

  /// Whether `scrub` removes a variable of this name.
  package static func isDangerous(_ name: String) -> Bool {
    let exact = ["SSLKEYLOGFILE", "GLIBC_TUNABLES", "SQLITE_TMPDIR"]
    let prefixes = ["LD_", "MALLOC_", "CURL_", "OPENSSL_", "SSL_CERT_"]
    return exact.contains(name) || prefixes.contains { name.hasPrefix($0) } || name.lowercased().hasSuffix("_proxy")
  }
}
