// The messages of proto3 services as descriptors; encode.ts and decode.ts derive the bytes. (The API's own kinds are
// described in schema/, whose rules about zero values and JSON these services do not share.)
// A field that is zero, empty or false does not stand on the wire and is read back as such; a message, and whatever is
// marked `optional`, is undefined when absent: that is also how the members of a oneof are written.

export type Scalar =
  | 'string'
  | 'bytes'
  | 'bool'
  | 'double'
  | 'int32'
  | 'uint32'
  /** A number; one beyond 2^53 is an error. */
  | 'int64'
  | 'uint64'
  /** A bigint, for ids and nanoseconds. */
  | 'int64Big'
  | 'uint64Big'

export interface Enumeration<Name extends string = string> {
  readonly kind: 'enumeration'
  /** In the order of their numbers. A number that is not known reads as the first name. */
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

/** A value whose absence is told apart from zero: `optional`, and the members of a oneof. */
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

/** What is read: every field is there. */
export type Proto<M> = M extends Message<infer F> ? { readonly [K in keyof F]: DecodedField<F[K]> } : never

/** What is sent: whatever is left out is zero. */
export type ProtoInput<M> =
  M extends Message<infer F> ? { readonly [K in keyof F]?: EncodedField<F[K]> | undefined } : never

export class ProtobufError extends Error {
  override name = 'ProtobufError'
}
