// The public conformance cases of the language in our form: declarations, bindings and expected results.
import { tests } from '@bufbuild/cel-spec/testdata/conformance.js'
import type { Functions } from './environment/function.ts'
import { standardEnvironment } from './library/standard.ts'
import type { Environment } from './environment/environment.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  opaque,
  param,
  stringType,
  timestampType,
  typeOf,
  uintType,
  type CelType,
} from './types/cel-type.ts'
import { LiteralMap } from './values/map-value.ts'
import { Duration, Timestamp } from './values/time-values.ts'
import { TypeValue, Uint, type Value } from './values/value.ts'

/** The cases are in protobuf's JSON format. Casts are not checked here, since a wrong one makes its case fail. */
export interface Json {
  readonly [name: string]: Json
}

export interface ConformanceCase {
  readonly name: string
  readonly expr: string
  readonly environment: Environment
  readonly bindings: Readonly<Record<string, Value>>
  readonly isChecked: boolean
  readonly isCheckOnly: boolean
  readonly expected: Value | undefined
  readonly expectedType: CelType | undefined
  readonly isError: boolean
}

type Suite = typeof tests

const leftOut: readonly (readonly [path: RegExp, why: string])[] = [
  [
    /^(proto2|proto2_ext|proto3|wrappers|enums|dynamic|comparisons\/eq_wrapper)\//,
    'protobuf messages: our objects are JSON',
  ],
  [/^(math_ext|encoders_ext|block_ext)\//, 'extensions that Kubernetes does not offer'],
  [
    /^string_ext\/value_errors\/(last)?indexof_out_of_range$|^timestamps\/duration_converters\/get_milliseconds$/,
    'upstream finds nothing behind the end of a text, and returns all milliseconds of a duration',
  ],
]
const messages = /TestAllTypes|NestedTestAllTypes|google\.protobuf\.(?!Timestamp|Duration)\w/

/** Without the excluded cases. */
export const supportedCases = () =>
  casesOf().filter(({ path, text }) => !leftOut.some(([pattern]) => pattern.test(path)) && !messages.test(text))

/** All cases by their suites' names: `timestamps/comparisons/leq_timestamp`. */
function* casesOf(
  suite: Suite = tests,
  path = '',
): Generator<{ path: string; read: () => ConformanceCase; text: string }> {
  for (const { original } of suite.tests ?? []) {
    const source = original as unknown as Json & { name: string }
    yield { path: `${path}${source.name}`, text: JSON.stringify(source), read: () => caseOf(source) }
  }
  for (const inner of suite.suites ?? []) yield* casesOf(inner, `${path}${inner.name}/`)
}

function caseOf(source: Json & { readonly name: string }): ConformanceCase {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  const declarations = Object.values(source['typeEnv'] ?? {})
  const variables = Object.fromEntries(
    declarations
      .filter(({ ident }) => ident !== undefined)
      .map(({ name, ident }) => [text(name), readType(ident?.['type'])]),
  )
  const bindings = Object.fromEntries(
    Object.entries(source['bindings'] ?? {}).map(([name, { value }]) => [name, readValue(value ?? {})]),
  )
  const untyped = Object.keys(bindings).filter((name) => !(name in variables))
  const expected = source['value'] ?? source['typedResult']?.['result']
  const deduced = source['typedResult']?.['deducedType']
  return {
    name: source.name,
    expr: text(source['expr']),
    environment: standardEnvironment.with(
      { ...variables, ...Object.fromEntries(untyped.map((name) => [name, dynType])) },
      { functions: [readFunctions(declarations)], container: text(source['container']) },
    ),
    bindings,
    isChecked: source['disableCheck'] === undefined,
    isCheckOnly: source['checkOnly'] !== undefined,
    expected: expected === undefined ? undefined : readValue(expected),
    expectedType: deduced === undefined ? undefined : readType(deduced),
    isError: source['evalError'] !== undefined,
  }
}

const readFunctions = (declarations: readonly Json[]): Functions =>
  Object.fromEntries(
    declarations
      .filter(({ function: declared }) => declared !== undefined)
      .map(({ name, function: declared }) => [
        String(name),
        Object.values(declared?.['overloads'] ?? {}).map((overload) => ({
          id: String(overload['overloadId']),
          isMember: overload['isInstanceFunction'] !== undefined,
          args: Object.values(overload['params'] ?? {}).map(readType),
          result: readType(overload['resultType']),
          call: () => null,
        })),
      ]),
  )

const named: Readonly<Record<string, CelType>> = {
  BOOL: boolType,
  INT64: intType,
  UINT64: uintType,
  DOUBLE: doubleType,
  STRING: stringType,
  BYTES: bytesType,
  TIMESTAMP: timestampType,
  DURATION: durationType,
  'google.protobuf.Timestamp': timestampType,
  'google.protobuf.Duration': durationType,
}

function readType(type: Json | undefined): CelType {
  const [[kind, of] = ['dyn', undefined]] = Object.entries(type ?? {})
  switch (kind) {
    case 'primitive':
    case 'wellKnown':
    case 'messageType':
      return named[String(of)] ?? opaque(String(of))
    case 'null':
      return nullType
    case 'listType':
      return listOf(readType(of?.['elemType']))
    case 'mapType':
      return mapOf(readType(of?.['keyType']), readType(of?.['valueType']))
    case 'typeParam':
      return param(String(of))
    case 'type':
      return typeOf(readType(of))
    case 'abstractType':
      return opaque(String(of?.['name']), ...Object.values(of?.['parameterTypes'] ?? {}).map(readType))
    default:
      return dynType
  }
}

function readValue(value: Json): Value {
  const [[kind, of] = ['', undefined]] = Object.entries(value)
  const raw: unknown = of
  switch (kind) {
    case 'int64Value':
      return BigInt(String(raw))
    case 'uint64Value':
      return new Uint(BigInt(String(raw)))
    case 'doubleValue':
      return Number(raw)
    case 'stringValue':
      return String(raw)
    case 'bytesValue':
      return Uint8Array.fromBase64(String(raw))
    case 'boolValue':
      return raw === true
    case 'nullValue':
      return null
    case 'typeValue':
      return new TypeValue(String(raw))
    case 'listValue':
      return Object.values(of?.['values'] ?? {}).map(readValue)
    case 'mapValue':
      return new LiteralMap(
        Object.values(of?.['entries'] ?? {}).map(({ key, value: held }) => [
          readValue(key ?? {}),
          readValue(held ?? {}),
        ]),
      )
    case 'objectValue':
      return readMessage(String(of?.['@type']), String(of?.['value']))
    default:
      throw new Error(`a value of the conformance cases is unknown: ${kind}`)
  }
}

function readMessage(type: string, value: string): Value {
  if (type.endsWith('Timestamp')) return Timestamp.parse(value)
  if (type.endsWith('Duration')) return Duration.parse(value)
  throw new Error(`a message of the conformance cases is unknown: ${type}`)
}
