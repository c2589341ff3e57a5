/// The authorities that are trusted beside the system's, wherever a ``TLSPolicy`` names none of its own.
package struct AddedAuthorities: Sendable, Equatable {
  /// A file or directory with certificates, and which setting names it.
  package struct Place: Sendable, Equatable {
    /// The setting.
    package let source: AuthoritySource
    /// The file, or the directory.
    package let path: String

    package init(_ source: AuthoritySource, _ path: String) {
      self.source = source
      self.path = path
    }
  }

  /// The places in the order in which they are read.
  package let places: [Place]

  /// Authorities of some places; of none, only the system's are trusted.
  package init(_ places: [Place] = []) {
    self.places = places
  }

  /// The places that hold no certificate that can be read, as they are now.
  package var unreadable: [Place] {
    var bundle = AuthorityBundle()
    for place in places { bundle.add(place) }
    return bundle.unreadable
  }

  /// Whether a file can be read, can be changed by no other user, and has the certificate of an authority in it.
  package static func areReadable(at path: String) -> Bool {
    AddedAuthorities([Place(.profile, path)]).unreadable.isEmpty
  }
}

/// The source of certificate authorities.
package enum AuthoritySource: String, Sendable, Equatable, CaseIterable {
  /// Debian's `ca-certificates`.
  case system
  /// A profile's own file, in place of all others.
  case profile = "tls.caFile"
  /// The file of all profiles.
  case network = "network.caFile"
  /// The file that the environment names (SSL_CTX_set_default_verify_paths(3)).
  case environmentFile = "SSL_CERT_FILE"
  /// The directories that the environment names.
  case environmentDirectory = "SSL_CERT_DIR"
}
