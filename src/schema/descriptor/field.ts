// The field language: descriptors of the fields of API types, from which everything else in schema/ is derived.
// A message is a named API type with its fields; its name is that of the published OpenAPI.
// A field describes its Go declaration: pointer or value, and whether an empty value is omitted in JSON.

/** Types without fields. Quantities, durations, times and bytes are strings in JSON and here. */
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
 * required: must be sent; always: a Go struct by value, present even when nothing was sent;
 * defaulted: present after defaulting; nullable: null when nothing was sent; optional: may be absent.
 */
export type Presence = 'required' | 'always' | 'defaulted' | 'nullable' | 'optional'

export interface FieldOptions {
  /** In protobuf the field is in an embedded message with this number, or this path of numbers; in JSON it is inline. */
  readonly embeddedAt?: number | readonly number[]
  /** Must be sent according to the published schema; an empty value is accepted. */
  readonly required?: true
  /** Empty and absent values are rejected. */
  readonly notEmpty?: true
  /** A Go pointer: zero, false and empty are values. Without it they mean absent. */
  readonly pointer?: true
  /** Objects with their own kind and apiVersion, like top-level objects. */
  readonly hasTypeMeta?: true
  /** Go has no omitempty here: an empty value is written. Required fields are written by default. An unset list or pointer
   * is written as null; a required one only with this option, since otherwise it is rejected. */
  readonly keepEmpty?: true
  readonly omitEmpty?: true
  readonly default?: unknown
  readonly enum?: readonly string[]
  /** The enumeration is published but not checked: a rule of the kind rejects other values with its own message. */
  readonly enumUnchecked?: true
  /** Of an int64: a rule of the kind rejects values that a double does not represent exactly. */
  readonly fitsDouble?: true
  readonly minimum?: number
  readonly maximum?: number
  /** The list type of server-side apply; `keys` identify the elements of a map list. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly keys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  /** The strategy of strategic merge patches; several are joined by commas. */
  readonly patch?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys'
  readonly mergeKey?: string
  readonly description?: string
}

export interface Field<T extends Type = Type, P extends Presence = Presence, Value = unknown> extends FieldOptions {
  /** The protobuf field number. */
  readonly tag: number
  readonly type: T
  readonly presence: P
  /** Never set: carries the type of an enumeration's values for the type checker. */
  readonly value?: Value
}

export type FieldMap = Readonly<Record<string, Field>>

export interface Message<Fields extends FieldMap = FieldMap> {
  readonly kind: 'message'
  readonly name: string
  readonly fields: Fields
  readonly description: string
  /** In JSON one of the fields replaces the message: the one whose form fits. */
  readonly isChoice?: true
  /** Server-side apply treats the whole value as one field. */
  readonly mapType?: 'atomic'
}

export const message = <const Fields extends FieldMap>(
  name: string,
  fields: Fields,
  description = '',
): Message<Fields> => Object.freeze({ kind: 'message', name, fields, description })

/** A message that is replaced by one of its fields in JSON: a schema or a boolean, a schema or a list of them. */
export const choice = (name: string, fields: FieldMap): Message =>
  Object.freeze({ kind: 'message', name, fields, description: '', isChoice: true })

/** A message with a single owner, such as a reference or a selector. */
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

type Int64Value<O> = O extends { fitsDouble: true } ? number : unknown

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
export const int64 = <const O extends FieldOptions = Record<never, never>>(
  tag: number,
  options?: O,
): Field<'int64', ScalarPresence<O>, Int64Value<O>> => field(tag, 'int64', options ?? {}, 'optional')
export const double = scalar('double')
export const bytes = scalar('bytes')
export const quantity = scalar('quantity')
/** A duration in Go's form: `1m30s`. */
export const duration = scalar('duration')
export const intOrString = scalar('intOrString')
export const time = timestamp('time')
export const microTime = timestamp('microTime')
/** JSON of any form: the fields of a manager, and extensions of other programs. */
export const fieldsV1 = scalar('fieldsV1')
export const rawExtension = scalar('rawExtension')
/** JSON of any form in the schema of a custom resource; null is a value. */
export const json = scalar('json')

/** A message by value is always present; with `pointer` it may be absent. */
export const struct = <M extends Message, const O extends FieldOptions = Record<never, never>>(
  tag: number,
  type: M,
  options?: O,
): Field<M, StructPresence<O>> => field(tag, type, options ?? {}, options?.pointer ? 'optional' : 'always')

export const list = <Element extends Type, const O extends FieldOptions = Record<never, never>>(
  tag: number,
  element: Element,
  options?: O,
): Field<ListType<Element>, ListPresence<O>> => field(tag, { kind: 'list', element }, options ?? {}, 'optional')

/** A list as the value of a map; in protobuf it is wrapped in a message. */
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
  // At run time `zero.ts` determines which fields are null; this presence is for the type checker.
  return Object.freeze({ ...options, tag, type, presence: presence as P })
}
