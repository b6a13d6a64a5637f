// Exchanges whose responses differ from upstream's: by scenario, the reason and their indexes in the scenario.
export interface Difference {
  readonly reason: string
  readonly exchanges: readonly number[]
}

export const differences: Readonly<Record<string, readonly Difference[]>> = {
  'a definition from its creation to its deletion': [
    { reason: 'managed fields: which subresource or parent owns a field', exchanges: [13] },
  ],
  watches: [{ reason: 'upstream ends the stream of a watch of one object without an event type', exchanges: [12] }],
  'a quota of custom objects': [{ reason: 'the controller of quotas owns the map of used resources', exchanges: [6] }],
  'discovery of a group with two kinds and five versions': [
    {
      reason:
        'order of resources by creation, formats and headers of documents, and which shared types a document contains',
      exchanges: [3, 8, 12],
    },
  ],
  'OpenAPI of a group': [
    {
      reason:
        'order of resources by creation, formats and headers of documents, and which shared types a document contains',
      exchanges: [0, 1, 8, 9, 10],
    },
  ],
  'expressions that do not compile': [
    { reason: 'a comment of several lines is one syntax error here', exchanges: [43] },
  ],
  'expressions that cost too much': [{ reason: 'the order of errors about the cost of expressions', exchanges: [12] }],
  'integers beyond 2^53 in custom objects': [
    { reason: 'upstream rounds the values of sets in managed fields that it has stored', exchanges: [35, 36] },
  ],
  'invalid names of definitions': [{ reason: 'wording of a wrong kind', exchanges: [35] }],
  'defaults of embedded resources': [
    { reason: 'upstream removes unknown fields from the metadata in a default', exchanges: [10, 19] },
  ],
  'metadata of objects': [
    { reason: 'managed fields: which subresource or parent owns a field', exchanges: [31] },
    { reason: 'invalid labels are reported once', exchanges: [54] },
  ],
  'unknown fields are removed': [
    {
      reason: 'warnings of an update, and a body with a field twice; later versions follow',
      exchanges: [13, 23, 25],
    },
  ],
  'a schema that preserves unknown fields everywhere': [
    { reason: 'managed fields: which subresource or parent owns a field', exchanges: [3, 4] },
  ],
  'media types': [
    {
      reason: 'how a body that cannot be parsed is reported, and protobuf and CBOR as formats of bodies',
      exchanges: [4, 5, 10, 12],
    },
  ],
  'bodies that are not objects of the kind': [
    {
      reason: 'how a body that cannot be parsed is reported, and protobuf and CBOR as formats of bodies',
      exchanges: [12, 13, 14, 15, 16, 17, 18, 21, 24],
    },
    { reason: 'a lone surrogate is stored as it was sent', exchanges: [19] },
  ],
  'values that were invalid before an update may stay': [{ reason: 'the order of two warnings', exchanges: [8] }],
  'lists in pages': [{ reason: 'wording of a token that is not UTF-8', exchanges: [7] }],
  'the scale subresource': [{ reason: 'columns of a scale have no descriptions', exchanges: [28] }],
  'numbers out of range': [
    { reason: 'upstream reads a number with an exponent as a fraction', exchanges: [7] },
    { reason: 'the order of fields, and managed fields, of a Scale in an error', exchanges: [21] },
  ],
  'columns of every type': [{ reason: 'a template without a value, and Tables of watches', exchanges: [4, 5, 15, 20] }],
}
