// Tables for CustomResourceDefinition: defaults, what upstream rejects, what an update may change.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from '../../../schema/decoding/decode.ts'
import { decodeProtobuf } from '../../../schema/protobuf/protobuf-decode.ts'
import { encodeProtobuf } from '../../../schema/protobuf/protobuf-encode.ts'
import {
  cellsOf,
  errorsOf,
  objectFrom,
  testInvalidObjects,
  updateErrorsOf,
  type InvalidCase,
} from '../../kind/kind.harness.ts'
import { fieldErrorText } from '../../../schema/validation/field-error.ts'
import { validateMetadata } from '../../validation/metadata-rules.ts'
import { customResourceDefinition } from './custom-resource-definition.ts'
import { jsonSchemaProps } from '../schema/json-schema-props.ts'

const metadata = { name: 'bars.example.com', creationTimestamp: '2030-01-01T00:00:00Z' }
const names = { plural: 'bars', kind: 'Bar' }
const status = { storedVersions: ['v1'] }
const version = (properties: object, more: object = {}) => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties } },
  ...more,
})
const definition = (spec: object = {}, annotations: object = {}) => ({
  metadata: { ...metadata, annotations },
  spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version({})], ...spec },
  status,
})
const withProperty = (property: object, more: object = {}) => definition({ versions: [version({ p: property }, more)] })
const withRoot = (root: object, more: object = {}) =>
  definition({ versions: [{ ...version({}), schema: { openAPIV3Schema: root }, ...more }] })
const at = 'spec.validation.openAPIV3Schema.properties[p]'

test('a CustomResourceDefinition gets default names, and no conversion', () => {
  const { spec } = objectFrom(customResourceDefinition, definition())
  deepEqual(spec.names, { ...names, singular: 'bar', listKind: 'BarList' })
  deepEqual(spec.conversion, { strategy: 'None' })
  deepEqual(customResourceDefinition.initialStatus?.(objectFrom(customResourceDefinition, definition())), status)
  deepEqual(cellsOf(customResourceDefinition, definition()), ['bars.example.com', '2030-01-01T00:00:00Z'])
})

test('the name of a new CustomResourceDefinition, and its generateName, are those of the resource', () => {
  const named = { ...definition({ group: 'other.com' }), metadata: { ...metadata, generateName: 'bars.other.com' } }
  const object = objectFrom(customResourceDefinition, named)
  const errors = (isNew: boolean) => validateMetadata(object, customResourceDefinition, isNew).map(fieldErrorText)
  deepEqual(errors(true), [
    'metadata.name: Invalid value: "bars.example.com": must be spec.names.plural+"."+spec.group',
  ])
  deepEqual(errors(false), [], 'an update cannot change it')
})

const ruleShown = (rule: string, more: object = {}) =>
  JSON.stringify({
    Rule: rule,
    Message: '',
    MessageExpression: '',
    Reason: null,
    FieldPath: '',
    OptionalOldSelf: null,
    ...more,
  })
const withRule = (rule: string, more: object = {}, properties: object = { n: { type: 'integer' } }) =>
  withProperty({ type: 'object', properties, 'x-kubernetes-validations': [{ rule, ...more }] })
const ruleAt = `${at}.x-kubernetes-validations[0]`

