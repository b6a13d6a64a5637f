// LiteralMap: a map that an expression constructs, with keys of several types.
import { EvalError } from './eval-error.ts'
import { MapValue, Uint, type Value } from './value.ts'

/** Equal numbers are the same key, whatever their type. */
function normalKey(key: Value): Value {
  if (key instanceof Uint) return key.value
  if (typeof key === 'number') return Number.isInteger(key) ? BigInt(key) : key
  return key
}

export class LiteralMap extends MapValue {
  readonly #entries: ReadonlyMap<Value, readonly [Value, Value]>

  constructor(entries: Iterable<readonly [Value, Value]>) {
    super()
    const all = new Map<Value, readonly [Value, Value]>()
    for (const entry of entries) {
      const [key] = entry
      if (typeof key === 'number' || !isKey(key)) throw new EvalError('unsupported key type')
      const normal = normalKey(key)
      if (all.has(normal)) throw new EvalError(`Failed with repeated key`)
      all.set(normal, entry)
    }
    this.#entries = all
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(normalKey(key))?.[1]
  }

  *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key
  }
}

const isKey = (key: Value): boolean =>
  typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean' || key instanceof Uint
