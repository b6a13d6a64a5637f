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
  description: string(1),
  url: string(2),
})
export interface ExternalDocumentation extends Infer<typeof externalDocumentation> {}

export const validationRule = message(name('ValidationRule'), {
  rule: string(1, { required: true }),
  message: string(2),
  messageExpression: string(3),
  reason: string(4, {
    pointer: true,
    enum: ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'],
    enumUnchecked: true,
  }),
  fieldPath: string(5),
  optionalOldSelf: bool(6, { pointer: true }),
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
  id: string(1),
  $schema: string(2),
  $ref: string(3, pointer),
  description: string(4),
  type: string(5),
  format: string(6),
  title: string(7),
  default: json(8, pointer),
  maximum: double(9, pointer),
  exclusiveMaximum: bool(10),
  minimum: double(11, pointer),
  exclusiveMinimum: bool(12),
  maxLength: int64(13, pointer),
  minLength: int64(14, pointer),
  pattern: string(15),
  maxItems: int64(16, pointer),
  minItems: int64(17, pointer),
  uniqueItems: bool(18),
  multipleOf: double(19, pointer),
  enum: list(20, 'json', atomic),
  maxProperties: int64(21, pointer),
  minProperties: int64(22, pointer),
  required: list(23, 'string', atomic),
  get items(): Field {
    return struct(24, jsonSchemaPropsOrArray, pointer)
  },
  get allOf(): Field {
    return list(25, jsonSchemaProps, atomic)
  },
  get oneOf(): Field {
    return list(26, jsonSchemaProps, atomic)
  },
  get anyOf(): Field {
    return list(27, jsonSchemaProps, atomic)
  },
  get not(): Field {
    return struct(28, jsonSchemaProps, pointer)
  },
  get properties(): Field {
    return map(29, jsonSchemaProps)
  },
  get additionalProperties(): Field {
    return struct(30, jsonSchemaPropsOrBool, pointer)
  },
  get patternProperties(): Field {
    return map(31, jsonSchemaProps)
  },
  get dependencies(): Field {
    return map(32, jsonSchemaPropsOrStringArray)
  },
  get additionalItems(): Field {
    return struct(33, jsonSchemaPropsOrBool, pointer)
  },
  get definitions(): Field {
    return map(34, jsonSchemaProps)
  },
  externalDocs: struct(35, externalDocumentation, pointer),
  example: json(36, pointer),
  nullable: bool(37),
  'x-kubernetes-preserve-unknown-fields': bool(38, pointer),
  'x-kubernetes-embedded-resource': bool(39),
  'x-kubernetes-int-or-string': bool(40),
  'x-kubernetes-list-map-keys': list(41, 'string', atomic),
  'x-kubernetes-list-type': string(42, pointer),
  'x-kubernetes-map-type': string(43, pointer),
  'x-kubernetes-validations': list(44, validationRule, {
    listType: 'map',
    keys: ['rule'],
    patch: 'merge',
    mergeKey: 'rule',
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
  struct(tag, jsonSchemaProps, pointer) as Field<Message, 'optional', JsonSchemaProps>
