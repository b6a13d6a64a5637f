// The field language: what one field of an API type is. Everything else in schema/ is derived from these descriptors.
// A message is a named API type with its fields; names are those of the published OpenAPI.
// A field says what Go clients mean by it: pointer or value, and whether an empty value is left out of the JSON.

/** Types without fields of their own. Quantities, durations, times and bytes are text in JSON and here. */
export type ScalarName =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  | 'bytes'
  | 'quantity'
  | 'duration'
  | 'intOrString'
  | 'time'
  | 'microTime'
  | 'fieldsV1'
  | 'rawExtension'
  | 'json'

export interface ListType<Element extends Type = Type> {
  readonly kind: 'list'
  readonly element: Element
}

export interface MapType<Value extends Type = Type> {
  readonly kind: 'map'
  readonly value: Value
}

export type Type = ScalarName | Message | ListType | MapType

/**
 * required: must be sent; always: a Go struct by value, there even when nothing was sent;
 * defaulted: there once defaults are filled in; nullable: null when nothing was sent; optional: may be absent.
 */
export type Presence = 'required' | 'always' | 'defaulted' | 'nullable' | 'optional'

export interface FieldOptions {
  /** In protobuf the field stands in an embedded message of this number, or of this path; in JSON it stands inline. */
  readonly embeddedAt?: number | readonly number[]
  /** Must be sent, as the published schema says; an empty value passes all the same. */
  readonly required?: true
  /** Empty and absent are refused. */
  readonly notEmpty?: true
  /** A Go pointer: zero, false and empty survive. Without it they mean absent. */
  readonly pointer?: true
  /** Objects that bring kind and apiVersion of their own, as those of the top do. */
  readonly hasTypeMeta?: true
  /** Go has no omitempty here: written even when it is empty. Required ones are, unless they say otherwise. A list or
   * a pointer that is unset is null then; a required one is so only if it says this too, since others are refused. */
  readonly keepEmpty?: true
  readonly omitEmpty?: true
  readonly default?: unknown
  readonly enum?: readonly string[]
  /** The enumeration is published but not checked: a rule of the kind refuses others in words of its own. */
  readonly enumUnchecked?: true
  readonly minimum?: number
  readonly maximum?: number
  /** How server-side apply treats the list; `keys` identify the elements of a map list. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly keys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  /** How a strategic merge patch treats the field; several strategies are joined by commas. */
  readonly patch?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys'
  readonly mergeKey?: string
  readonly description?: string
}

export interface Field<T extends Type = Type, P extends Presence = Presence, Value = unknown> extends FieldOptions {
  /** The protobuf field number. */
  readonly tag: number
  readonly type: T
  readonly presence: P
  /** Never set: carries the type of an enumeration's values to the compiler. */
  readonly value?: Value
}

export type FieldMap = Readonly<Record<string, Field>>

export interface Message<Fields extends FieldMap = FieldMap> {
  readonly kind: 'message'
  readonly name: string
  readonly fields: Fields
  readonly description: string
  /** In JSON one of the fields stands in place of the message: the one whose form fits. */
  readonly isChoice?: true
  /** Server-side apply treats the whole value as one field. */
  readonly mapType?: 'atomic'
}

export const message = <const Fields extends FieldMap>(
  name: string,
  fields: Fields,
  description = '',
): Message<Fields> => Object.freeze({ kind: 'message', name, fields, description })

/** Fields of which one stands in place of the message in JSON: a schema or a boolean, a schema or a list of them. */
export const choice = (name: string, fields: FieldMap): Message =>
  Object.freeze({ kind: 'message', name, fields, description: '', isChoice: true })

/** A message that has one owner as a whole: a reference, a selector. */
export const atomicMessage = <const Fields extends FieldMap>(name: string, fields: Fields): Message<Fields> =>
  Object.freeze({ ...message(name, fields), mapType: 'atomic' })

type ScalarPresence<O> = O extends { required: true }
  ? 'required'
  : O extends { default: unknown }
    ? 'defaulted'
    : O extends { pointer: true; keepEmpty: true }
      ? 'nullable'
      : 'optional'
type ListPresence<O> = O extends { keepEmpty: true } ? 'nullable' : ScalarPresence<O>
type TimePresence<O> = O extends { required: true }
  ? 'required'
  : O extends { pointer: true } | { omitEmpty: true }
    ? 'optional'
    : 'nullable'
type StructPresence<O> = O extends { required: true }
  ? 'required'
  : O extends { default: unknown }
    ? 'defaulted'
    : O extends { pointer: true; keepEmpty: true }
      ? 'nullable'
      : O extends { pointer: true }
        ? 'optional'
        : 'always'
type EnumValue<O> = O extends { enumUnchecked: true }
  ? unknown
  : O extends { enum: readonly (infer Value)[] }
    ? Value
    : unknown

function timestamp<Name extends 'time' | 'microTime'>(type: Name) {
  return <const O extends FieldOptions = Record<never, never>>(
    tag: number,
    options?: O,
  ): Field<Name, TimePresence<O>> => field(tag, type, options ?? {}, 'optional')
}

const scalar =
  <Name extends ScalarName>(type: Name) =>
  <const O extends FieldOptions = Record<never, never>>(
    tag: number,
    options?: O,
  ): Field<Name, ScalarPresence<O>, EnumValue<O>> =>
    field<Name, ScalarPresence<O>, EnumValue<O>>(tag, type, options ?? {}, 'optional')

export const string = scalar('string')
export const bool = scalar('bool')
export const int32 = scalar('int32')
export const int64 = scalar('int64')
export const double = scalar('double')
export const bytes = scalar('bytes')
export const quantity = scalar('quantity')
/** A length of time, as Go writes it: `1m30s`. */
export const duration = scalar('duration')
export const intOrString = scalar('intOrString')
export const time = timestamp('time')
export const microTime = timestamp('microTime')
/** JSON of any shape: the fields that a manager owns, and what other programs put into an object. */
export const fieldsV1 = scalar('fieldsV1')
export const rawExtension = scalar('rawExtension')
/** JSON of any shape as the schema of a custom resource holds it; null is a value of it. */
export const json = scalar('json')

/** A message by value is always there; with `pointer` it may be absent. */
export const struct = <M extends Message, const O extends FieldOptions = Record<never, never>>(
  tag: number,
  message: M,
  options?: O,
): Field<M, StructPresence<O>> => field(tag, message, options ?? {}, options?.pointer ? 'optional' : 'always')

export const list = <Element extends Type, const O extends FieldOptions = Record<never, never>>(
  tag: number,
  element: Element,
  options?: O,
): Field<ListType<Element>, ListPresence<O>> => field(tag, { kind: 'list', element }, options ?? {}, 'optional')

/** A list as the value of a map; in protobuf it stands in a message of its own. */
export const listOf = <Element extends Type>(element: Element): ListType<Element> => ({ kind: 'list', element })

export const map = <Value extends Type, const O extends FieldOptions = Record<never, never>>(
  tag: number,
  value: Value,
  options?: O,
): Field<MapType<Value>, ScalarPresence<O>> => field(tag, { kind: 'map', value }, options ?? {}, 'optional')

function field<T extends Type, P extends Presence, Value = unknown>(
  tag: number,
  type: T,
  options: FieldOptions,
  otherwise: Presence,
): Field<T, P, Value> {
  const presence = options.required ? 'required' : options.default === undefined ? otherwise : 'defaulted'
  // Derivations ask `zero.ts` what is null; the compiler knows it by this presence.
  return Object.freeze({ ...options, tag, type, presence: presence as P })
}
