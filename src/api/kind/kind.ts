// Kind: all that the API knows of one kind, as one value. defineKind checks its shape; kinds.ts lists them all.
import type { Message } from '../../schema/descriptor/field.ts'
import type { FieldError } from '../../schema/validation/field-error.ts'
import type { ApiObject } from '../meta/object.ts'
import type { Subresource } from './subresource.ts'

/** What names a kind in the API. */
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
  readonly message: Message
  /** Whether `/status` is written apart from the rest. */
  readonly hasStatus: boolean
  /** Whether `metadata.generation` counts the changes of the spec. */
  readonly countsGenerations: boolean
  /** Whether it counts the changes of annotations too. */
  readonly countsAnnotations?: true
  /** Where `/scale` finds its numbers, for kinds that scale. */
  readonly scale?: Scaling<T>
  /** For a further version of a kind: which version is kept, and how to convert. */
  readonly storedAs?: Conversion<T>
  /** What stands behind an object's path beside its status and scale. */
  readonly subresources?: readonly Subresource[]
  /** For a kind that is never kept: the verbs that are answered from what the server knows. */
  readonly computed?: readonly string[]
  /**
   * The part that many objects have in common, because they are made from a template. No default in it depends on
   * another part, and none elsewhere on it.
   */
  readonly internedField?: 'spec'
  /** PUT creates an object that does not exist, for those who may create it. */
  readonly createsOnUpdate?: true
  /** How long an object lives before it goes by itself. */
  readonly ttlMs?: number
  /** Checks `metadata.name`; returns what is wrong with it, in upstream's words. */
  validateName(name: string): readonly string[]
  /** Defaults that depend on other fields; static ones stand on the fields. */
  applyDefaults(object: T): T
  /** What the server adds for itself: unlike defaults, nobody who writes the object owns it. */
  complete?(object: T): T
  /** The status of a new object. */
  initialStatus?(object: T): unknown
  /** Everything that is wrong; `old` is there when an object is written again, for rules that let stand what stood. */
  validate(object: T, old?: T): readonly FieldError[]
  /** Whether validate() looks at no status: then it need not be asked when the status alone is written. */
  readonly validatesNoStatus?: true
  validateUpdate(object: T, old: T): FieldError[]
  /** What a write of the status alone may not do. */
  validateStatusUpdate?(object: T, old: T): FieldError[]
  /** What is allowed but probably not meant, or soon gone: told to the client beside the answer. */
  warnings?(object: T, old?: T): readonly string[]
  readonly columns: readonly Column<T>[]
  /** The order of the rows of a table, where it is not that of the names. */
  compareRows?(a: T, b: T): number
  /** Fields beside metadata.name and metadata.namespace that a field selector may name. */
  readonly fieldLabels: Readonly<Record<string, FieldLabel<T>['read']>>
}

/** Declared as a method, so that a kind of pods is a kind of objects. */
interface FieldLabel<T> {
  read(object: T): string
}

export interface Conversion<T> {
  readonly kind: Kind
  toStored(object: T): ApiObject
  fromStored(stored: ApiObject): T
  /** Its field labels, where they are not those of the version that is kept: what each is called there. */
  readonly fieldLabels?: Readonly<Record<string, string>>
}

export interface Scaling<T> {
  replicas(object: T): number
  withReplicas(object: T, replicas: number): T
  statusReplicas(object: T): number
  /** The label selector as text. */
  selector(object: T): string
}

export interface Column<T> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'date'
  readonly format: '' | 'name'
  readonly description: string
  /** 0 is shown always, others with -o wide. */
  readonly priority: number
  cell(object: T, nowMs: number): string | number | boolean
}

/** A kind as users of the library see it: its names, and the types of its objects and of what may be sent. */
export interface ResourceType<T extends ApiObject = ApiObject, Input = unknown> extends KindNames {
  readonly apiVersion: string
  /** Never set: carries the types to the compiler. */
  readonly types?: { readonly object: T; readonly input: Input }
}

export interface Kind<T extends ApiObject = ApiObject, Input = unknown>
  extends KindDefinition<T>, ResourceType<T, Input> {}

export const defineKind = <T extends ApiObject, Input>(definition: KindDefinition<T>): Kind<T, Input> => ({
  ...definition,
  apiVersion: definition.group === '' ? definition.version : `${definition.group}/${definition.version}`,
})

/** `deployments.apps`, or `pods` for the core group: how messages name a resource. */
export const qualifiedResource = ({ plural, group }: Pick<Kind, 'plural' | 'group'>): string =>
  group === '' ? plural : `${plural}.${group}`

export const column = <T>(
  name: string,
  cell: Column<T>['cell'],
  { priority = 0, type = 'string', format = '' }: Partial<Pick<Column<T>, 'priority' | 'type' | 'format'>> = {},
): Column<T> => ({ name, type, format, priority, description: '', cell })
