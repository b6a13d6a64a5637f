// definitionFromBeta: a CustomResourceDefinition of apiextensions.k8s.io/v1beta1, in which kube-apiserver stores definitions, as v1. What
// all versions have in common is stored once there, and in each version in v1.
import {
  customResourceDefinition,
  type CustomResourceDefinition,
} from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../schema/json/json-value.ts'

export function definitionFromBeta(beta: ApiObject): ApiObject {
  const { metadata, spec, status } = beta as unknown as JsonObject
  const { kind, apiVersion } = customResourceDefinition
  const converted = { kind, apiVersion, metadata, spec: specFromBeta(isJsonObject(spec) ? spec : {}), status }
  const { schema, applyDefaults } = customResourceDefinition
  return applyDefaults(schema.withDefaults(schema.decode(converted).value) as unknown as CustomResourceDefinition)
}

function specFromBeta({
  version,
  versions,
  validation,
  subresources,
  additionalPrinterColumns,
  selectableFields,
  conversion,
  preserveUnknownFields,
  ...rest
}: JsonObject): JsonObject {
  const common = { schema: validation, subresources, additionalPrinterColumns, selectableFields }
  const listed =
    Array.isArray(versions) && versions.length > 0 ? versions : [{ name: version, served: true, storage: true }]
  return {
    ...rest,
    // Left out, it is true in v1beta1 and false in v1.
    ...(preserveUnknownFields === false ? {} : { preserveUnknownFields: true }),
    ...(isJsonObject(conversion) ? { conversion: conversionFromBeta(conversion) } : {}),
    versions: listed.filter(isJsonObject).map((each) => versionFromBeta({ ...defined(common), ...defined(each) })),
  }
}

function versionFromBeta({ additionalPrinterColumns: columns, ...version }: JsonObject): JsonObject {
  if (!Array.isArray(columns)) return version
  return { ...version, additionalPrinterColumns: columns.filter(isJsonObject).map(columnFromBeta) }
}

const columnFromBeta = ({ JSONPath, ...column }: JsonObject): JsonObject => defined({ ...column, jsonPath: JSONPath })

function conversionFromBeta({ strategy, webhookClientConfig, conversionReviewVersions }: JsonObject): JsonObject {
  if (strategy !== 'Webhook') return defined({ strategy })
  // What v1beta1 adds if it is left out.
  const versions = conversionReviewVersions ?? ['v1beta1']
  return { strategy, webhook: defined({ clientConfig: webhookClientConfig, conversionReviewVersions: versions }) }
}

const defined = (fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
