// OpenAPI v2 in protobuf, as gnostic defines it, for older clients. Only the messages that our documents use are
// defined. Extensions (`x-`) are YAML text, of which JSON is a subset.
import {
  bool,
  double,
  int64,
  list,
  message,
  string,
  struct,
  type Field,
  type FieldMap,
  type Message,
} from '../../schema/descriptor/field.ts'
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { ProtobufWriter } from '../../schema/protobuf/protobuf-writer.ts'
import { key, writeBytes } from '../../schema/protobuf/scalar-writers.ts'
import { encodeProtobuf } from '../../schema/protobuf/protobuf-encode.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

const pointer = { pointer: true } as const
/** A string that is omitted when it is undefined. */
const text = (tag: number) => string(tag, pointer)
const named = (value: Message): Message =>
  message(`Named${value.name}`, { name: text(1), value: struct(2, value, pointer) })

const any = message('Any', { yaml: text(2) })
const namedAny = named(any)
const extensions = (tag: number) => list(tag, namedAny)

const schemaFields: FieldMap = {
  _ref: text(1),
  format: text(2),
  title: text(3),
  description: text(4),
  default: struct(5, any, pointer),
  multiple_of: double(6, pointer),
  maximum: double(7, pointer),
  exclusive_maximum: bool(8, pointer),
  minimum: double(9, pointer),
  exclusive_minimum: bool(10, pointer),
  max_length: int64(11, pointer),
  min_length: int64(12, pointer),
  pattern: text(13),
  max_items: int64(14, pointer),
  min_items: int64(15, pointer),
  unique_items: bool(16, pointer),
  max_properties: int64(17, pointer),
  min_properties: int64(18, pointer),
  required: list(19, 'string'),
  enum: list(20, any),
  get additional_properties(): Field {
    return struct(21, additionalPropertiesItem, pointer)
  },
  type: struct(22, message('TypeItem', { value: list(1, 'string') }), pointer),
  get items(): Field {
    return struct(23, itemsItem, pointer)
  },
  get properties(): Field {
    return struct(25, properties, pointer)
  },
  external_docs: struct(29, message('ExternalDocs', { description: text(1), url: text(2) }), pointer),
  example: struct(30, any, pointer),
  vendor_extension: extensions(31),
}
const schema: Message = message('Schema', schemaFields)
const itemsItem = message('ItemsItem', { schema: list(1, schema) })
const additionalPropertiesItem = message('AdditionalPropertiesItem', {
  schema: struct(1, schema, pointer),
  boolean: bool(2, pointer),
})
const properties: Message = message('Properties', { additional_properties: list(1, named(schema)) })

const bodyParameter = message('BodyParameter', {
  name: text(2),
  in: text(3),
  required: bool(4, pointer),
  schema: struct(5, schema, pointer),
})
const queryParameter = message('QueryParameterSubSchema', {
  in: text(2),
  name: text(4),
  type: text(6),
  unique_items: bool(20, pointer),
})
const pathParameter = message('PathParameterSubSchema', {
  required: bool(1, pointer),
  in: text(2),
  name: text(4),
  type: text(5),
  unique_items: bool(19, pointer),
})
const nonBodyParameter = message('NonBodyParameter', {
  query_parameter_sub_schema: struct(3, queryParameter, pointer),
  path_parameter_sub_schema: struct(4, pathParameter, pointer),
})
const parameter = message('Parameter', {
  body_parameter: struct(1, bodyParameter, pointer),
  non_body_parameter: struct(2, nonBodyParameter, pointer),
})
const parametersItem = message('ParametersItem', { parameter: struct(1, parameter, pointer) })

const schemaItem = message('SchemaItem', { schema: struct(1, schema, pointer) })
const response = message('Response', { description: text(1), schema: struct(2, schemaItem, pointer) })
const responseValue = message('ResponseValue', { response: struct(1, response, pointer) })
const responses = message('Responses', { response_code: list(1, named(responseValue)) })

const operation = message('Operation', {
  tags: list(1, 'string'),
  operation_id: text(5),
  produces: list(6, 'string'),
  consumes: list(7, 'string'),
  parameters: list(8, parametersItem),
  responses: struct(9, responses, pointer),
  schemes: list(10, 'string'),
  vendor_extension: extensions(13),
})
const pathItem = message('PathItem', {
  get: struct(2, operation, pointer),
  put: struct(3, operation, pointer),
  post: struct(4, operation, pointer),
  delete: struct(5, operation, pointer),
  patch: struct(8, operation, pointer),
  parameters: list(9, parametersItem),
})

