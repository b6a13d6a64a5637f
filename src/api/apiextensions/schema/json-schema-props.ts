// JSONSchemaProps: the schema of a custom resource in its definition. Schemas are recursive: the fields that refer to
// schemas are getters, and the TypeScript type is written by hand, because an inferred type cannot be circular.
import type { Int64 } from '../../../schema/scalar/int64.ts'
import {
  bool,
  choice,
  double,
  int64,
  json,
  list,
  map,
  message,
  string,
  struct,
  type Field,
  type FieldMap,
  type Message,
} from '../../../schema/descriptor/field.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'

const name = (type: string): string => `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.${type}`

export const externalDocumentation = message(name('ExternalDocumentation'), {
  description: string(1, { description: 'What is documented.' }),
  url: string(2, { description: 'The address of the documentation.' }),
})
export interface ExternalDocumentation extends Infer<typeof externalDocumentation> {}

export const validationRule = message(name('ValidationRule'), {
  rule: string(1, {
    required: true,
    description: 'A CEL expression that must return true; self is the value, oldSelf its former value.',
  }),
  message: string(2, { description: 'The message of a failure.' }),
  messageExpression: string(3, { description: 'A CEL expression that returns the message.' }),
  reason: string(4, {
    pointer: true,
    enum: ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'],
    enumUnchecked: true,
    description:
      'The reason of a failure: FieldValueInvalid (the default), FieldValueForbidden, FieldValueRequired or FieldValueDuplicate.',
  }),
  fieldPath: string(5, { description: 'The field of the failure, relative to the value.' }),
  optionalOldSelf: bool(6, {
    pointer: true,
    description: 'Whether the rule is also checked without a former value; false by default.',
  }),
})
export interface ValidationRule extends Infer<typeof validationRule> {}