const ruleInvalidCases: readonly InvalidCase[] = [
  ['a rule that compiles', withRule('self.n == 1 && self.n != oldSelf.n'), []],
  [
    'a rule with an unknown field',
    withRule('self.m == 1'),
    [
      `${ruleAt}.rule: Invalid value: ${ruleShown('self.m == 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'm'\n | self.m == 1\n | ....^`,
    ],
  ],
  [
    'a rule that is not boolean',
    withRule('self.n'),
    [`${ruleAt}.rule: Invalid value: ${ruleShown('self.n')}: cel expression must evaluate to a bool`],
  ],
  [
    'a message expression that is not a string',
    withRule('self.n == 1', { messageExpression: 'self.n' }),
    [
      `${ruleAt}.messageExpression: Invalid value: ${ruleShown('self.n == 1', { MessageExpression: 'self.n' })}: messageExpression must evaluate to a string`,
    ],
  ],
  [
    'a rule over an unbounded list',
    withRule('self.l.all(x, self.l.all(y, x == y))', {}, { l: { type: 'array', items: { type: 'string' } } }),
    [
      `${ruleAt}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`,
      `${ruleAt}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  [
    'a rule of a schema without a type',
    withProperty({ 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'true' }] }),
    [
      `${at}.x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations`,
    ],
  ],
  [
    'optionalOldSelf of a rule that does not compile',
    withRule('oldSelf >', { optionalOldSelf: true }),
    [
      `${ruleAt}.rule: Invalid value: ${ruleShown(String.raw`oldSelf \u003e`, { OptionalOldSelf: true }).replace('\\\\', '\\')}: compilation failed: ERROR: <input>:1:10: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | oldSelf >\n | .........^`,
      `${ruleAt}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
    ],
  ],
  [
    'oldSelf where elements have no identity',
    withProperty({
      type: 'array',
      maxItems: 5,
      items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
    }),
    [
      `${at}.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${at}`,
    ],
  ],
  [
    'an optional old value that no rule uses',
    withRule('self.n == 1', { optionalOldSelf: true }),
    [`${ruleAt}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`],
  ],
]

const resource = (value: object) =>
  withProperty({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
    default: value,
  })
testInvalidObjects(customResourceDefinition, [
  ['a resource as a default', resource({ apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 'b' } } }), []],
  ['an incomplete resource as a default', resource({ kind: 'Pod' }), [`${at}.default.apiVersion: Required value`]],
  [
    'a resource with invalid metadata as a default',
    resource({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 5 } }),
    [
      `${at}.default.metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string`,
    ],
  ],
])

testInvalidObjects(customResourceDefinition, ruleInvalidCases)

const map = { type: 'object', additionalProperties: { type: 'string' } }
const withoutStorage = (shown: string) =>
  `spec.versions: Invalid value: ${shown}: must have exactly one version marked as storage version`

