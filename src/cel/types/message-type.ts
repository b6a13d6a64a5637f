// Types of our own messages, for expressions about objects of built-in kinds.
import type { Message, ScalarName, Type } from '../../schema/descriptor/field.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  stringType,
  timestampType,
  type CelType,
  type ObjectField,
  type ObjectType,
} from './cel-type.ts'
import { escapedName } from './structural-type.ts'

const scalars: Readonly<Record<ScalarName, CelType>> = {
  string: stringType,
  bool: boolType,
  int32: intType,
  int64: intType,
  double: doubleType,
  bytes: bytesType,
  quantity: stringType,
  duration: durationType,
  intOrString: dynType,
  time: timestampType,
  microTime: timestampType,
  fieldsV1: dynType,
  rawExtension: dynType,
  json: dynType,
}

const known = new WeakMap<Message, ObjectType>()

/** The fields are computed lazily, since a message may contain itself. */
export function messageType(message: Message): ObjectType {
  const found = known.get(message)
  if (found !== undefined) return found
  let fields: ReadonlyMap<string, ObjectField> | undefined
  const type: ObjectType = {
    kind: 'object',
    name: message.name,
    get fields() {
      return (fields ??= fieldsOf(message))
    },
  }
  known.set(message, type)
  return type
}

function fieldsOf({ fields }: Message): ReadonlyMap<string, ObjectField> {
  const all = new Map<string, ObjectField>()
  for (const [jsonName, { type }] of Object.entries(fields)) {
    const name = escapedName(jsonName)
    if (name !== undefined) all.set(name, { type: typeOfField(type), jsonName })
  }
  return all
}

function typeOfField(type: Type): CelType {
  if (typeof type === 'string') return scalars[type]
  switch (type.kind) {
    case 'list':
      return listOf(typeOfField(type.element))
    case 'map':
      return mapOf(stringType, typeOfField(type.value))
    case 'message':
      return type.isChoice ? dynType : messageType(type)
    default:
      return type satisfies never
  }
}

/** An object of a kind also has kind and apiVersion. */
export function objectMessageType(message: Message): ObjectType {
  const inner = messageType(message)
  const text = (jsonName: string): [string, ObjectField] => [jsonName, { type: stringType, jsonName }]
  return {
    kind: 'object',
    name: message.name,
    get fields() {
      return new Map([...inner.fields, text('apiVersion'), text('kind')])
    },
  }
}
