// The standard library of the language, and the environment that all others extend.
import { Environment } from '../environment/environment.ts'
import type { Functions } from '../environment/function.ts'
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
} from '../types/cel-type.ts'
import { arithmeticFunctions } from './standard/arithmetic.ts'
import { collectionFunctions, optionalFunctions } from './standard/collections.ts'
import { comparisonFunctions } from './standard/comparison.ts'
import { conversionFunctions } from './standard/conversions.ts'
import { textFunctions } from './standard/text-functions.ts'
import { timeFunctions } from './standard/time-functions.ts'
import { standardFormat } from './string-format.ts'
import { stringFormat, stringFunctions, stringReverse } from './strings.ts'

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

export const standardFunctions: readonly Functions[] = [
  arithmeticFunctions,
  collectionFunctions,
  comparisonFunctions,
  conversionFunctions,
  optionalFunctions,
  stringFunctions,
  textFunctions,
  timeFunctions,
]

export const standardEnvironment = new Environment({
  functions: [...standardFunctions, stringReverse, stringFormat(standardFormat)],
  namedTypes: standardTypes,
})
