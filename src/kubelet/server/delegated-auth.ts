// Authentication and authorization of kubelet requests by TokenReview and SubjectAccessReview at the API server.
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { tokenReview } from '../../api/authentication/v1/token-review.ts'
import { subjectAccessReview } from '../../api/authorization/v1/subject-access-review.ts'
import type { Client } from '../../client/client.ts'
import type { KubeletAuth, KubeletUser } from './kubelet-auth.ts'

export interface DelegatedAuthOptions {
  readonly client: Client
  readonly nodeName: string
}

export const delegatedAuth = ({ client, nodeName }: DelegatedAuthOptions): KubeletAuth => ({
  async authenticateToken(token, signal) {
    const { status } = await client.of(tokenReview).create({ metadata: {}, spec: { token } }, '', context(signal))
    const { username = '', groups = [] } = status?.user ?? {}
    return status?.authenticated === true ? { name: username, groups } : undefined
  },
  async authorize({ name, groups }, verb, subresource, signal) {
    const resourceAttributes = { verb, version: 'v1', resource: 'nodes', subresource, name: nodeName }
    const spec = { user: name, groups: [...groups], resourceAttributes }
    const { status } = await client.of(subjectAccessReview).create({ metadata: {}, spec }, '', context(signal))
    return status.allowed
  },
})

/** Requests of the API server in the same process are not reviewed, because it would review itself. */
export const trustingApiServer = (apiServer: string, auth: KubeletAuth): KubeletAuth => ({
  ...auth,
  authorize: (user, verb, subresource, signal) =>
    user.name === apiServer ? Promise.resolve(true) : auth.authorize(user, verb, subresource, signal),
})

export interface CachedAuthOptions {
  readonly clock: Clock
  /** Tokens are cached by their hash only. */
  readonly digest: (text: string) => string
  readonly tokenMs: number
  readonly allowedMs: number
  readonly deniedMs: number
}

const resultsMax = 1_000

/** Caches results, as upstream does, so that not every request causes two reviews. */
export function cachedAuth(auth: KubeletAuth, options: CachedAuthOptions): KubeletAuth {
  const { clock, digest, tokenMs, allowedMs, deniedMs } = options
  const users = new TtlCache<KubeletUser>(clock, resultsMax)
  const decisions = new TtlCache<boolean>(clock, resultsMax)
  return {
    async authenticateToken(token, signal) {
      const key = digest(token)
      const user = users.get(key) ?? (await auth.authenticateToken(token, signal))
      if (user !== undefined && users.get(key) === undefined) users.set(key, user, tokenMs)
      return user
    },
    async authorize(user, verb, subresource, signal) {
      const key = JSON.stringify([user.name, user.groups, verb, subresource])
      const known = decisions.get(key)
      if (known !== undefined) return known
      const isAllowed = await auth.authorize(user, verb, subresource, signal)
      decisions.set(key, isAllowed, isAllowed ? allowedMs : deniedMs)
      return isAllowed
    },
  }
}
