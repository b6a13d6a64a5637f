// Value: what an expression computes with. int is a bigint, double a number, string a string; the rest are classes.
import type { CelType } from '../types/cel-type.ts'
import type { Duration, Timestamp } from './time-values.ts'

/** An unsigned integer of 64 bits. */
export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

/** What `type(x)` gives. */
export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

export class Optional {
  /** undefined: none. */
  readonly value: Value | undefined

  constructor(value: Value | undefined) {
    this.value = value
  }
}

export const none = new Optional(undefined)

/** A value of a library: known to the language by its type's name only. */
export abstract class Opaque {
  abstract readonly type: CelType
  abstract equals(other: Opaque): boolean
}

/** A map as expressions see it, and an object of JSON. */
export abstract class MapValue {
  abstract readonly size: number
  abstract get(key: Value): Value | undefined
  /** What `in` asks: a map may give something for a key that it does not have. */
  has(key: Value): boolean {
    return this.get(key) !== undefined
  }
  abstract keys(): Iterable<Value>
}

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | ListValue
  | MapValue
  | TypeValue
  | Optional
  | Opaque

export interface ListValue extends ReadonlyArray<Value> {}
