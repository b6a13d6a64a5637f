// The environment of expressions of webhooks and policies: the objects, the request, and the authorizer.
import type { Environment, StructType } from '../../cel/environment/environment.ts'
import { global, type Functions } from '../../cel/environment/function.ts'
import { authorizerType, resourceCheckType } from '../../cel/library/kubernetes/authorizer-functions.ts'
import {
  boolType,
  dynType,
  intType,
  listOf,
  mapOf,
  objectType,
  stringType,
  stringFields,
  timestampType,
  type CelType,
  type ObjectType,
} from '../../cel/types/cel-type.ts'
import { LiteralMap } from '../../cel/values/map-value.ts'
import { apiEnvironment } from './api-environment.ts'
import { userInfoType } from './user-info-type.ts'

const kindType = objectType('kubernetes.GroupVersionKind', stringFields('group', 'version', 'kind'))
const resourceType = objectType('kubernetes.GroupVersionResource', stringFields('group', 'version', 'resource'))

export const requestType = objectType('kubernetes.AdmissionRequest', {
  ...stringFields('subResource', 'requestSubResource', 'name', 'namespace', 'operation'),
  kind: kindType,
  resource: resourceType,
  requestKind: kindType,
  requestResource: resourceType,
  userInfo: userInfoType,
  dryRun: boolType,
  options: dynType,
})

const labels = mapOf(stringType, stringType)
export const namespaceType = objectType('kubernetes.Namespace', {
  metadata: objectType('kubernetes.NamespaceMetadata', {
    ...stringFields('name', 'generateName', 'namespace', 'UID', 'resourceVersion'),
    labels,
    annotations: labels,
    creationTimestamp: timestampType,
    deletionTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    generation: intType,
    finalizers: listOf(stringType),
  }),
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: listOf(stringType) }),
  status: objectType('kubernetes.NamespaceStatus', {
    phase: stringType,
    conditions: listOf(
      objectType('kubernetes.NamespaceCondition', {
        ...stringFields('status', 'type', 'message', 'reason'),
        lastTransitionTime: timestampType,
      }),
    ),
  }),
})

const base = apiEnvironment.with({
  object: dynType,
  oldObject: dynType,
  namespaceObject: namespaceType,
  request: requestType,
})
const authorized = base.with({ authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType })

export interface AdmissionOptions {
  readonly hasParams: boolean
  readonly hasAuthorizer: boolean
}

export function admissionEnvironment({ hasParams, hasAuthorizer }: AdmissionOptions): Environment {
  const environment = hasAuthorizer ? authorized : base
  return hasParams ? environment.with({ params: dynType }) : environment
}

/** The environment of match conditions of webhooks. */
export const webhookEnvironment = admissionEnvironment({ hasParams: false, hasAuthorizer: true })

/**
 * The types of a policy's variables. Each is set after its expression is compiled, and may be used by later
 * expressions.
 */
export class VariableTypes {
  readonly type: ObjectType
  readonly #fields = new Map<string, { readonly type: CelType; readonly jsonName: string }>()

  constructor() {
    this.type = { kind: 'object', name: 'kubernetes.variables', fields: this.#fields }
  }

  set(name: string, type: CelType): void {
    this.#fields.set(name, { type, jsonName: name })
  }
}

/** The environment with the variables that are set when an expression is compiled. */
export const withVariables = (environment: Environment, variables: VariableTypes): Environment =>
  environment.with({ variables: variables.type })

export const jsonPatchType = objectType('JSONPatch', { ...stringFields('op', 'path', 'from'), value: dynType })
export const appliedType = objectType('Object', {})

/** `Object.spec.template{…}`: the name of the type is the path in the object. */
function appliedStruct(name: string): StructType | undefined {
  if (name !== 'Object' && !name.startsWith('Object.')) return undefined
  return {
    type: name === 'Object' ? appliedType : objectType(name, {}),
    fieldType: () => dynType,
    create: (fields) => new LiteralMap(fields),
  }
}

const jsonPatchStruct: StructType = {
  type: jsonPatchType,
  fieldType: (name) => jsonPatchType.fields.get(name)?.type,
  create: (fields) => new LiteralMap(fields),
}

/** A key, escaped for a JSON pointer. */
const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

const patchFunctions: Functions = {
  'jsonpatch.escapeKey': [global('string_jsonpatch_escapeKey_string', [stringType], stringType, escapeKey)],
}

/** The environment of mutations, which can construct parts of the object and operations of a JSON patch. */
export const mutationEnvironment = (environment: Environment): Environment =>
  environment.with(
    {},
    {
      functions: [patchFunctions],
      structs: (name) => (name === 'JSONPatch' ? jsonPatchStruct : appliedStruct(name)),
    },
  )
