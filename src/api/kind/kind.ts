// Kind: the complete API definition of a kind, as one value. defineKind checks its type; kinds.ts lists all kinds.
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import type { OpenApiDialect, OpenApiSchema } from '../../schema/openapi/openapi.ts'
import type { FieldError } from '../../schema/validation/field-error.ts'
import type { ApiObject } from '../meta/object.ts'
import { messageSchema, type ObjectSchema } from './object-schema.ts'
import type { Subresource } from './subresource.ts'
import { type Int64 } from '../../schema/scalar/int64.ts'

/** The names of a kind in the API. */
export interface KindNames {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
}

export interface KindDefinition<T extends ApiObject = ApiObject> extends KindNames {
  /** The fields of the kind. The message of a custom kind has the metadata only; its schema has the rest. */
  readonly message: Message
  /** The warning that every request for a deprecated version gets. */
  readonly deprecationWarning?: string
  /** Whether the kind has a `/status` subresource. */
  readonly hasStatus: boolean
  /** Whether `metadata.generation` counts changes of the spec. */
  readonly countsGenerations: boolean
  /** Whether an update must name the resource version that it replaces. */
  readonly updatesNeedVersion?: true
  /** Whether it also counts changes of annotations. */
  readonly countsAnnotations?: true
  /** How `/scale` reads and writes replicas, for kinds with a scale subresource. */
  readonly scale?: Scaling<T>
  /** For an additional version of a kind: which version is stored, and how to convert. */
  readonly storedAs?: Conversion<T>
  /** The subresources except status and scale. */
  readonly subresources?: readonly Subresource[]
  /** For a kind that is never stored: the verbs, whose responses are computed. */
  readonly computed?: readonly string[]
  /**
   * The field that is equal in many objects, because they are created from a template. No default in it depends on other
   * fields, and no default of other fields depends on it.
   */
  readonly internedField?: 'spec'
  /** PUT creates an object that does not exist, if the user may create it. */
  readonly createsOnUpdate?: true
  /** The time after which objects are removed. */
  readonly ttlMs?: number
  /** Validates `metadata.name` or `metadata.generateName`; returns errors in upstream's wording. */
  validateName(name: string): readonly string[]
  /** Further rules of both in a new object. */
  validateNewName?(name: string, object: T): readonly string[]
  /** Applies defaults that depend on other fields; static defaults are in the field descriptors. */
  applyDefaults(object: T): T
  /** Adds fields of the server. Unlike defaults, they are not owned by the client that writes the object. */
  complete?(object: T): T
  /** `applyDefaults` changes the status too. */
  readonly hasStatusDefaults?: true
  /** The status of a new object. */
  initialStatus?(object: T): unknown
  /** Returns all errors. `old` is set on updates, for rules that accept unchanged invalid values. */
  validate(object: T, old?: T): readonly FieldError[]
  /** validate() of a kind where it may take long. It yields whenever its slice is used up. */
  validateInSlices?(object: T, old: T | undefined, slice: Slice): Sliced<readonly FieldError[]>
  /** validate() is not called when only the status is written. */
  readonly validatesNoStatus?: true
  validateUpdate(object: T, old: T): FieldError[]
  /** Validates an update of the status subresource. */
  validateStatusUpdate?(object: T, old: T): FieldError[]
  /** Returns warnings for the client: values that are allowed but deprecated or probably wrong. */
  warnings?(object: T, old?: T): readonly string[]
  readonly columns: readonly Column<T>[]
  /** The order of the rows of a table, if it is not the order of names. */
  compareRows?(a: T, b: T): number
  /** Fields that a field selector may name, except metadata.name and metadata.namespace. */
  readonly fieldLabels: Readonly<Record<string, FieldLabel<T>['read']>>
}

/** Declared as a method, so that a kind of pods is assignable to a kind of objects. */
interface FieldLabel<T> {
  read(object: T): string
}

export interface Conversion<T> {
  readonly kind: Kind
  toStored(object: T): ApiObject
  fromStored(stored: ApiObject): T
  /** The names of its field labels in the stored version, where they differ. */
  readonly fieldLabels?: Readonly<Record<string, string>>
}

export interface Scaling<T> {
  replicas(object: T): number
  /** Why the object has no Scale that can be read; undefined where it has one. */
  problem?(object: T): string | undefined
  withReplicas(object: T, replicas: number): T
  statusReplicas(object: T): number
  /** The label selector as text. */
  selector(object: T): string
}

export interface Column<T> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: string
  readonly description: string
  /** 0: always shown; others: only with -o wide. */
  readonly priority: number
  cell(object: T, nowMs: number): string | Int64 | boolean | null
}

/** What only custom kinds have. */
export interface CustomVersion {
  readonly listKind: string
  /** A stored object as the schema has it now: pruned, with defaults. The same object where nothing changes. */
  complete(stored: ApiObject): ApiObject
  /** A converted object without the fields that the schema does not have. The same object where nothing changes. */
  prune(converted: ApiObject): ApiObject
  /** The schema in OpenAPI documents. */
  publishedSchema(dialect: OpenApiDialect): OpenApiSchema
}

/** A kind for users of the library: its names, and the types of its objects and inputs. */
export interface ResourceType<T extends ApiObject = ApiObject, Input = unknown> extends KindNames {
  readonly apiVersion: string
  /** Set where the kind is a custom resource of a user of the library. Custom resources have no strategic merge patches. */
  readonly isCustom?: true
  /** Never set: carries the types for the type checker. */
  readonly types?: { readonly object: T; readonly input: Input }
}

export interface Kind<T extends ApiObject = ApiObject, Input = unknown>
  extends KindDefinition<T>, ResourceType<T, Input> {
  readonly schema: ObjectSchema
  /** Set where a CustomResourceDefinition defines the kind. */
  readonly custom?: CustomVersion
}

/** A built-in kind. */
export const defineKind = <T extends ApiObject, Input>(definition: KindDefinition<T>): Kind<T, Input> =>
  kindFrom(definition, messageSchema(definition.message))

/** A kind with its own schema. */
export const kindFrom = <T extends ApiObject, Input>(
  definition: KindDefinition<T>,
  schema: ObjectSchema,
): Kind<T, Input> => ({ ...definition, apiVersion: apiVersionOf(definition), schema })

export const apiVersionOf = ({ group, version }: Pick<KindNames, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`

/** Whether both are the same version of the same resource. Clients have their own values for custom resources. */
export const isSameResource = (a: ResourceType, b: ResourceType): boolean =>
  a === b || (a.plural === b.plural && a.apiVersion === b.apiVersion)

/** `deployments.apps`, or `pods` for the core group: the name of a resource in messages. */
export const qualifiedResource = ({ plural, group }: Pick<Kind, 'plural' | 'group'>): string =>
  group === '' ? plural : `${plural}.${group}`

export const column = <T>(
  name: string,
  cell: Column<T>['cell'],
  { priority = 0, type = 'string', format = '' }: Partial<Pick<Column<T>, 'priority' | 'type' | 'format'>> = {},
): Column<T> => ({ name, type, format, priority, description: '', cell })
