// The types of the objects and inputs of a custom resource, derived from the literal type of its definition.
import type { ApiObject, ObjectMetaInput } from '../../meta/object.ts'
import type { CustomResourceDefinitionInput } from '../v1/custom-resource-definition.ts'
import type { Form, PreservesUnknownFields, SchemaFields, UnknownFields } from './schema-value.ts'

/** What every object has besides the fields of its schema. */
interface InputBase {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMetaInput
}

/** The objects of one version of a definition. */
export type DefinedObject<Definition extends CustomResourceDefinitionInput, Version extends string> = ApiObject &
  FieldsOf<SchemaOf<Definition, Version>, 'object'>

export type DefinedInput<Definition extends CustomResourceDefinitionInput, Version extends string> = InputBase &
  FieldsOf<SchemaOf<Definition, Version>, 'input'>

export type VersionName<Definition extends CustomResourceDefinitionInput> = VersionOf<Definition>['name']

/** The name of the version in which objects are stored. */
export type StorageVersionName<Definition extends CustomResourceDefinitionInput> =
  Extract<VersionOf<Definition>, { readonly storage: true }> extends { readonly name: infer Name extends string }
    ? Name
    : VersionName<Definition>

/** Objects whose fields are given as a type. */
export type TypedObject<Fields> = ApiObject & Omit<Fields, keyof ApiObject>

export type TypedInput<Fields> = InputBase &
  Omit<Fields, keyof ApiObject | 'status'> &
  Partial<Pick<Fields, Extract<keyof Fields, 'status'>>>

type VersionOf<Definition extends CustomResourceDefinitionInput> = NonNullable<Definition['spec']['versions']>[number]

type SchemaOf<Definition extends CustomResourceDefinitionInput, Version extends string> =
  Extract<VersionOf<Definition>, { readonly name: Version }> extends {
    readonly schema: { readonly openAPIV3Schema: infer Schema }
  }
    ? Schema
    : unknown

type FieldsOf<Schema, As extends Form> = Schema extends { readonly properties: infer Properties }
  ? SchemaFields<Schema, Omit<Properties, keyof ApiObject>, As> &
      (Schema extends PreservesUnknownFields ? UnknownFields : unknown)
  : UnknownFields
