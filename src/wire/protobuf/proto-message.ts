// Descriptors for the messages of proto3 services; encode-proto.ts and decode-proto.ts use them. (The API's kinds are
// described in schema/: their rules for zero values and JSON differ.) A field that is zero, empty or false is not
// encoded. A message field or an `optional` one is undefined when absent; the members of a oneof are written that way.

export type Scalar =
  | 'string'
  | 'bytes'
  /** Bytes as text: each character (U+0000 to U+00FF) is one byte, so text compares as the bytes do. */
  | 'binary'
  | 'bool'
  | 'double'
  | 'int32'
  | 'uint32'
  /** A number; values beyond 2^53 are errors. */
  | 'int64'
  | 'uint64'
  /** A bigint, for ids and nanoseconds. */
  | 'int64Big'
  | 'uint64Big'

export interface Enumeration<Name extends string = string> {
  readonly kind: 'enumeration'
  /** In the order of their numbers. An unknown number is read as the first name. */
  readonly names: readonly Name[]
}

export type ElementType = Scalar | Enumeration | Message

export type Label = 'plain' | 'optional' | 'repeated' | 'map'

export interface Field<T extends ElementType = ElementType, L extends Label = Label> {
  readonly tag: number
  readonly type: T
  /** The keys of a map are strings. */
  readonly label: L
}

export type Fields = Readonly<Record<string, Field>>

export interface Message<F extends Fields = Fields> {
  readonly kind: 'message'
  readonly name: string
  readonly fields: F
}

export const protoMessage = <const F extends Fields>(name: string, fields: F): Message<F> =>
  Object.freeze({ kind: 'message', name, fields })

export const enumeration = <const Name extends string>(...names: readonly Name[]): Enumeration<Name> => ({
  kind: 'enumeration',
  names,
})

type PlainLabel<T> = T extends Message ? 'optional' : 'plain'

/** One value. */
export const singular = <T extends ElementType>(tag: number, type: T): Field<T, PlainLabel<T>> => ({
  tag,
  type,
  label: (typeof type === 'object' && type.kind === 'message' ? 'optional' : 'plain') as PlainLabel<T>,
})

/** A value whose absence differs from zero: `optional`, and the members of a oneof. */
export const optional = <T extends ElementType>(tag: number, type: T): Field<T, 'optional'> => ({
  tag,
  type,
  label: 'optional',
})

export const repeated = <T extends ElementType>(tag: number, type: T): Field<T, 'repeated'> => ({
  tag,
  type,
  label: 'repeated',
})

export const mapOf = <T extends ElementType>(tag: number, type: T): Field<T, 'map'> => ({ tag, type, label: 'map' })

interface ScalarTypes {
  readonly string: string
  readonly bytes: Uint8Array
  readonly binary: string
  readonly bool: boolean
  readonly double: number
  readonly int32: number
  readonly uint32: number
  readonly int64: number
  readonly uint64: number
  readonly int64Big: bigint
  readonly uint64Big: bigint
}

type Decoded<T> = T extends Scalar
  ? ScalarTypes[T]
  : T extends Enumeration<infer Name>
    ? Name
    : T extends Message
      ? Proto<T>
      : never

type Encoded<T> = T extends Scalar
  ? ScalarTypes[T]
  : T extends Enumeration<infer Name>
    ? Name
    : T extends Message
      ? ProtoInput<T>
      : never

type DecodedField<F> =
  F extends Field<infer T, infer L>
    ? L extends 'repeated'
      ? readonly Decoded<T>[]
      : L extends 'map'
        ? Readonly<Record<string, Decoded<T>>>
        : L extends 'optional'
          ? Decoded<T> | undefined
          : Decoded<T>
    : never

type EncodedField<F> =
  F extends Field<infer T, infer L>
    ? L extends 'repeated'
      ? readonly Encoded<T>[]
      : L extends 'map'
        ? Readonly<Record<string, Encoded<T>>>
        : Encoded<T>
    : never

/** A decoded message: every field is set. */
export type Proto<M> = M extends Message<infer F> ? { readonly [K in keyof F]: DecodedField<F[K]> } : never

/** A message to encode: fields that are left out are zero. */
export type ProtoInput<M> =
  M extends Message<infer F> ? { readonly [K in keyof F]?: EncodedField<F[K]> | undefined } : never
