// infer: the TypeScript types of a message, derived from its descriptors.
import type { Field, FieldMap, ListType, MapType, Message, ScalarName, Type } from './field.ts'
import type { Int64 } from '../scalar/int64.ts'

interface ScalarTypes {
  readonly string: string
  readonly bool: boolean
  readonly int32: number
  readonly int64: Int64
  readonly double: number
  readonly bytes: string
  readonly quantity: string
  readonly duration: string
  readonly intOrString: number | string
  readonly time: string
  readonly microTime: string
  readonly fieldsV1: unknown
  readonly rawExtension: unknown
  readonly json: unknown
}

type KeysWith<Fields extends FieldMap, P> = {
  [K in keyof Fields]: Fields[K]['presence'] extends P ? K : never
}[keyof Fields]

/** The type inside of the server: read-only, with defaults. */
export type Infer<M> =
  M extends Message<infer Fields>
    ? { readonly [K in KeysWith<Fields, 'required' | 'always' | 'defaulted'>]: FieldValue<Fields[K]> } & {
        readonly [K in KeysWith<Fields, 'optional'>]?: FieldValue<Fields[K]>
      } & { readonly [K in KeysWith<Fields, 'nullable'>]?: FieldValue<Fields[K]> | null }
    : never

/** The type of input: fields with defaults are optional. */
export type InferInput<M> =
  M extends Message<infer Fields>
    ? { readonly [K in KeysWith<Fields, 'required'>]: FieldInput<Fields[K]> } & {
        readonly [K in KeysWith<Fields, 'always' | 'defaulted' | 'optional'>]?: FieldInput<Fields[K]>
      } & { readonly [K in KeysWith<Fields, 'nullable'>]?: FieldInput<Fields[K]> | null }
    : never

type FieldValue<F> =
  F extends Field<infer T, infer _, infer Value> ? (unknown extends Value ? ValueOf<T> : Value) : never
type FieldInput<F> =
  F extends Field<infer T, infer _, infer Value> ? (unknown extends Value ? InputOf<T> : Value) : never

type ValueOf<T extends Type> = T extends ScalarName
  ? ScalarTypes[T]
  : T extends ListType<infer Element>
    ? readonly ValueOf<Element>[]
    : T extends MapType<infer Value>
      ? Readonly<Record<string, ValueOf<Value>>>
      : Infer<T>

type InputOf<T extends Type> = T extends ScalarName
  ? ScalarTypes[T]
  : T extends ListType<infer Element>
    ? readonly InputOf<Element>[]
    : T extends MapType<infer Value>
      ? Readonly<Record<string, InputOf<Value>>>
      : InferInput<T>
