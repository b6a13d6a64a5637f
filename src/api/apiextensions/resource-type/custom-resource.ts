// customResource: the kind of a custom resource for users of the library. Its types come from the definition, if that is
// written as a literal, or from a type parameter.
import { bareKind } from '../../kind/bare-kind.ts'
import type { ResourceType } from '../../kind/kind.ts'
import type { ApiObject } from '../../meta/object.ts'
import type { CustomResourceDefinitionInput } from '../v1/custom-resource-definition.ts'
import type {
  DefinedInput,
  DefinedObject,
  StorageVersionName,
  TypedInput,
  TypedObject,
  VersionName,
} from './definition-types.ts'
import type { UnknownFields } from './schema-value.ts'

/** The names of a custom resource whose definition is elsewhere. */
export interface CustomResourceNames {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  /** The kind in lower case when left out. */
  readonly singular?: string
  /** True when left out. */
  readonly namespaced?: boolean
}

/** A kind with the CustomResourceDefinition that defines it. */
export interface CustomResourceType<T extends ApiObject = ApiObject, Input = unknown> extends ResourceType<T, Input> {
  readonly definition: CustomResourceDefinitionInput
}

/** The type of the objects of a kind: `type Widget = KindObject<typeof widget>`. */
export type KindObject<Of> = Of extends { readonly types?: { readonly object: infer T } } ? T : never
/** The type of what a client sends to create an object of a kind. */
export type KindInput<Of> = Of extends { readonly types?: { readonly input: infer Input } } ? Input : never

/** The kind of a resource that is known by its names only. */
export function customResource<Fields extends object = UnknownFields, Input = TypedInput<Fields>>(
  names: CustomResourceNames,
): ResourceType<TypedObject<Fields>, Input>
/** The kind of the storage version, or of the given one, with the given types. */
export function customResource<Fields extends object = never, Input = TypedInput<Fields>>(
  definition: [Fields] extends [never] ? never : CustomResourceDefinitionInput,
  version?: string,
): CustomResourceType<TypedObject<Fields>, Input>
/** The kind of the storage version, or of the given one, with the types of its schema. */
export function customResource<
  const Definition extends CustomResourceDefinitionInput,
  const Version extends VersionName<Definition> = StorageVersionName<Definition>,
>(
  definition: Definition,
  version?: Version,
): CustomResourceType<DefinedObject<Definition, Version>, DefinedInput<Definition, Version>>
export function customResource(
  source: CustomResourceNames | CustomResourceDefinitionInput,
  version?: string,
): ResourceType {
  if (!('spec' in source)) {
    const { singular = source.kind.toLowerCase(), namespaced = true } = source
    return { ...bareKind({ ...source, singular, namespaced }), isCustom: true }
  }
  const { group, names, scope } = source.spec
  const { kind, plural, singular = kind.toLowerCase(), shortNames = [], categories = [] } = names
  const chosen = { group, version: chosenVersion(source, version), kind, plural, singular }
  const type = { ...bareKind({ ...chosen, namespaced: scope === 'Namespaced' }), shortNames, categories }
  const custom: CustomResourceType = { ...type, isCustom: true, definition: source }
  return custom
}

function chosenVersion({ metadata, spec }: CustomResourceDefinitionInput, wanted: string | undefined): string {
  const versions = spec.versions ?? []
  const found = versions.find(({ name, storage }) => (wanted === undefined ? storage : name === wanted))
  const of = metadata.name ?? `${spec.names.plural}.${spec.group}`
  if (found === undefined)
    throw new Error(
      wanted === undefined
        ? `${of} has no storage version`
        : `${of} has no version ${wanted}; it has ${versions.map(({ name }) => name).join(', ')}`,
    )
  if (!found.served) throw new Error(`version ${found.name} of ${of} is not served; name one that is`)
  return found.name
}
