// Lists whose schema has the type set or map: their order does not matter, and a concatenation keeps every element once.
import { Duration, Timestamp } from './time-values.ts'
import { MapValue, type ListValue, type Value } from './value.ts'

type Equals = (a: Value, b: Value) => boolean

/** Results of methods such as `map` are ordinary lists. */
export abstract class KeyedList extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  /** Whether another list has the same elements in any order. */
  abstract isEqual(other: ListValue, equals: Equals): boolean
  /** The elements of both lists. */
  abstract joined(other: ListValue): KeyedList
}

/** Elements with the same key, found by it. */
function byKey(list: ListValue, keyOf: (value: Value) => unknown): Map<unknown, Value> {
  const found = new Map<unknown, Value>()
  for (const each of list) found.set(keyOf(each), each)
  return found
}

/** Equal for equal scalars. Numbers of different types are compared one by one. */
function scalarKey(value: Value): unknown {
  if (value instanceof Timestamp || value instanceof Duration) return `${value.constructor.name} ${value.toString()}`
  return value instanceof Uint8Array ? value.toBase64() : value
}

export class SetList extends KeyedList {
  isEqual(other: ListValue, equals: Equals): boolean {
    if (other.length !== this.length) return false
    const own = byKey(this, scalarKey)
    return other.every((each) => own.has(scalarKey(each)) || this.some((mine) => equals(mine, each)))
  }

  joined(other: ListValue): SetList {
    const own = byKey(this, scalarKey)
    const added = other.filter((each) => !own.has(scalarKey(each)))
    return SetList.from([...this, ...added]) as SetList
  }
}

export class MapList extends KeyedList {
  keyNames: readonly string[] = []

  static keyed(values: readonly Value[], keyNames: readonly string[]): MapList {
    const list = MapList.from(values) as MapList
    list.keyNames = keyNames
    return list
  }

  isEqual(other: ListValue, equals: Equals): boolean {
    if (other.length !== this.length) return false
    const own = byKey(this, this.#keyOf)
    return other.every((each) => {
      const mine = own.get(this.#keyOf(each))
      return mine !== undefined && equals(mine, each)
    })
  }

  /** An element of the other list replaces the one with the same keys. */
  joined(other: ListValue): MapList {
    const replaced = byKey(other, this.#keyOf)
    const kept = this.map((each) => {
      const key = this.#keyOf(each)
      const by = replaced.get(key)
      replaced.delete(key)
      return by ?? each
    })
    return MapList.keyed([...kept, ...replaced.values()], this.keyNames)
  }

  readonly #keyOf = (value: Value): unknown =>
    value instanceof MapValue
      ? this.keyNames.map((name) => `${typeof value.get(name)} ${String(value.get(name))}`).join('\0')
      : value
}
