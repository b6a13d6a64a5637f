// The environment of Kubernetes: the standard library and what Kubernetes adds to it.
import type { Environment } from '../environment.ts'
import type { Functions } from '../function.ts'
import { dynType, listOf, mapOf, optionalOf, typeOf, type CelType } from '../type.ts'
import { addresses, cidrType, ipType } from './kubernetes/ip.ts'
import {
  authorizers,
  authorizerType,
  decisionType,
  groupCheckType,
  pathCheckType,
  resourceCheckType,
} from './kubernetes/authorizer.ts'
import { formats, formatType, type FormatRule } from './kubernetes/format.ts'
import { lists } from './kubernetes/lists.ts'
import { quantities, quantityType } from './kubernetes/quantity.ts'
import { regexes } from './kubernetes/regex.ts'
import { semvers, semverType } from './kubernetes/semver.ts'
import { sets } from './kubernetes/sets.ts'
import { urls, urlType } from './kubernetes/url.ts'
import { standardEnvironment, standardTypes } from './standard.ts'

const libraries: readonly Functions[] = [addresses, authorizers, lists, quantities, regexes, semvers, sets, urls]

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
  standardEnvironment.with({}, { functions: [...libraries, formats(rules)], namedTypes, isHomogeneous: true })
