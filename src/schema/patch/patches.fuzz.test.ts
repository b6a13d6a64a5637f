// Patches and protobuf of any form: only the documented errors occur, and results have the documented properties.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { fuzz, mutatedBytes, pick, randomJson, rejectedOnlyWith } from '../../base/random/fuzz.harness.ts'
import type { Random } from '../../base/random/random.ts'
import { appliedFields } from '../apply/applied-fields.ts'
import { checkApplied } from '../apply/check-applied.ts'
import { compare } from '../apply/compare.ts'
import { isFieldSet } from '../apply/field-set.ts'
import { removeFields } from '../apply/remove-fields.ts'
import { structureOf } from '../apply/structure.ts'
import { typedMerge } from '../apply/typed-merge.ts'
import { decode, DecodeError } from '../decoding/decode.ts'
import { bool, int32, list, map, message, string, struct } from '../descriptor/field.ts'
import { nestsTooDeep } from '../json/json-depth.ts'
import { jsonPatch, JsonPatchError, type JsonPatchOperation } from './json-patch.ts'
import { deepCopy, equalValues, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { mergePatch } from './merge-patch.ts'
import { decodeProtobuf, decodeEnvelope, ProtobufError } from '../protobuf/protobuf-decode.ts'
import { encodeEnvelope, encodeProtobuf } from '../protobuf/protobuf-encode.ts'
import { randomInstance } from '../descriptor/random-instance.harness.ts'
import { mayHaveDuplicateKeys, strictErrors } from '../json/duplicate-keys.ts'
import { strategicMerge, StrategicMergeError } from './strategic-merge.ts'

const item = message('Item', { name: string(1), a: int32(2), b: bool(3) })
const thing = message('Thing', {
  name: string(1),
  spec: struct(2, item),
  items: list(3, item, { patch: 'merge', mergeKey: 'name', listType: 'map', listMapKeys: ['name'] }),
  plain: list(4, 'string', { listType: 'atomic' }),
  metadata: map(5, 'string'),
})
const structure = structureOf(thing)

/** An object of the type, with JSON of any form in some places. */
function randomThing(random: Random): JsonObject {
  const instance = randomInstance(thing, random) as Record<string, JsonValue>
  return random.below(2) === 0 ? instance : { ...instance, [pick(random, places)]: randomJson(random) as JsonValue }
}
const places = [
  'name',
  'spec',
  'items',
  'plain',
  'metadata',
  '$patch',
  '$retainKeys',
  '$setElementOrder/items',
  '__proto__',
]

/** Deeply frozen, so that changes of inputs fail. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) frozen(each)
  return Object.freeze(value)
}

fuzz('JSON patches', {
  runs: 3_000,
  make: (random) => ({
    target: randomJson(random) as JsonValue,
    operations: Array.from({ length: random.below(4) }, () => randomOperation(random)),
  }),
  check({ target, operations }) {
    const result = rejectedOnlyWith([JsonPatchError], () => jsonPatch(frozen(target), frozen(operations)))
    if (operations.length === 0) equal(result, target)
  },
})

const steps = ['', '/a', '/b', '/0', '/-', '/metadata', '/__proto__', '/constructor', '/a~1b', '/a~0b', '/01', '/~2']

function randomOperation(random: Random): JsonPatchOperation {
  const path = () => pick(random, steps) + (random.below(2) === 0 ? pick(random, steps) : '')
  return {
    op: pick(random, ['add', 'remove', 'replace', 'move', 'copy', 'test']),
    path: path(),
    ...(random.below(2) === 0 ? { from: path() } : {}),
    ...(random.below(3) > 0 ? { value: randomJson(random) } : {}),
  } as JsonPatchOperation
}

fuzz('merge patches', {
  runs: 3_000,
  make: (random) => ({ target: randomJson(random) as JsonValue, patch: randomJson(random) as JsonValue }),
  check({ target, patch }) {
    const once = mergePatch(frozen(target), frozen(patch))
    ok(equalValues(mergePatch(once, patch), once), 'a second time changes nothing')
    if (isJsonObject(patch) && isJsonObject(once))
      for (const [name, value] of Object.entries(patch)) equal(Object.hasOwn(once, name), value !== null, name)
    equal(({} as { a?: unknown }).a, undefined)
  },
})

fuzz('strategic merge patches', {
  runs: 3_000,
  make: (random) => ({ target: randomInstance(thing, random) as JsonObject, patch: randomThing(random) }),
  check({ target, patch }) {
    const before = deepCopy(target)
    rejectedOnlyWith([StrategicMergeError], () => strategicMerge(thing, frozen(target), frozen(patch)))
    deepEqual(deepCopy(target), before)
  },
})

fuzz('server-side apply', {
  runs: 3_000,
  make: (random) => ({ live: randomInstance(thing, random) as JsonObject, applied: randomThing(random) }),
  check({ live, applied }) {
    if (checkApplied(structure, applied).length > 0) return
    const merged = typedMerge(structure, frozen(live), frozen(applied))
    ok(equalValues(typedMerge(structure, merged, applied), merged), 'a second time changes nothing')
    const fields = appliedFields(structure, applied)
    ok(isFieldSet(fields))
    removeFields(structure, merged, fields)
    compare(structure, live, merged)
  },
})

fuzz('objects of any shape', {
  runs: 3_000,
  make: (random) => ({ ...(randomInstance(thing, random) as JsonObject), ...(randomJson(random) as JsonObject) }),
  check: (object) => void rejectedOnlyWith([DecodeError], () => decode(thing, object)),
})

fuzz('protobuf of objects', {
  runs: 3_000,
  make: (random) => randomInstance(thing, random) as JsonObject,
  check(object, random) {
    const good = encodeProtobuf(thing, object)
    const read = decodeProtobuf(thing, good)
    deepEqual(decodeProtobuf(thing, encodeProtobuf(thing, read)), read)
    rejectedOnlyWith([ProtobufError], () => decodeProtobuf(thing, mutatedBytes(good, random)))
    const envelope = encodeEnvelope('v1', 'Thing', good)
    rejectedOnlyWith([ProtobufError], () => decodeEnvelope(mutatedBytes(envelope, random)))
  },
})

/** A second implementation: JSON.parse drops one of two equal keys, so fewer keys are left than were written. */
function written(value: unknown, random: Random): { readonly text: string; readonly repeats: boolean } {
  if (Array.isArray(value)) {
    const items = value.map((each) => written(each, random))
    return { text: `[${items.map(({ text }) => text).join(' ,')}]`, repeats: items.some(({ repeats }) => repeats) }
  }
  if (typeof value !== 'object' || value === null) return { text: JSON.stringify(value), repeats: false }
  const entries = Object.entries(value)
  const doubled = entries.length > 0 && random.below(4) === 0 ? [...entries, ...entries.slice(0, 1)] : entries
  const parts = doubled.map(([name, each]) => ({ name, ...written(each, random) }))
  return {
    text: `{${parts.map(({ name, text }) => `${JSON.stringify(name)}: ${text}`).join(', ')}}`,
    repeats: doubled.length > entries.length || parts.some(({ repeats }) => repeats),
  }
}

fuzz('keys that stand twice in JSON', {
  runs: 3_000,
  make: (random) => written(randomJson(random), random),
  check({ text, repeats }) {
    const bytes = new TextEncoder().encode(text)
    JSON.parse(text)
    equal(strictErrors([], bytes).length > 0, repeats)
    if (repeats) ok(mayHaveDuplicateKeys(bytes))
    equal(nestsTooDeep(bytes), false)
  },
})
