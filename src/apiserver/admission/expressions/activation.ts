// What expressions of admission see of a request.
import { namespace as namespaces, type Namespace } from '../../../api/core/v1/namespace.ts'
import { namespaceType, requestType } from '../../../api/expressions/admission.ts'
import type { Kind } from '../../../api/kind.ts'
import type { ApiObject } from '../../../api/object.ts'
import {
  AuthorizationAnswers,
  authorizerType,
  Check,
  resourceCheckType,
} from '../../../cel/library/kubernetes/authorizer.ts'
import type { Activation } from '../../../cel/run/frame.ts'
import { fromJson } from '../../../cel/values/json.ts'
import type { Value } from '../../../cel/values/value.ts'
import type { RegistryReads } from '../../registry/strategy.ts'
import type { AdmissionAttributes } from '../plugin.ts'
import { shownAs, type Posted } from '../posted.ts'
import { requestOf } from '../webhooks/review.ts'

/** One for all expressions of a request that see the object in the same version. */
export interface Seen {
  readonly activation: Activation
  /** What the authorizers said so far. */
  readonly answers: AuthorizationAnswers
}

export function seenBy(attributes: AdmissionAttributes, kind: Kind, reads: RegistryReads): Seen {
  const { object, old, posted, subresource, namespace, name } = attributes
  const answers = new AuthorizationAnswers()
  const { group, plural: resource } = kind
  const asked = { group, resource, ...(subresource === '' ? {} : { subresource }), namespace, name }
  const activation = {
    object: shown(kind, posted, object),
    oldObject: shown(kind, posted, old),
    request: fromJson(requestOf(attributes, kind), requestType),
    namespaceObject: namespaceOf(attributes, reads),
    authorizer: new Check(authorizerType, {}, answers),
    'authorizer.requestResource': new Check(resourceCheckType, asked, answers),
  }
  return { activation, answers }
}

const shown = (kind: Kind, posted: Posted | undefined, object: ApiObject | undefined): Value =>
  object === undefined ? null : fromJson(shownAs(kind, posted, object))

/** Namespaces and what lies in none have no namespace object. */
function namespaceOf({ kind, namespace }: AdmissionAttributes, reads: RegistryReads): Value {
  const found: Namespace | undefined =
    kind === namespaces || namespace === '' ? undefined : reads.get(namespaces, '', namespace)
  return found === undefined ? null : fromJson(found, namespaceType)
}
