// Value: a value of an expression. int is a bigint, double a number, string a string; the others are classes.
import type { CelType } from '../types/cel-type.ts'
import type { Duration, Timestamp } from './time-values.ts'

/** An unsigned integer of 64 bits. */
export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

/** The result of `type(x)`. */
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

/** A value of a library type, which the language only knows by name. */
export abstract class Opaque {
  abstract readonly type: CelType
  abstract equals(other: Opaque): boolean
}

/** A map of an expression, or a JSON object. */
export abstract class MapValue {
  abstract readonly size: number
  abstract get(key: Value): Value | undefined
  /** The result of `in`: a map may return a value for a key that it does not contain. */
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