const head = { swagger: text(1), info: struct(2, message('Info', { title: text(1), version: text(2) }), pointer) }
const paths = message('Paths', { path: list(2, named(pathItem)) })
const definitions = message('Definitions', { additional_properties: list(1, named(schema)) })
const headMessage = message('Head', head)

export const openApiV2Document = message('Document', {
  ...head,
  paths: struct(8, paths, pointer),
  definitions: struct(9, definitions, pointer),
})

type Json = Readonly<Record<string, unknown>>

/** A part of the document: lists that are joined with those of other parts. */
export interface ProtobufPart {
  readonly paths: Uint8Array
  readonly definitions: Uint8Array
}

export const protobufPart = (part: { readonly paths: object; readonly definitions: object }): ProtobufPart => ({
  paths: encodeProtobuf(paths, { path: namedList(part.paths, pathValue) }),
  definitions: encodeProtobuf(definitions, { additional_properties: namedList(part.definitions, schemaValue) }),
})

/** Messages are written from the last field to the first. */
export function joinedProtobuf(documentHead: object, parts: readonly ProtobufPart[]): Uint8Array {
  const writer = new ProtobufWriter().begin()
  writeBytes(writer, key(9, 2), concatBytes(parts.map((part) => part.definitions)))
  writeBytes(writer, key(8, 2), concatBytes(parts.map((part) => part.paths)))
  writer.raw(encodeProtobuf(headMessage, documentHead))
  return writer.take()
}

const namedList = (object: unknown, convert: (value: Json) => object): object[] =>
  Object.entries((object ?? {}) as Readonly<Record<string, Json>>).map(([name, value]) => ({
    name,
    value: convert(value),
  }))

const anyValue = (value: unknown): object => ({ yaml: jsonText(value) })

const extensionsOf = (object: Json): object[] =>
  Object.entries(object)
    .filter(([name]) => name.startsWith('x-'))
    .map(([name, value]) => ({ name, value: anyValue(value) }))

function schemaValue(value: Json): object {
  const { $ref, type, items, properties: fields, additionalProperties: additional, ...rest } = value
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, keyword]) => [snakeCase(name), keyword])),
    ...($ref === undefined ? {} : { _ref: $ref }),
    ...(type === undefined ? {} : { type: { value: [type] } }),
    ...(items === undefined ? {} : { items: { schema: [schemaValue(items as Json)] } }),
    ...(fields === undefined ? {} : { properties: { additional_properties: namedList(fields, schemaValue) } }),
    ...(additional === undefined ? {} : { additional_properties: additionalValue(additional) }),
    ...(rest['enum'] === undefined ? {} : { enum: (rest['enum'] as unknown[]).map(anyValue) }),
    ...(rest['default'] === undefined ? {} : { default: anyValue(rest['default']) }),
    ...(rest['example'] === undefined ? {} : { example: anyValue(rest['example']) }),
    vendor_extension: extensionsOf(value),
  }
}

const additionalValue = (value: unknown): object =>
  typeof value === 'boolean' ? { boolean: value } : { schema: schemaValue(value as Json) }

/** `maxLength` is `max_length`. */
const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const parameterValue = (value: Json): object => {
  const { uniqueItems, schema: body, ...rest } = value
  const plain = { ...rest, ...(uniqueItems === undefined ? {} : { unique_items: uniqueItems }) }
  if (value['in'] === 'body') return { parameter: { body_parameter: { ...plain, schema: schemaValue(body as Json) } } }
  const place = value['in'] === 'path' ? 'path_parameter_sub_schema' : 'query_parameter_sub_schema'
  return { parameter: { non_body_parameter: { [place]: plain } } }
}

const parameterList = (value: unknown): object[] => ((value ?? []) as Json[]).map(parameterValue)

function responseCode(value: Json): object {
  const { description, schema: body } = value
  return { response: { description, ...(body === undefined ? {} : { schema: { schema: schemaValue(body as Json) } }) } }
}

function operationValue(value: Json): object {
  const { operationId, parameters, responses: codes, ...rest } = value
  return {
    ...rest,
    operation_id: operationId,
    parameters: parameterList(parameters),
    responses: { response_code: namedList(codes, responseCode) },
    vendor_extension: extensionsOf(value),
  }
}

const pathValue = ({ parameters, ...methods }: Json): object => ({
  ...Object.fromEntries(Object.entries(methods).map(([method, value]) => [method, operationValue(value as Json)])),
  parameters: parameterList(parameters),
})
