// For tests: random values of a type with absent, zero and empty values, and values that are all zero.
import type { Random } from '../../base/random/random.ts'
import type { ScalarName, Type } from './field.ts'
import type { JsonValue } from '../json/json-value.ts'
import { zeroOf } from './zero.ts'

const samples: Readonly<Record<ScalarName, readonly JsonValue[]>> = {
  string: ['', 'a', 'é√'],
  bool: [false, true],
  int32: [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)],
  int64: [0, 7, -7, 2 ** 53 - 1, -(2 ** 53 - 1), 2 ** 32, 2 ** 35, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)],
  double: [0, 1.5, -2.25],
  bytes: ['', 'AAE='],
  quantity: ['0', '100m', '1Gi'],
  duration: ['0s', '1m30s'],
  intOrString: [0, 5, '', '25%'],
  time: ['2030-01-02T03:04:05Z'],
  microTime: ['2030-01-02T03:04:05.000006Z'],
  fieldsV1: [{ 'f:a': {} }],
  rawExtension: [{ a: [1, { b: null }, 2n ** 53n + 1n] }, []],
  json: [{ a: [1, { b: null }] }, 'a', false, null],
}

/** Schemas are recursive: deeper ones are left empty. */
const nestingMax = 10

export function randomInstance(type: Type, random: Random, depth = 0): JsonValue {
  if (typeof type === 'string') return samples[type][random.below(samples[type].length)] ?? null
  const items = () => Array.from({ length: random.below(3) }, (_, index) => index)
  switch (type.kind) {
    case 'list':
      return items().map(() => randomInstance(type.element, random, depth + 1))
    case 'map':
      return Object.fromEntries(items().map((index) => [`k${index}`, randomInstance(type.value, random, depth + 1)]))
    case 'message': {
      const all = Object.entries(type.fields)
      if (type.isChoice) return randomInstance(all[random.below(all.length)]?.[1].type ?? 'string', random, depth + 1)
      const fields = all.filter(() => depth < nestingMax && random.below(depth > 6 ? 12 : 3) === 0)
      return Object.fromEntries(fields.map(([name, field]) => [name, randomInstance(field.type, random, depth + 1)]))
    }
    default:
      return type satisfies never
  }
}

/** Types may contain themselves. */
const depthMax = 8

/** All fields present and zero; lists and maps empty, or with one zero element. */
export function zeroInstance(type: Type, inLists: 0 | 1, depth = 0): JsonValue {
  if (typeof type === 'string')
    return samples[type].includes('') ? '' : (zeroSamples[type] ?? (zeroOf(type) as JsonValue))
  switch (type.kind) {
    case 'list':
      return inLists === 0 ? [] : [zeroInstance(type.element, inLists, depth + 1)]
    case 'map':
      return inLists === 0 ? {} : { '': zeroInstance(type.value, inLists, depth + 1) }
    case 'message': {
      const fields = depth > depthMax ? [] : Object.entries(type.fields)
      return Object.fromEntries(fields.map(([name, field]) => [name, zeroInstance(field.type, inLists, depth + 1)]))
    }
    default:
      return type satisfies never
  }
}

/** Empty text is neither a time nor JSON. */
const zeroSamples: Partial<Record<ScalarName, JsonValue>> = {
  time: '1970-01-01T00:00:00Z',
  microTime: '1970-01-01T00:00:00.000000Z',
  duration: '0s',
  fieldsV1: {},
  rawExtension: {},
}
