/// What a schema says of the members of an object.
public struct SchemaCollector: ObjectCoder {
  private let notes: SchemaNotes
  /// The members, in the order of the wire.
  public private(set) var members: [SchemaMember] = []

  /// A collector for a type of which `notes` are known.
  init(_ notes: SchemaNotes) { self.notes = notes }

  public mutating func required<Coding: ValueCoding>(_ name: String, _: inout Coding.Value, _ coding: Coding) {
    add(name, .required, coding)
  }

  public mutating func optional<Coding: ValueCoding>(_ name: String, _: inout Coding.Value?, _ coding: Coding) {
    add(name, .optional, coding)
  }

  public mutating func defaulted<Coding: ValueCoding>(_ name: String, _ value: inout Coding.Value, _ coding: Coding) {
    add(name, .written, coding, standard: value)
  }

  public mutating func optional<Coding: ValueCoding>(
    _ name: String, _: inout Coding.Value, _ coding: Coding, absent: Coding.Value
  ) where Coding.Value: Equatable {
    add(name, .optional, coding, standard: absent)
  }

  private mutating func add<Coding: ValueCoding>(
    _ name: String, _ presence: SchemaMember.Presence, _ coding: Coding, standard: Coding.Value? = nil
  ) {
    let note = notes.members[name]
    var member = SchemaMember(
      name: name, schema: note?.schema ?? coding.schema, presence: presence, description: note?.description)
    member.standard = standard.map { value in
      var writer = JSONWriter()
      coding.write(value, to: &writer)
      return String(decoding: writer.bytes, as: UTF8.self)
    }
    members.append(member)
  }
}
