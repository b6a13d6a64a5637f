// builtInSchema: the structural schema of a built-in message, as projects embed pod templates and selectors in their
// definitions: large and deep, with everything that it refers to inline and without descriptions.
import type { Field, Message, Type } from '../../../src/schema/descriptor/field.ts'
import type { Schema } from '../../../src/gateway/definitions/schema-parts.ts'

export const builtInSchema = (message: Message): Schema => typeSchema(message)

const amount = '^[-+]?([0-9]+\\.?|\\.[0-9])[0-9]*([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$'
const numberOrText = { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true } as const

const scalarSchemas: Readonly<Record<Type & string, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number' },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  duration: { type: 'string' },
  intOrString: numberOrText,
  quantity: { ...numberOrText, pattern: amount },
  fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  rawExtension: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  json: { 'x-kubernetes-preserve-unknown-fields': true },
}

function typeSchema(type: Type): Schema {
  if (typeof type === 'string') return scalarSchemas[type]
  switch (type.kind) {
    case 'message':
      return messageSchema(type)
    case 'list':
      return { type: 'array', items: typeSchema(type.element) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.value) }
    default:
      return type satisfies never
  }
}

function messageSchema({ fields, mapType }: Message): Schema {
  const entries = Object.entries(fields)
  const required = entries.filter(([, field]) => field.required).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, field]) => [name, fieldSchema(field)])),
    ...(required.length === 0 ? {} : { required }),
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
  }
}

function fieldSchema(field: Field): Schema {
  const schema = typeSchema(field.type)
  return {
    ...schema,
    ...(field.enum === undefined || schema.type !== 'string' ? {} : { enum: field.enum }),
    ...(schema.type === 'array' ? listMarks(field) : {}),
  }
}

/** Every key of a list that is merged is required here: the defaults of built-in types are no part of their schema. */
function listMarks({ type, listType, keys = [] }: Field): Schema {
  if (listType === undefined) return {}
  if (listType !== 'map') return { 'x-kubernetes-list-type': listType }
  const element = typeof type === 'object' && type.kind === 'list' ? type.element : type
  const areRequired =
    typeof element === 'object' &&
    element.kind === 'message' &&
    keys.every((key) => element.fields[key]?.required === true)
  return areRequired ? { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys } : {}
}
