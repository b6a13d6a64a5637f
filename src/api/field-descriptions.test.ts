// Descriptions of fields, as kubectl explain shows them, state the default and the unit. That every field has one is tested with
// the OpenAPI documents.
import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { lookup } from '../base/collections/lookup.ts'
import type { Field, Message, Type } from '../schema/descriptor/field.ts'
import { isJsonObject, type JsonObject } from '../schema/json/json-value.ts'
import { kinds } from './kinds.ts'

const isMessage = (type: Type): type is Message => typeof type === 'object' && type.kind === 'message'

/** The message of the elements of a list or a map, or the type itself. */
function innermost(type: Type): Type {
  if (typeof type === 'string' || type.kind === 'message') return type
  return innermost(type.kind === 'list' ? type.element : type.value)
}

/** All fields of all kinds, except those of a status, which no user sets. */
function desiredFields(): readonly { readonly path: string; readonly name: string; readonly field: Field }[] {
  const seen = new Set<Message>()
  const collect = (message: Message): void => {
    if (seen.has(message)) return
    seen.add(message)
    for (const { type } of Object.values(message.fields)) {
      const inner = innermost(type)
      if (isMessage(inner)) collect(inner)
    }
  }
  for (const { message } of kinds) collect(message)
  return [...seen]
    .filter(({ name }) => !name.endsWith('Status'))
    .flatMap((message) =>
      Object.entries(message.fields).map(([name, field]) => ({ path: `${message.name} ${name}`, name, field })),
    )
}

/** A zero value that means the same as an absent field needs no words. */
const isPlainZero = (value: unknown): boolean => value === '' || value === false

const names = (description: string, value: unknown): boolean =>
  /\bdefault\b/.test(description) && (value === true || description.includes(String(value)))

test('a field with a default names it', () => {
  const scalars = desiredFields().filter(
    ({ field }) => field.default !== undefined && typeof field.default !== 'object' && !isPlainZero(field.default),
  )
  ok(scalars.length >= 80, `${scalars.length} fields`)
  const silent = scalars.filter(({ field: { description = '', default: value } }) => !names(description, value))
  deepEqual(
    silent.map(({ path, field }) => `${path} (${field.default}): ${field.description}`),
    [],
  )
})

const units: readonly [fields: RegExp, unit: RegExp][] = [
  [/Seconds$/, /\bseconds?\b/i],
  [/(?:Percent|Percentage|Utilization)$/, /\bpercent(?:age)?\b/],
  [/Bytes$/, /\bbytes?\b/i],
]

test('a duration, a percentage and a size name their unit', () => {
  const fields = desiredFields()
  for (const [pattern, unit] of units) {
    const measured = fields.filter(({ name, field }) => pattern.test(name) && !isMessage(innermost(field.type)))
    ok(measured.length > 0, String(pattern))
    const silent = measured.filter(({ field: { description = '' } }) => !unit.test(description))
    deepEqual(
      silent.map(({ path, field }) => `${path}: ${field.description}`),
      [],
    )
  }
})

interface Exchange {
  readonly path: string
  readonly sent: JsonObject & { readonly apiVersion: string; readonly kind: string }
  readonly answer: JsonObject
}

const exchanges = JSON.parse(
  readFileSync(new URL('../../test/facts/defaults.json', import.meta.url), 'utf8'),
) as readonly Exchange[]

/** Calls back for each field of the answer that was not sent. Elements of lists that were not sent are values, not defaults. */
function eachAdded(
  message: Message,
  sent: unknown,
  answer: JsonObject,
  visit: (path: string, field: Field, value: unknown) => void,
): void {
  for (const [name, value] of Object.entries(answer)) {
    const field = lookup(message.fields, name)
    if (field === undefined || name === 'metadata' || name === 'status') continue
    const before = isJsonObject(sent) ? lookup(sent, name) : undefined
    const { type } = field
    if (isMessage(type) && isJsonObject(value)) eachAdded(type, before, value, visit)
    else if (before === undefined && (typeof type === 'string' || type.kind === 'list'))
      visit(`${message.name} ${name}`, field, value)
    else if (Array.isArray(value) && Array.isArray(before) && isMessage(innermost(type)))
      value.forEach((element, index) => {
        const inner = innermost(type)
        if (index < before.length && isMessage(inner) && isJsonObject(element))
          eachAdded(inner, before[index], element, visit)
      })
  }
}

/** What admission adds to objects, which is no default of the field. */
const added = new Set([
  'io.k8s.api.core.v1.Container volumeMounts',
  'io.k8s.api.core.v1.NodeSpec taints',
  'io.k8s.api.core.v1.PodSpec tolerations',
  'io.k8s.api.core.v1.PodSpec volumes',
])

test('what upstream sets in a minimal object is described as the default', () => {
  const silent = new Set<string>()
  let fields = 0
  for (const { sent, answer } of exchanges) {
    const kind = kinds.find((each) => each.apiVersion === sent.apiVersion && each.kind === sent.kind)
    if (kind === undefined || 'code' in answer) continue
    eachAdded(kind.message, sent, answer, (path, { description = '', enum: values, type }, value) => {
      if (isPlainZero(value) || added.has(path)) return
      fields++
      const isChosen = values !== undefined && typeof type === 'string'
      const isNamed = isChosen ? names(description, value) : /\bdefault\b/.test(description)
      if (!isNamed) silent.add(`${path} (${JSON.stringify(value)}): ${description}`)
    })
  }
  ok(fields > 100, `${fields} fields`)
  deepEqual([...silent], [])
})
