// The variables of admission expressions for a request: object, oldObject, request, namespaceObject and authorizer.
import { namespace as namespaces, type Namespace } from '../../../api/core/v1/namespace.ts'
import { namespaceType, requestType } from '../../../api/expressions/admission-environment.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import {
  AuthorizationDecisions,
  authorizerType,
  Check,
  resourceCheckType,
} from '../../../cel/library/kubernetes/authorizer-functions.ts'
import type { Activation } from '../../../cel/run/evaluation-frame.ts'
import { fromJson } from '../../../cel/values/json-value-conversion.ts'
import type { Value } from '../../../cel/values/value.ts'
import type { AdmissionAttributes } from '../framework/admission-plugin.ts'
import { convertToVersion, type SubresourceObject } from '../framework/subresource-object.ts'
import { requestOf } from '../framework/admission-request.ts'
import type { ObjectLister } from '../../watch-cache/object-caches.ts'

/** Shared by all expressions of a request that use the same version of the object. */
export interface ExpressionInput {
  readonly activation: Activation
  /** Decisions of the authorizers so far. */
  readonly answers: AuthorizationDecisions
}

export function expressionInput(attributes: AdmissionAttributes, kind: Kind, reads: ObjectLister): ExpressionInput {
  const { object, old, subresourceObject, subresource, namespace, name } = attributes
  const answers = new AuthorizationDecisions()
  const { group, plural: resource } = kind
  const checkedResource = { group, resource, ...(subresource === '' ? {} : { subresource }), namespace, name }
  const activation = {
    object: shown(kind, subresourceObject, object),
    oldObject: shown(kind, subresourceObject, old),
    request: fromJson(requestOf(attributes, kind), requestType),
    namespaceObject: namespaceOf(attributes, reads),
    authorizer: new Check(authorizerType, {}, answers),
    'authorizer.requestResource': new Check(resourceCheckType, checkedResource, answers),
  }
  return { activation, answers }
}

const shown = (kind: Kind, subresourceObject: SubresourceObject | undefined, object: ApiObject | undefined): Value =>
  object === undefined ? null : fromJson(convertToVersion(kind, subresourceObject, object))

/** Null for namespaces and for cluster-scoped objects. */
function namespaceOf({ kind, namespace }: AdmissionAttributes, reads: ObjectLister): Value {
  const found: Namespace | undefined =
    kind === namespaces || namespace === '' ? undefined : reads.get(namespaces, '', namespace)
  return found === undefined ? null : fromJson(found, namespaceType)
}
