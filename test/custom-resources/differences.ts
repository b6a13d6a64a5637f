// Exchanges whose responses differ from upstream's: their scenario, the reason, and their indexes in the scenario.
export interface Difference {
  readonly reason: string
  readonly exchanges: readonly number[]
}

export const differences: Readonly<Record<string, Difference>> = {
  'apply beside updates, and its errors': {
    reason: "managed fields of nested values and errors of apply are not upstream's in every detail",
    exchanges: [23, 25, 26, 27, 28, 29, 37, 38, 39, 40],
  },
  'merge patches and JSON patches': {
    reason: "managed fields of nested values and errors of apply are not upstream's in every detail",
    exchanges: [9, 10, 12, 14, 28, 29, 30],
  },
  'defaults that are added later are set by every read': {
    reason: 'a bookmark has creationTimestamp: null',
    exchanges: [6],
  },
  'fields of an established definition that cannot change': {
    reason: 'several errors at once: upstream stops earlier',
    exchanges: [1, 7, 9],
  },
  'a definition from its creation to its deletion': {
    reason: 'a definition that is being deleted has deletionGracePeriodSeconds',
    exchanges: [13, 18, 20],
  },
  'names that another definition has are not accepted': {
    reason: 'a definition that is being deleted has deletionGracePeriodSeconds',
    exchanges: [2, 5, 8, 11, 14, 23],
  },
  'definitions in groups of Kubernetes need an approval': {
    reason: 'a definition that is being deleted has deletionGracePeriodSeconds',
    exchanges: [7, 11],
  },
  'deletion of objects': { reason: 'errors of watches, and the version of an object that is removed', exchanges: [38] },
  watches: {
    reason: 'errors of watches, and the version of an object that is removed',
    exchanges: [12, 14, 18, 19, 20],
  },
  'deletion of a definition with objects that have finalizers': {
    reason: 'errors of watches, and the version of an object that is removed',
    exchanges: [2, 3, 10],
  },
  'a quota of custom objects': {
    reason: 'errors of watches, and the version of an object that is removed',
    exchanges: [6],
  },
  'discovery of a group with two kinds and five versions': {
    reason: 'order of resources, and OpenAPI documents',
    exchanges: [3, 4, 7, 8, 12, 15],
  },
  'OpenAPI of a group': {
    reason: 'order of resources, and OpenAPI documents',
    exchanges: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12],
  },
  'expressions with strings': { reason: 'the wording of some errors, and cost estimates', exchanges: [28] },
  'expressions with urls': { reason: 'the wording of some errors, and cost estimates', exchanges: [8] },
  'expressions with addresses': { reason: 'the wording of some errors, and cost estimates', exchanges: [5] },
  'expressions that do not compile': {
    reason: 'the wording of some errors, and cost estimates',
    exchanges: [43, 61, 62, 88, 90, 91],
  },
  'expressions that cost too much': { reason: 'the wording of some errors, and cost estimates', exchanges: [12] },
  'unknown and duplicate fields': { reason: 'strict errors of patches', exchanges: [7, 14, 15, 16, 17, 19, 27] },
  'invalid names of definitions': { reason: 'the wording of some errors', exchanges: [3, 32, 35] },
  'invalid versions of definitions': { reason: 'the wording of some errors', exchanges: [0, 2, 3, 4] },
  'invalid conversion of definitions': { reason: 'the wording of some errors', exchanges: [20, 23, 24] },
  'invalid columns of definitions': { reason: 'the wording of some errors', exchanges: [11, 13] },
  'invalid selectable fields of definitions': {
    reason: 'the wording of some errors',
    exchanges: [3, 7, 8, 10, 17, 18],
  },
  'schemas that are not structural': { reason: 'the wording of some errors', exchanges: [27] },
  'defaults that do not match their schema': { reason: 'the wording of some errors', exchanges: [20, 23] },
  'every keyword': { reason: 'integers above 2^63 are not distinguished', exchanges: [76] },
  'metadata of objects': {
    reason: 'the wording of errors of metadata',
    exchanges: [8, 15, 16, 24, 26, 27, 28, 29, 30, 31, 33, 37, 43, 44, 46, 54, 61],
  },
  'unknown fields are removed': {
    reason: 'numbers that JavaScript cannot represent, and managed fields of null',
    exchanges: [13, 22, 23, 25],
  },
  'a schema that preserves unknown fields everywhere': {
    reason: 'numbers that JavaScript cannot represent, and managed fields of null',
    exchanges: [3, 4],
  },
  'integers or strings, and null': {
    reason: 'numbers that JavaScript cannot represent, and managed fields of null',
    exchanges: [19],
  },
  'media types': {
    reason: 'JSON errors are worded by the JSON parser of Node.js',
    exchanges: [3, 4, 5, 10, 11, 12, 14, 15, 28],
  },
  'bodies that are not objects of the kind': {
    reason: 'JSON errors are worded by the JSON parser of Node.js',
    exchanges: [12, 13, 14, 15, 16, 17, 18, 19, 21, 24, 25, 26, 27, 28, 30, 31, 32, 33, 38, 39, 40],
  },
  'values that were invalid before an update may stay': {
    reason: 'a warning that comes with another error',
    exchanges: [8],
  },
  'lists in pages': { reason: 'the wording of errors of list options', exchanges: [7, 8, 11, 14] },
  'the status subresource': {
    reason: 'errors of scale and of unknown subresources',
    exchanges: [9, 10, 12, 13, 14, 15, 16, 22, 25, 26, 27, 31],
  },
  'the scale subresource': {
    reason: 'errors of scale and of unknown subresources',
    exchanges: [5, 19, 20, 21, 22, 28],
  },
  'objects of the cluster': { reason: 'errors of scale and of unknown subresources', exchanges: [1, 6, 9] },
  'columns of every type': { reason: 'media types that upstream rejects', exchanges: [4, 5, 15, 17, 20] },
  'responses with metadata only': { reason: 'media types that upstream rejects', exchanges: [5, 6] },
  'versions without conversion': {
    reason: 'managed fields across versions, and warnings about deprecation',
    exchanges: [3, 4, 5, 13, 15, 16, 17, 18, 19, 20, 23, 24, 25, 26, 28],
  },
  'a conversion webhook that cannot be reached': {
    reason: 'managed fields across versions, and warnings about deprecation',
    exchanges: [12],
  },
}