/** A schema that may contain schemas, read-only and complete as decoded. */
export interface JsonSchemaProps {
  readonly id?: string
  readonly $schema?: string
  readonly $ref?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly default?: unknown
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maxLength?: Int64
  readonly minLength?: Int64
  readonly pattern?: string
  readonly maxItems?: Int64
  readonly minItems?: Int64
  readonly uniqueItems?: boolean
  readonly multipleOf?: number
  readonly enum?: readonly unknown[]
  readonly maxProperties?: Int64
  readonly minProperties?: Int64
  readonly required?: readonly string[]
  readonly items?: JsonSchemaProps | readonly JsonSchemaProps[]
  readonly allOf?: readonly JsonSchemaProps[]
  readonly oneOf?: readonly JsonSchemaProps[]
  readonly anyOf?: readonly JsonSchemaProps[]
  readonly not?: JsonSchemaProps
  readonly properties?: Readonly<Record<string, JsonSchemaProps>>
  readonly additionalProperties?: JsonSchemaProps | boolean
  readonly patternProperties?: Readonly<Record<string, JsonSchemaProps>>
  readonly dependencies?: Readonly<Record<string, JsonSchemaProps | readonly string[]>>
  readonly additionalItems?: JsonSchemaProps | boolean
  readonly definitions?: Readonly<Record<string, JsonSchemaProps>>
  readonly externalDocs?: ExternalDocumentation
  readonly example?: unknown
  readonly nullable?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

const atomic = { listType: 'atomic' } as const
const pointer = { pointer: true } as const

const fields: FieldMap = {
  id: string(1, { description: 'Not supported.' }),
  $schema: string(2, { description: 'The URI of the JSON schema specification.' }),
  $ref: string(3, { ...pointer, description: 'Not supported.' }),
  description: string(4, { description: 'The description of the value.' }),
  type: string(5, { description: 'object, array, string, integer, number or boolean.' }),
  format: string(6, { description: 'The format of the value, such as date-time or int32.' }),
  title: string(7, { description: 'A title of the value.' }),
  default: json(8, { ...pointer, description: 'The value that is set when the field is absent.' }),
  maximum: double(9, { ...pointer, description: 'The largest number.' }),
  exclusiveMaximum: bool(10, { description: 'Whether the largest number itself is invalid.' }),
  minimum: double(11, { ...pointer, description: 'The smallest number.' }),
  exclusiveMinimum: bool(12, { description: 'Whether the smallest number itself is invalid.' }),
  maxLength: int64(13, { ...pointer, description: 'The largest number of characters.' }),
  minLength: int64(14, { ...pointer, description: 'The smallest number of characters.' }),
  pattern: string(15, { description: 'A regular expression that the text must match.' }),
  maxItems: int64(16, { ...pointer, description: 'The largest number of items.' }),
  minItems: int64(17, { ...pointer, description: 'The smallest number of items.' }),
  uniqueItems: bool(18, { description: 'Not supported; use x-kubernetes-list-type set.' }),
  multipleOf: double(19, { ...pointer, description: 'The number must be a multiple of this one.' }),
  enum: list(20, 'json', { ...atomic, description: 'The allowed values.' }),
  maxProperties: int64(21, { ...pointer, description: 'The largest number of properties.' }),
  minProperties: int64(22, { ...pointer, description: 'The smallest number of properties.' }),
  required: list(23, 'string', { ...atomic, description: 'The names of the properties that must be present.' }),
  get items(): Field {
    return struct(24, jsonSchemaPropsOrArray, { ...pointer, description: 'The schema of the items.' })
  },
  get allOf(): Field {
    return list(25, jsonSchemaProps, { ...atomic, description: 'Schemas that must all match.' })
  },
  get oneOf(): Field {
    return list(26, jsonSchemaProps, { ...atomic, description: 'Schemas of which exactly one must match.' })
  },
  get anyOf(): Field {
    return list(27, jsonSchemaProps, { ...atomic, description: 'Schemas of which at least one must match.' })
  },
  get not(): Field {
    return struct(28, jsonSchemaProps, { ...pointer, description: 'A schema that must not match.' })
  },
  get properties(): Field {
    return map(29, jsonSchemaProps, { description: 'The schemas of the properties.' })
  },
  get additionalProperties(): Field {
    return struct(30, jsonSchemaPropsOrBool, { ...pointer, description: 'The schema of the values of a map.' })
  },
  get patternProperties(): Field {
    return map(31, jsonSchemaProps, { description: 'Not supported.' })
  },
  get dependencies(): Field {
    return map(32, jsonSchemaPropsOrStringArray, { description: 'Not supported.' })
  },
  get additionalItems(): Field {
    return struct(33, jsonSchemaPropsOrBool, { ...pointer, description: 'Not supported.' })
  },
  get definitions(): Field {
    return map(34, jsonSchemaProps, { description: 'Not supported.' })
  },
  externalDocs: struct(35, externalDocumentation, { ...pointer, description: 'Further documentation.' }),
  example: json(36, { ...pointer, description: 'An example of the value.' }),
  nullable: bool(37, { description: 'Whether null is allowed; false by default.' }),
  'x-kubernetes-preserve-unknown-fields': bool(38, {
    ...pointer,
    description: 'Whether fields that the schema does not name are kept; false by default.',
  }),
  'x-kubernetes-embedded-resource': bool(39, {
    description: 'Whether the value is a Kubernetes object with apiVersion, kind and metadata.',
  }),
  'x-kubernetes-int-or-string': bool(40, { description: 'Whether the value is an integer or a string.' }),
  'x-kubernetes-list-map-keys': list(41, 'string', {
    ...atomic,
    description: 'The fields that identify an item of a list of type map.',
  }),
  'x-kubernetes-list-type': string(42, {
    ...pointer,
    description: 'How a list is merged: atomic (the default), set or map.',
  }),
  'x-kubernetes-map-type': string(43, {
    ...pointer,
    description: 'How an object is merged: granular (the default) or atomic.',
  }),
  'x-kubernetes-validations': list(44, validationRule, {
    listType: 'map',
    keys: ['rule'],
    patch: 'merge',
    mergeKey: 'rule',
    description: 'CEL rules that the value must obey.',
  }),
}

export const jsonSchemaProps: Message = message(name('JSONSchemaProps'), fields)

export const jsonSchemaPropsOrArray: Message = choice(name('JSONSchemaPropsOrArray'), {
  schema: struct(1, jsonSchemaProps, pointer),
  jSONSchemas: list(2, jsonSchemaProps),
})

export const jsonSchemaPropsOrBool: Message = choice(name('JSONSchemaPropsOrBool'), {
  allows: bool(1),
  schema: struct(2, jsonSchemaProps, pointer),
})

export const jsonSchemaPropsOrStringArray: Message = choice(name('JSONSchemaPropsOrStringArray'), {
  schema: struct(1, jsonSchemaProps, pointer),
  property: list(2, 'string'),
})

/** A field that contains a schema; its inferred type is the hand-written one. */
export const schemaField = (tag: number): Field<Message, 'optional', JsonSchemaProps> =>
  struct(tag, jsonSchemaProps, { ...pointer, description: 'The OpenAPI v3 schema of the value.' }) as Field<
    Message,
    'optional',
    JsonSchemaProps
  >
