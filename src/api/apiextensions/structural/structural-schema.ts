// StructuralSchema: what the structural schema in a definition does to the objects of one version of a custom resource.
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import type { StructStructure } from '../../../schema/apply/structure.ts'
import type { JsonObject, JsonValue } from '../../../schema/json/json-value.ts'
import type { FieldError } from '../../../schema/validation/field-error.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { applyStructure } from './apply-structure.ts'
import { withDefaults } from './defaulting.ts'
import { validateEmbedded } from './embedded-resource-rules.ts'
import { decodeEmbedded } from './embedded-resources.ts'
import { validateListTypes } from './list-type-rules.ts'
import { prune } from './pruning.ts'
import { anySchema, SchemaNode } from './schema-node.ts'
import type { Check } from './values/report.ts'
import { validateValue, valueCheck } from './values/value-check.ts'

/** A structural schema, compiled for the objects of one version of a custom resource. */
export interface StructuralSchema {
  /**
   * Removes fields that the schema does not declare. Kind, apiVersion and metadata stay at the root and in embedded
   * resources, but the metadata of embedded resources is decoded. Returns the same object when nothing was removed.
   * `unknownFields` has the paths of removed fields as strict decoding reports them: `spec.a[0].b`. Throws a DecodeError
   * for an embedded resource with a field of the wrong type. `isStored`: the object was stored, maybe with another schema,
   * so such fields are removed too.
   */
  prune(
    object: JsonObject,
    isStored?: boolean,
  ): { readonly value: JsonObject; readonly unknownFields: readonly string[] }
  /**
   * Fills in defaults, and removes null from fields that are not nullable: the default takes its place, if there is one.
   * Upstream keeps a null without a default in the result of an apply, whose validation then rejects it: `keepsNull`.
   * Returns the same object when nothing changed.
   */
  withDefaults(object: JsonObject, keepsNull?: boolean): JsonObject
  /**
   * Validates all keywords, list types and embedded resources. Values that are invalid but unchanged from `old` are
   * accepted where upstream does (ratcheting).
   */
  validate(object: JsonObject, old: JsonObject | undefined, slice: Slice): Sliced<FieldError[]>
  /** What server-side apply needs of the schema. */
  readonly structure: StructStructure
}

const preservesAll: JsonSchemaProps = { 'x-kubernetes-preserve-unknown-fields': true }

/** Without a schema everything is preserved. */
export function structuralSchema(schema: JsonSchemaProps = preservesAll): StructuralSchema {
  const root = new SchemaNode(schema, true)
  let facts: SchemaFacts | undefined
  let check: Check | undefined
  let structure: StructStructure | undefined
  return {
    prune(object, isStored = false) {
      facts ??= factsOf(schema)
      const unknown: string[] = []
      const pruned = prune(object, root, unknown)
      const unknownFields = unknown.map((path) => path.slice(1)).toSorted()
      if (!facts.hasEmbedded) return { value: pruned as JsonObject, unknownFields }
      const inMetadata: string[] = []
      const value = decodeEmbedded(pruned, root, '', { unknown: inMetadata, isStored }) as JsonObject
      return { value, unknownFields: [...unknownFields, ...inMetadata.toSorted()] }
    },
    withDefaults: (object, keepsNull = false) => withDefaults(object, root, keepsNull) as JsonObject,
    *validate(object, old, slice) {
      facts ??= factsOf(schema)
      const errors = yield* validateValue((check ??= valueCheck(schema)), object, '', old, slice)
      if (facts.hasEmbedded) validateEmbedded(object, root, '', errors)
      if (facts.hasListTypes && (old === undefined || listErrors(old, root).length === 0))
        for (const error of listErrors(object, root)) errors.push(error)
      return errors
    },
    get structure() {
      return (structure ??= applyStructure(schema))
    },
  }
}

/** Which checks the schema needs at all. */
interface SchemaFacts {
  readonly hasEmbedded: boolean
  readonly hasListTypes: boolean
}

const factsOf = (schema: JsonSchemaProps): SchemaFacts => ({
  hasEmbedded: anySchema(schema, (part) => part['x-kubernetes-embedded-resource'] === true),
  hasListTypes: anySchema(schema, ({ 'x-kubernetes-list-type': type }) => type === 'set' || type === 'map'),
})

function listErrors(object: JsonValue, root: SchemaNode): FieldError[] {
  const errors: FieldError[] = []
  validateListTypes(object, root, '', errors)
  return errors
}
