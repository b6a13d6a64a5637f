// Warnings about formats in the schemas of a definition that are not recognized, and therefore not validated.
import { lookup } from '../../../base/collections/lookup.ts'
import { isKnownFormat } from '../../validation/formats/value-formats.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import type { CustomResourceDefinitionSpec } from './custom-resource-definition-spec.ts'

interface Definition {
  readonly spec: CustomResourceDefinitionSpec
}

const numberFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['double', 'float'],
}

/** Formats that the definition had before get no warning. */
export function formatWarnings(definition: Definition, old?: Definition): string[] {
  const known = new Set(old === undefined ? [] : unrecognizedFormats(old))
  return unrecognizedFormats(definition)
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`)
}

function unrecognizedFormats({ spec }: Definition): string[] {
  const found = new Set<string>()
  const visit = (schema: JsonSchemaProps, type: string | undefined): void => {
    const { format } = schema
    if (format !== undefined && format !== '' && !isRecognized(format, type)) found.add(format)
    for (const each of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) visit(each, type)
    if (schema.not !== undefined) visit(schema.not, type)
    for (const each of childrenOf(schema)) visit(each, each.type)
  }
  for (const { schema } of spec.versions ?? [])
    if (schema?.openAPIV3Schema !== undefined) visit(schema.openAPIV3Schema, schema.openAPIV3Schema.type)
  return [...found]
}

function childrenOf({ properties, items, additionalProperties }: JsonSchemaProps): readonly JsonSchemaProps[] {
  const item = Array.isArray(items) ? items : items === undefined ? [] : [items as JsonSchemaProps]
  const others = typeof additionalProperties === 'object' ? [additionalProperties] : []
  return [...Object.values(properties ?? {}), ...item, ...others]
}

const isRecognized = (format: string, type: string | undefined): boolean =>
  isKnownFormat(format) || (lookup(numberFormats, type ?? '') ?? []).includes(format)
