// The environment of Kubernetes: the standard library and Kubernetes' additions.
import { Environment } from '../environment/environment.ts'
import type { Functions } from '../environment/function.ts'
import type { CelType } from '../types/cel-type.ts'
import { ipFunctions, cidrType, ipType } from './kubernetes/ip-functions.ts'
import { authorizerFunctions } from './kubernetes/authorizer-functions.ts'
import { formatFunctions, type FormatRule } from './kubernetes/format-functions.ts'
import { kubernetesFormat } from './kubernetes-format.ts'
import { listExtension } from './kubernetes/list-extension.ts'
import { listFunctions } from './kubernetes/list-functions.ts'
import { quantityFunctions } from './kubernetes/quantity-functions.ts'
import { regexFunctions } from './kubernetes/regex-functions.ts'
import { semverFunctions } from './kubernetes/semver-functions.ts'
import { setFunctions } from './kubernetes/set-functions.ts'
import { urlFunctions } from './kubernetes/url-functions.ts'
import { standardFunctions, standardTypes } from './standard.ts'
import { stringFormat } from './strings.ts'

const libraries: readonly Functions[] = [
  ipFunctions,
  authorizerFunctions,
  listExtension,
  listFunctions,
  quantityFunctions,
  regexFunctions,
  semverFunctions,
  setFunctions,
  urlFunctions,
]

/** Of the types of the libraries, only those of addresses can be named. */
const namedTypes: readonly CelType[] = [...standardTypes, cidrType, ipType]

export const kubernetesEnvironment = (rules: Readonly<Record<string, FormatRule>>): Environment =>
  new Environment({
    functions: [...standardFunctions, ...libraries, stringFormat(kubernetesFormat), formatFunctions(rules)],
    namedTypes,
    dialect: 'kubernetes',
  })
