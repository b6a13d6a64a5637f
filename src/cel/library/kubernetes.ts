// The environment of Kubernetes: the standard library and Kubernetes' additions.
import type { Environment } from '../environment/environment.ts'
import type { Functions } from '../environment/function.ts'
import { dynType, listOf, mapOf, optionalOf, typeOf, type CelType } from '../types/cel-type.ts'
import { ipFunctions, cidrType, ipType } from './kubernetes/ip-functions.ts'
import {
  authorizerFunctions,
  authorizerType,
  decisionType,
  groupCheckType,
  pathCheckType,
  resourceCheckType,
} from './kubernetes/authorizer-functions.ts'
import { formatFunctions, formatType, type FormatRule } from './kubernetes/format-functions.ts'
import { listFunctions } from './kubernetes/list-functions.ts'
import { quantityFunctions, quantityType } from './kubernetes/quantity-functions.ts'
import { regexFunctions } from './kubernetes/regex-functions.ts'
import { semverFunctions, semverType } from './kubernetes/semver-functions.ts'
import { setFunctions } from './kubernetes/set-functions.ts'
import { urlFunctions, urlType } from './kubernetes/url-functions.ts'
import { standardEnvironment, standardTypes } from './standard.ts'

const libraries: readonly Functions[] = [
  ipFunctions,
  authorizerFunctions,
  listFunctions,
  quantityFunctions,
  regexFunctions,
  semverFunctions,
  setFunctions,
  urlFunctions,
]

const namedTypes: readonly CelType[] = [
  ...standardTypes,
  listOf(dynType),
  mapOf(dynType, dynType),
  typeOf(),
  optionalOf(dynType),
  authorizerType,
  cidrType,
  decisionType,
  formatType,
  groupCheckType,
  ipType,
  pathCheckType,
  quantityType,
  resourceCheckType,
  semverType,
  urlType,
]

export const kubernetesEnvironment = (rules: Readonly<Record<string, FormatRule>>): Environment =>
  standardEnvironment.with({}, { functions: [...libraries, formatFunctions(rules)], namedTypes, isHomogeneous: true })
