// Webhook authorizer: an external server decides. Its decisions are cached; the failure policy is configurable.
import { subjectAccessReview, type SubjectAccessReview } from '../../api/authorization/v1/subject-access-review.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import { exchangeJson, type JsonServer } from '../outbound/outbound-json.ts'
import { parseReviewResponse } from '../outbound/review-response.ts'
import { matchesConditions, type AuthorizerCondition } from './webhook-authorizer-conditions.ts'
import type { AccessAttributes } from './attributes.ts'
import { allowed, denied, noOpinion, type Authorizer, type Decision } from './authorizer.ts'

export interface WebhookAuthorizerOptions {
  readonly name: string
  readonly server: JsonServer
  /** The path and query of the request. */
  readonly target: string
  readonly version: 'v1' | 'v1beta1'
  readonly allowedCacheMs: number
  readonly deniedCacheMs: number
  readonly onFailure: 'NoOpinion' | 'Deny'
  /** The webhook is called only if all conditions are true. */
  readonly conditions: readonly AuthorizerCondition[]
  readonly crypto: CryptoProvider
}

const cachedDecisionsMax = 10_000

export function webhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const { name, server, target, version, allowedCacheMs, deniedCacheMs, onFailure, conditions, crypto } = options
  const cachedDecisions = new TtlCache<Decision>(server.clock, cachedDecisionsMax)
  const ask = async (spec: object, signal: AbortSignal): Promise<Decision> => {
    const body = JSON.stringify({ apiVersion: `authorization.k8s.io/${version}`, kind: 'SubjectAccessReview', spec })
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const { status, value } = await exchangeJson(server, { method: 'POST', target, headers, body }, signal)
    if (value === undefined) throw new Error(`the webhook responded with ${status}`)
    return read(parseReviewResponse<SubjectAccessReview>(subjectAccessReview, version, value))
  }
  const failed = (error: unknown): Decision => {
    const reason = `webhook ${JSON.stringify(name)} failed: ${(error as Error).message}`
    return onFailure === 'Deny' ? denied(reason) : noOpinion(reason)
  }
  return {
    name,
    authorize(attributes, signal) {
      try {
        if (!matchesConditions(conditions, specOf(attributes, 'v1'))) return noOpinion()
      } catch (error) {
        return failed(error)
      }
      const spec = specOf(attributes, version)
      const key = crypto.sha256(JSON.stringify(spec)).toBase64()
      const known = cachedDecisions.get(key)
      if (known !== undefined) return known
      return ask(spec, signal).then((decision) => {
        cachedDecisions.set(key, decision, decision.kind === 'allowed' ? allowedCacheMs : deniedCacheMs)
        return decision
      }, failed)
    },
    rulesFor: () => ({
      rules: [],
      incomplete: true,
      errors: ['webhook authorizer does not support user rule resolution'],
    }),
  }
}

function read({ status }: SubjectAccessReview): Decision {
  if (status === undefined) return noOpinion()
  const { allowed: isAllowed, denied: isDenied = false, reason = '' } = status
  // As upstream, this is denied whatever the failure policy is.
  if (isAllowed && isDenied) return denied('webhook subject access review returned both allow and deny response')
  if (isAllowed) return allowed(reason)
  return isDenied ? denied(reason) : noOpinion(reason)
}

function specOf(attributes: AccessAttributes, version: 'v1' | 'v1beta1'): object {
  const { name: user, uid, groups, extra } = attributes.user
  const subject = {
    user,
    [version === 'v1' ? 'groups' : 'group']: groups,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...(uid === '' ? {} : { uid }),
  }
  if (attributes.kind === 'path')
    return { ...subject, nonResourceAttributes: { path: attributes.path, verb: attributes.verb } }
  const { verb, group, version: of, resource, subresource, namespace, name, fields, labels } = attributes
  const selectors = {
    ...(fields === undefined ? {} : { fieldSelector: { requirements: fields } }),
    ...(labels === undefined ? {} : { labelSelector: { requirements: labels } }),
  }
  const named = { namespace, verb, group, version: of, resource, subresource, name }
  const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== ''))
  return { ...subject, resourceAttributes: { ...given, ...selectors } }
}
