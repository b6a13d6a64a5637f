// The standard library of the language, and the environment that every other one builds upon.
import { Environment } from '../environment.ts'
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
  optionalOf,
  stringType,
  timestampType,
  typeOf,
  uintType,
  type CelType,
} from '../type.ts'
import { arithmetic } from './standard/arithmetic.ts'
import { collections, optionals } from './standard/collections.ts'
import { comparison } from './standard/comparison.ts'
import { conversions } from './standard/conversions.ts'
import { text } from './standard/text.ts'
import { time } from './standard/time.ts'
import { strings } from './strings.ts'

export const standardTypes: readonly CelType[] = [
  boolType,
  intType,
  uintType,
  doubleType,
  stringType,
  bytesType,
  nullType,
  timestampType,
  durationType,
  listOf(dynType),
  mapOf(dynType, dynType),
  typeOf(),
  optionalOf(dynType),
]

export const standardEnvironment = new Environment({
  functions: [arithmetic, collections, comparison, conversions, optionals, strings, text, time],
  namedTypes: standardTypes,
})
