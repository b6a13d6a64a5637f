// Property: a field's name as a property of objects. Schemas of custom resources name fields as they like, `constructor` and
// `__proto__` included: such names are read and set as own properties, all others directly, which is faster.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import type { JsonObject, JsonValue } from '../json/json-value.ts'
import { js, type Code, type Fragment } from './code.ts'

export interface Property {
  readonly name: string
  /** Every object inherits a property of this name. */
  readonly isInherited: boolean
}

const inheritedNames: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype))

export const propertyOf = (name: string): Property => ({ name, isInherited: inheritedNames.has(name) })

export const readProperty = (object: JsonObject, { name, isInherited }: Property): JsonValue | undefined =>
  isInherited ? lookup(object, name) : object[name] // safe name: inherited names are looked up

/** An expression that does what readProperty does. */
export const propertyRead = (code: Code, object: Fragment, name: string): Fragment =>
  propertyOf(name).isInherited ? js`${code.constant(lookup)}(${object}, ${name})` : js`${object}[${name}]`

/** A statement that sets the property. */
export const propertySet = (code: Code, object: Fragment, name: string, value: Fragment): Fragment =>
  propertyOf(name).isInherited
    ? js`${code.constant(setOwn)}(${object}, ${name}, ${value})`
    : js`${object}[${name}] = ${value}`
