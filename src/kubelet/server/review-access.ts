// Who may ask this kubelet, as the API server says: tokens and access are reviewed there.
import { BoundedCache } from '../../base/bounded-cache.ts'
import type { Clock } from '../../base/clock.ts'
import { context } from '../../base/context.ts'
import { tokenReview } from '../../api/authentication/v1/token-review.ts'
import { subjectAccessReview } from '../../api/authorization/v1/subject-access-review.ts'
import type { Client } from '../../client/client.ts'
import type { KubeletAccess, KubeletUser } from './access.ts'

export interface ReviewAccessOptions {
  readonly client: Client
  readonly nodeName: string
}

export const reviewAccess = ({ client, nodeName }: ReviewAccessOptions): KubeletAccess => ({
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

/** In the API server's own process it need not be reviewed: it is the one that would be asked. */
export const trusting = (apiServer: string, access: KubeletAccess): KubeletAccess => ({
  ...access,
  authorize: (user, verb, subresource, signal) =>
    user.name === apiServer ? Promise.resolve(true) : access.authorize(user, verb, subresource, signal),
})

export interface RememberOptions {
  readonly clock: Clock
  /** Tokens are not kept as they are. */
  readonly digest: (text: string) => string
  readonly tokenMs: number
  readonly allowedMs: number
  readonly deniedMs: number
}

const answersMax = 1_000

/** Answers hold for a while, as upstream's do: not every request is worth two more. */
export function remembering(access: KubeletAccess, options: RememberOptions): KubeletAccess {
  const { clock, digest, tokenMs, allowedMs, deniedMs } = options
  const users = new BoundedCache<KubeletUser>(clock, answersMax)
  const decisions = new BoundedCache<boolean>(clock, answersMax)
  return {
    async authenticateToken(token, signal) {
      const key = digest(token)
      const user = users.get(key) ?? (await access.authenticateToken(token, signal))
      if (user !== undefined && users.get(key) === undefined) users.set(key, user, tokenMs)
      return user
    },
    async authorize(user, verb, subresource, signal) {
      const key = JSON.stringify([user.name, user.groups, verb, subresource])
      const known = decisions.get(key)
      if (known !== undefined) return known
      const isAllowed = await access.authorize(user, verb, subresource, signal)
      decisions.set(key, isAllowed, isAllowed ? allowedMs : deniedMs)
      return isAllowed
    },
  }
}
