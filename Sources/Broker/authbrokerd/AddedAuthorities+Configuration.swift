import BrokerProtocol
import Configuration
import HTTP

/// The certificate authorities that a configuration adds to the system's.
extension AddedAuthorities {
  /// The file that a configuration names, and those of the process's environment: OpenSSL's own variables, which other
  /// programs on such a machine obey as well.
  init(_ configuration: NetworkConfiguration, _ environment: [String: String]) {
    var places = configuration.caFile.map { [Place(.network, $0)] } ?? []
    if let file = environment[AuthoritySource.environmentFile.rawValue], !file.isEmpty {
      places.append(Place(.environmentFile, file))
    }
    let directories = environment[AuthoritySource.environmentDirectory.rawValue] ?? ""
    places += directories.split(separator: ":").map { Place(.environmentDirectory, String($0)) }
    self.init(places)
  }

  /// The reports for clients, as of now.
  var reports: [GetStatus.Authority] {
    let unreadable = unreadable
    return places.map { place in
      GetStatus.Authority(source: place.source.rawValue, path: place.path, isReadable: !unreadable.contains(place))
    }
  }
}
