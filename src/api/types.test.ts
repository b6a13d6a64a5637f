// All types of the served kinds agree with the facts recorded from upstream, field by field: names, enumerations, and which
// empty values are written.
import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { messageIn } from '../schema/descriptor/contained-messages.ts'
import type { Field, Message } from '../schema/descriptor/field.ts'
import { keepsEmpty } from '../schema/descriptor/zero.ts'
import { addOnGroups, kinds } from './kinds.ts'

/** The recorded facts of a field; an absent property means no. */
interface FieldFact {
  readonly enum?: readonly string[]
  readonly required?: true
  readonly pointer?: true
  readonly omitempty?: true
  /** A default that is not the zero value of its type. */
  readonly default?: unknown
}

const facts = JSON.parse(readFileSync(new URL('../../test/facts/fields.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Readonly<Record<string, FieldFact>>>
>

const types = new Map<string, Message>()
for (const kind of kinds) if (!addOnGroups.includes(kind.group)) collect(kind.message)

/** Upstream's schemas do not describe the forms of a choice. */
function collect(message: Message): void {
  if (types.has(message.name) || message.isChoice) return
  types.set(message.name, message)
  for (const { type } of Object.values(message.fields)) {
    const inner = messageIn(type)
    if (inner !== undefined) collect(inner)
  }
}

/** omitempty has no effect on a struct by value in Go. */
const isStruct = ({ type }: Field): boolean => typeof type === 'object' && type.kind === 'message'

/** Go writes null for an unset one. */
const isNullPointer = ({ keepEmpty, required, omitEmpty }: Field): boolean =>
  keepEmpty === true || (required === true && !omitEmpty)

const ours = (field: Field): FieldFact => ({
  ...(field.enum === undefined ? {} : { enum: field.enum.toSorted() }),
  ...(field.required ? { required: true } : {}),
  ...(field.pointer ? { pointer: true } : {}),
  ...(isStruct(field) || (field.pointer ? isNullPointer(field) : keepsEmpty(field)) ? {} : { omitempty: true }),
})

const theirs = ({ default: _, omitempty, ...fact }: FieldFact, field: Field): FieldFact => ({
  ...fact,
  ...(omitempty && !isStruct(field) ? { omitempty } : {}),
})

// A choice is not a type of its own in upstream's schemas.
for (const [name, message] of types.entries().filter(([, { isChoice }]) => !isChoice))
  test(`${name} as upstream has it`, () => {
    const fact = facts[name] ?? {}
    ok(name in facts || Object.keys(message.fields).length === 0, 'the facts know the type')
    deepEqual(Object.keys(message.fields).toSorted(), Object.keys(fact).toSorted())
    for (const [fieldName, field] of Object.entries(message.fields)) {
      const known: FieldFact = fact[fieldName] ?? {}
      deepEqual(ours(field), theirs(known, field), fieldName)
      if (known.default !== undefined) deepEqual(field.default, known.default, fieldName)
    }
  })
