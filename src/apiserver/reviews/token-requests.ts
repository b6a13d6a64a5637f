// TokenRequest: issues a token of a ServiceAccount, which can be bound to a pod, a node or a Secret.
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import {
  tokenRequest,
  validateTokenRequest,
  type BoundObjectReference,
  type TokenRequest,
} from '../../api/authentication/v1/token-request.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { badRequest, conflict, invalidObject, notFound } from '../../api/errors/status-error.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import { decodeBody } from '../objects/decode-object.ts'
import type { Holder, Reference, ServiceAccountTokens } from '../authentication/service-account-tokens.ts'
import type { ObjectCaches } from '../watch-cache/object-caches.ts'
import type { Review } from '../request/review.ts'

/** Kubelets request this lifetime for the default token of a pod. Old clients read that token only once. */
const podTokenSeconds = 3_607
/** The actual lifetime of such a token; its use after the requested time can be detected by `warnafter`. */
const extendedSeconds = 365 * 24 * 3_600

export const tokenRequests = (tokens: ServiceAccountTokens, caches: ObjectCaches, clock: Clock): Review => ({
  kind: serviceAccount,
  subresource: 'token',
  review(body, { target }) {
    const { namespace, name } = target
    const account = caches.get(serviceAccount, namespace, name)
    if (account === undefined) throw notFound(serviceAccount, name)
    const sent = decodeBody(tokenRequest, 'TokenRequest', body)
    const { spec } = withDefaults(tokenRequest, sent) as TokenRequest
    const errors = validateTokenRequest(spec)
    if (errors.length > 0) throw invalidObject('authentication.k8s.io', 'TokenRequest', '', errors)
    const holder = boundTo(spec.boundObjectRef, { namespace, account: referenceTo(account) }, caches)
    const audiences = spec.audiences?.length ? spec.audiences : tokens.audiences
    const isForServer = audiences.every((audience) => tokens.audiences.includes(audience))
    const isExtended = spec.expirationSeconds === podTokenSeconds && holder.pod !== undefined && isForServer
    const token = tokens.issue({
      holder,
      audiences,
      seconds: isExtended ? extendedSeconds : spec.expirationSeconds,
      ...(isExtended ? { warnAfterSeconds: spec.expirationSeconds } : {}),
    })
    return {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, namespace, creationTimestamp: rfc3339(clock.nowMs()) },
      spec: { ...spec, audiences },
      status: { token, expirationTimestamp: rfc3339(clock.nowMs() + spec.expirationSeconds * 1000) },
    }
  },
})

const referenceTo = ({ metadata: { name, uid } }: ApiObject): Reference => ({ name, uid })

function boundTo(reference: BoundObjectReference | null | undefined, holder: Holder, caches: ObjectCaches): Holder {
  if (!reference) return holder
  const { kind = '', apiVersion = '', name = '', uid = '' } = reference
  const find = (of: Kind, namespace: string): ApiObject => {
    const found = caches.get(of, namespace, name)
    if (found === undefined) throw notFound(of, name)
    if (uid !== '' && uid !== found.metadata.uid)
      throw conflict(
        { group: '', plural: of.kind },
        name,
        `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      )
    return found
  }
  switch (`${apiVersion} ${kind}`) {
    case 'v1 Pod': {
      const found = find(pod, holder.namespace) as Pod
      if ((found.spec.serviceAccountName ?? 'default') !== holder.account.name)
        throw badRequest(
          `cannot bind token for serviceaccount ${JSON.stringify(holder.account.name)} to pod running with different serviceaccount name.`,
        )
      const on = caches.get(node, '', found.spec.nodeName ?? '')
      return { ...holder, pod: referenceTo(found), ...(on === undefined ? {} : { node: referenceTo(on) }) }
    }
    case 'v1 Node':
      return { ...holder, node: referenceTo(find(node, '')) }
    case 'v1 Secret':
      return { ...holder, secret: referenceTo(find(secret, holder.namespace)) }
    default:
      throw badRequest(`cannot bind token to object of type ${apiVersion}, Kind=${kind}`)
  }
}
