// customKind: the kind that one version of a CustomResourceDefinition defines. It is served as a built-in kind is.
import { runToEnd, type Slice, type Sliced } from '../../../base/work/work-slice.ts'
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import { kindFrom, type CustomVersion, type Kind } from '../../kind/kind.ts'
import { compareVersions } from '../../kind/version-priority.ts'
import type { ApiObject } from '../../meta/object.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { fieldErrorText, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import type { JsonObject } from '../../../schema/json/json-value.ts'
import { objectRules, type ObjectRules } from '../rules/object-rules.ts'
import type { RuleMeasures } from '../rules/rule-measures.ts'
import { structuralSchema, type StructuralSchema } from '../structural/structural-schema.ts'
import type { CustomResourceDefinition } from '../v1/custom-resource-definition.ts'
import type { CustomResourceDefinitionVersion, SelectableField } from '../v1/custom-resource-definition-spec.ts'
import { customMessage, customSchema } from './custom-schema.ts'
import { finalizerWarnings } from './finalizer-warnings.ts'
import { customScaling, scaleErrors, type ScaleDefinition } from './custom-scaling.ts'
import { fieldPathOf, valueAt } from './field-path.ts'
import { publishedSchema } from './published-schema.ts'
import { printerColumns } from '../printer-columns/printer-columns.ts'

export function customKind(
  definition: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  measures?: RuleMeasures,
): Kind {
  const { spec, status } = definition
  const { names } = spec
  const accepted = status.acceptedNames?.plural ? status.acceptedNames : names
  const { subresources = {}, schema: validation = {}, selectableFields = [] } = version
  const { openAPIV3Schema } = validation
  const structural = once(() => structuralSchema(openAPIV3Schema))
  const rules = once(() => objectRules(openAPIV3Schema, measures))
  /** Errors of rules about unchanged values, by the validated object. They become warnings. */
  const tolerated = new WeakMap<ApiObject, FieldError[]>()
  const validateInSlices = (object: ApiObject, old: ApiObject | undefined, slice: Slice) => {
    const warn = (error: FieldError) => getOrInsert(tolerated, object, () => []).push(error)
    return validateCustom(structural().validate, rules(), subresources.scale, { object, old, warn, slice })
  }
  const kind = kindFrom<ApiObject, unknown>(
    {
      group: spec.group,
      version: version.name,
      kind: accepted.kind,
      plural: accepted.plural,
      singular: accepted.singular ?? accepted.kind.toLowerCase(),
      shortNames: accepted.shortNames ?? [],
      categories: accepted.categories ?? [],
      namespaced: spec.scope === 'Namespaced',
      message: customMessage(openApiName(spec.group, version.name, accepted.kind)),
      ...(version.deprecated && { deprecationWarning: version.deprecationWarning ?? usualWarning(spec, version.name) }),
      hasStatus: subresources.status !== undefined,
      countsGenerations: true,
      updatesNeedVersion: true,
      ...(subresources.scale === undefined ? {} : { scale: customScaling(subresources.scale) }),
      validateName: dnsSubdomainErrors,
      applyDefaults: (object) => object,
      validate: (object, old) => runToEnd((slice) => validateInSlices(object, old, slice)),
      validateInSlices,
      validateUpdate: () => [],
      warnings: (object, old) => [
        ...finalizerWarnings(object, old),
        ...(tolerated.get(object) ?? []).map(fieldErrorText),
      ],
      columns: printerColumns(version.additionalPrinterColumns),
      fieldLabels: Object.fromEntries(selectableFields.map(fieldLabelOf)),
    },
    customSchema(structural),
  )
  return { ...kind, custom: customVersion(definition, version, structural) }
}

function customVersion(
  { spec }: CustomResourceDefinition,
  { schema }: CustomResourceDefinitionVersion,
  structural: () => StructuralSchema,
): CustomVersion {
  const { kind, listKind = `${kind}List` } = spec.names
  return {
    listKind,
    complete(stored) {
      const { value } = structural().prune(asJson(stored), true)
      return structural().withDefaults(value) as unknown as ApiObject
    },
    prune: (converted) => structural().prune(asJson(converted)).value as unknown as ApiObject,
    publishedSchema: (dialect) => publishedSchema(schema?.openAPIV3Schema, dialect),
  }
}

/** Recommends the best version that is not deprecated, unless the deprecated one is better. */
function usualWarning({ group, names, versions }: CustomResourceDefinition['spec'], deprecated: string): string {
  const [better] = (versions ?? [])
    .filter((each) => each.served && !each.deprecated && compareVersions(each.name, deprecated) < 0)
    .toSorted((a, b) => compareVersions(a.name, b.name))
  const warning = `${group}/${deprecated} ${names.kind} is deprecated`
  return better === undefined ? warning : `${warning}; use ${group}/${better.name} ${names.kind}`
}

/** `com.example.stable.v1.CronTab`: the name of the type in OpenAPI documents. */
const openApiName = (group: string, version: string, kind: string): string =>
  [...group.split('.').toReversed(), version, kind].join('.')

/** Errors of these types leave values that rules cannot be evaluated for. */
const blockingTypes: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])
const notChecked = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
)

interface CustomValidation {
  readonly object: ApiObject
  readonly old: ApiObject | undefined
  readonly warn: (error: FieldError) => void
  readonly slice: Slice
}

function* validateCustom(
  validate: StructuralSchema['validate'],
  rules: ObjectRules,
  scale: ScaleDefinition | undefined,
  { object, old, warn, slice }: CustomValidation,
): Sliced<readonly FieldError[]> {
  const value = asJson(object)
  const before = old && asJson(old)
  const found = yield* validate(value, before, slice)
  const errors = scale === undefined ? found : [...found, ...scaleErrors(scale, value)]
  if (rules.isEmpty) return errors
  if (errors.some(({ reason }) => blockingTypes.has(reason))) return [...errors, notChecked]
  return [...errors, ...(yield* rules.validate(value, before, warn, slice))]
}

function fieldLabelOf({ jsonPath }: SelectableField): [string, (object: ApiObject) => string] {
  const path = fieldPathOf(jsonPath)
  const read = (object: ApiObject): string => {
    const value = valueAt(asJson(object), path)
    return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
  }
  return [path.join('.'), read]
}

/** Custom objects are JSON of any form besides their metadata. */
const asJson = (object: ApiObject): JsonObject => object as unknown as JsonObject

/** Schemas are compiled when they are first used: most definitions of a cluster are used rarely or never. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
