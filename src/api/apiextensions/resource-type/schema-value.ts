// SchemaValue: the TypeScript type of the values that a schema accepts, derived from the literal type of the schema.
import type { ApiObject } from '../../meta/object.ts'

/** object: as the server returns it, with defaults; input: as a client may send it. */
export type Form = 'object' | 'input'

/** Values below this depth are unknown, so that the work of the compiler is bounded. */
type DepthMax = 24

export type SchemaValue<Schema, As extends Form, Depth extends readonly 0[] = []> = Depth['length'] extends DepthMax
  ? unknown
  : Schema extends { readonly nullable: true }
    ? ValueOfType<Schema, As, [...Depth, 0]> | null
    : ValueOfType<Schema, As, [...Depth, 0]>

/** A type that is not a literal, as in an imported JSON file, says nothing about the value. */
type ValueOfType<Schema, As extends Form, Depth extends readonly 0[]> = Schema extends {
  readonly 'x-kubernetes-int-or-string': true
}
  ? number | string
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: 'string' }
      ? string
      : Schema extends { readonly type: 'integer' | 'number' }
        ? number
        : Schema extends { readonly type: 'boolean' }
          ? boolean
          : Schema extends { readonly type: 'array' }
            ? readonly ItemOf<Schema, As, Depth>[]
            : Schema extends { readonly type: 'object' }
              ? Schema extends { readonly 'x-kubernetes-embedded-resource': true }
                ? EmbeddedObject & ObjectValue<Schema, As, Depth>
                : ObjectValue<Schema, As, Depth>
              : unknown

type ItemOf<Schema, As extends Form, Depth extends readonly 0[]> = Schema extends { readonly items: infer Items }
  ? SchemaValue<Items, As, Depth>
  : unknown

type ObjectValue<Schema, As extends Form, Depth extends readonly 0[]> = Schema extends {
  readonly additionalProperties: infer Value
}
  ? Readonly<Record<string, SchemaValue<Value, As, Depth>>>
  : Schema extends { readonly properties: infer Properties }
    ? Schema extends PreservesUnknownFields
      ? SchemaFields<Schema, Properties, As, Depth> & UnknownFields
      : SchemaFields<Schema, Properties, As, Depth>
    : Schema extends PreservesUnknownFields
      ? UnknownFields
      : Readonly<Record<string, never>>

/** All other fields that a schema does not specify are pruned. */
export interface PreservesUnknownFields {
  readonly 'x-kubernetes-preserve-unknown-fields': true
}

export interface UnknownFields {
  readonly [field: string]: unknown
}

type EmbeddedObject = Pick<ApiObject, 'apiVersion' | 'kind'>

/** A field with a default is always set in an object, and is optional in an input. */
export type SchemaFields<Schema, Properties, As extends Form, Depth extends readonly 0[] = []> = Flat<
  {
    readonly [Name in PresentNames<Schema, Properties, As>]: SchemaValue<Properties[Name], As, Depth>
  } & {
    readonly [Name in Exclude<keyof Properties, PresentNames<Schema, Properties, As>>]?: SchemaValue<
      Properties[Name],
      As,
      Depth
    >
  }
>

type PresentNames<Schema, Properties, As extends Form> = As extends 'object'
  ? RequiredNames<Schema, Properties> | DefaultedNames<Properties>
  : Exclude<RequiredNames<Schema, Properties>, DefaultedNames<Properties>>

type RequiredNames<Schema, Properties> = Schema extends { readonly required: readonly (infer Name)[] }
  ? string extends Name
    ? never
    : Extract<keyof Properties, Name>
  : never

type DefaultedNames<Properties> = {
  [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never
}[keyof Properties]

/** One object type instead of an intersection, for messages and editors. */
type Flat<T> = { readonly [Name in keyof T]: T[Name] }