const invalidCases: readonly InvalidCase[] = [
  ['valid', definition(), []],
  [
    'a group without a dot',
    definition({ group: 'example' }),
    [/spec\.group: .*should be a domain with at least one dot/],
  ],
  [
    'a listKind equal to the kind',
    definition({ names: { ...names, listKind: 'Bar' } }),
    ['spec.names.listKind: Invalid value: "Bar": kind and listKind may not be the same'],
  ],
  [
    'a k8s.io group without approval',
    { ...definition({ group: 'bars.k8s.io' }), metadata: { ...metadata, name: 'bars.bars.k8s.io' } },
    [/^metadata\.annotations\[api-approved\.kubernetes\.io\]: Required value: protected groups must have approval/],
  ],
  [
    'two storage versions with the same name',
    definition({ versions: [version({}), version({})] }),
    [/^spec\.versions: .*must contain unique version names$/, /must have exactly one version marked as storage/],
  ],
  [
    'errors of different versions have their own paths',
    definition({ versions: [version({ p: {} }), version({}, { name: 'v2', storage: false })] }),
    [
      'spec.versions[0].schema.openAPIV3Schema.properties[p].type: Required value: must not be empty for specified object fields',
    ],
  ],
  [
    'a warning without a deprecation',
    definition({ versions: [version({}, { deprecationWarning: 'x' })] }),
    ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
  ],
  ['an array without items', withProperty({ type: 'array' }), [`${at}.items: Required value: must be specified`]],
  [
    'a type under anyOf',
    withProperty({ type: 'string', anyOf: [{ type: 'string' }] }),
    [`${at}.anyOf[0].type: Forbidden: must be empty to be structural`],
  ],
  [
    'int or string in both notations',
    withProperty({
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
    }),
    [],
  ],
  [
    'a restricted field that is not declared',
    withRoot({ type: 'object', allOf: [{ properties: { a: { minLength: 1 } } }] }),
    [
      'spec.validation.openAPIV3Schema.properties[a]: Required value: because it is defined in spec.validation.openAPIV3Schema.allOf[0].properties[a]',
    ],
  ],
  ['a reference', withProperty({ $ref: '#/x' }), [`${at}.$ref: Forbidden: $ref is not supported`]],
  [
    'additionalProperties beside properties',
    withProperty({ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }),
    [`${at}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
  ],
  [
    'additionalProperties at the root',
    withRoot({ type: 'object', additionalProperties: { type: 'string' } }),
    ['spec.validation.openAPIV3Schema.additionalProperties: Forbidden: must not be used at the root'],
  ],
  [
    'a default of the wrong type',
    withProperty({ type: 'integer', default: '1' }),
    [`${at}.default: Invalid value: "string":  in body must be of type integer: "string"`],
  ],
  [
    'a default that would be pruned',
    withProperty({ type: 'object', default: { a: 1 } }),
    [`${at}.default: Invalid value: {"a":1}: must not have unknown fields`],
  ],
  [
    'a default that fails a rule',
    withProperty({
      type: 'integer',
      default: 3,
      'x-kubernetes-validations': [{ rule: 'self > 5', message: 'too low' }],
    }),
    [`${at}.default: Invalid value: 3: too low`],
  ],
  [
    'a default that fails rules of the object and of a field',
    withProperty({
      type: 'object',
      default: { a: 1 },
      properties: { a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 5' }] } },
      'x-kubernetes-validations': [{ rule: 'self.a > 7' }],
    }),
    [
      `${at}.default: Invalid value: failed rule: self.a > 7`,
      `${at}.default.a: Invalid value: 1: failed rule: self > 5`,
    ],
  ],
  [
    'a default that is invalid: its rules are not evaluated',
    withProperty({ type: 'integer', default: 3, minimum: 4, 'x-kubernetes-validations': [{ rule: 'self > 5' }] }),
    [`${at}.default: Invalid value: 3:  in body should be greater than or equal to 4`],
  ],
  [
    'a default and a rule that does not compile',
    withProperty({ type: 'integer', default: 3, 'x-kubernetes-validations': [{ rule: 'self >' }] }),
    [/\.default: Invalid value: "integer": rule compile error: compilation failed: ERROR: <input>:1:7: Syntax error/],
  ],
  [
    'a default in the metadata',
    withRoot({ type: 'object', properties: { metadata: { type: 'object', default: {} } } }),
    [/properties\[metadata\]\.default: Forbidden: must not be set in top-level metadata$/],
  ],
  [
    'metadata with more than name and generateName',
    withRoot({
      type: 'object',
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    }),
    [/properties\[metadata\]: Forbidden: must not specify anything other than name and generateName/],
  ],
  [
    'oneOf at the root beside a status',
    withRoot({ type: 'object', oneOf: [], anyOf: [{}] }, { subresources: { status: {} } }),
    [/^spec\.validation\.openAPIV3Schema: .*only \[Description Type Format .*\] fields are allowed at the root/],
  ],
  [
    'a set of objects that are not atomic',
    withProperty({ type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } }),
    [/items\.x-kubernetes-map-type: .*must be atomic as item of a list with x-kubernetes-list-type=set$/],
  ],
  [
    'a broken pattern',
    withProperty({ type: 'string', pattern: '[' }),
    [/pattern: Invalid value: "\[": must be a valid regular expression, but isn't: error parsing regexp/],
  ],
  [
    'a rule with an invalid field path',
    withProperty({
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.b' }],
    }),
    [`${at}.x-kubernetes-validations[0].fieldPath: Invalid value: ".b": must be a valid path`],
  ],
  [
    'a selectable field that is an object',
    withProperty({ type: 'object' }, { selectableFields: [{ jsonPath: '.p' }] }),
    [/^spec\.selectableFields\[0\]\.jsonPath: Invalid value: "\.p": must point to a field of type string, boolean/],
  ],
  [
    'a scale outside of spec and status',
    withProperty(
      { type: 'string' },
      {
        subresources: { scale: { specReplicasPath: '.x.n', statusReplicasPath: '.status.n' } },
      },
    ),
    ['spec.subresources.scale.specReplicasPath: Invalid value: ".x.n": should be a json path under .spec'],
  ],
  ['a selectable key of a map', withProperty(map, { selectableFields: [{ jsonPath: '.p.key' }] }), []],
  [
    'a selectable field with a key in brackets',
    withProperty(map, { selectableFields: [{ jsonPath: ".p['key']" }] }),
    [
      `spec.selectableFields[0].jsonPath: Invalid value: ".p['key']": is an invalid path: array notation is not allowed`,
    ],
  ],
  [
    'a column with an unknown format',
    withProperty(map, { additionalPrinterColumns: [{ name: 'P', type: 'string', format: 'name', jsonPath: '.p' }] }),
    [
      'spec.additionalPrinterColumns[0].format: Invalid value: "name": must be one of byte,date,date-time,double,float,int32,int64,password',
    ],
  ],
  [
    'a first version with an invalid name, which upstream reports twice',
    { ...definition({ versions: [version({}, { name: 'V1' })] }), status: { storedVersions: ['V1'] } },
    [
      /^spec\.versions\[0\]\.name: Invalid value: "V1": a DNS-1035 label/,
      /^spec\.version: Invalid value: "V1": a DNS-1035 label/,
    ],
  ],
  ['no versions', definition({ versions: undefined }), [withoutStorage('null'), /^status\.storedVersions\[0\]/]],
  ['an empty list of versions', definition({ versions: [] }), [withoutStorage('[]'), /^status\.storedVersions\[0\]/]],
  [
    'a webhook without a client',
    definition({ conversion: { strategy: 'Webhook' } }),
    [
      'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
      'spec.conversion.conversionReviewVersions: Required value',
    ],
  ],
  [
    'the deprecated preservation of unknown fields',
    definition({ preserveUnknownFields: true }),
    [/^spec\.preserveUnknownFields: Invalid value: true: cannot set to true/],
  ],
]
testInvalidObjects(customResourceDefinition, invalidCases)

test('a stored version is listed until it is removed explicitly', () => {
  const renamed = { ...definition({ versions: [version({}, { name: 'v2' })] }) }
  const errors = errorsOf(customResourceDefinition, renamed)
  equal(errors[0], 'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2')
  match(errors[1] ?? '', /^status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions/)
})

test('an update: the group is immutable, the scope is once the names are established', () => {
  const established = { ...definition(), status: { ...status, conditions: [{ type: 'Established', status: 'True' }] } }
  const changed = definition({ scope: 'Cluster', group: 'other.com' })
  deepEqual(updateErrorsOf(customResourceDefinition, definition(), changed), [
    'spec.group: Invalid value: "other.com": field is immutable',
  ])
  equal(updateErrorsOf(customResourceDefinition, established, changed).length, 2)
  const asObject = (body: object) => objectFrom(customResourceDefinition, body)
  const errors = customResourceDefinition.validate(asObject(changed), asObject(definition()))
  deepEqual(errors, [], 'the name is compared with the group of a new definition only')
})

test('a schema is itself in JSON and in protobuf, however deep', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'array', items: { additionalProperties: { enum: [null, 1, 'x'] } } },
      b: { additionalProperties: false, dependencies: { a: ['b'] }, default: { c: [1] } },
    },
  }
  const { value, unknownFields } = decode(jsonSchemaProps, schema)
  deepEqual([value, unknownFields], [schema, []])
  deepEqual(
    decode(jsonSchemaProps, decodeProtobuf(jsonSchemaProps, encodeProtobuf(jsonSchemaProps, value))).value,
    schema,
  )
})
