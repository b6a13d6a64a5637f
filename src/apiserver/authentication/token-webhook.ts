// Token webhook: an external server authenticates tokens. Its responses are cached.
import { tokenReview, type TokenReview } from '../../api/authentication/v1/token-review.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import { exchangeJson, type JsonServer } from '../outbound/outbound-json.ts'
import { parseReviewResponse } from '../outbound/review-response.ts'
import {
  authenticated,
  commonAudiences,
  rejected,
  unknown,
  type Authentication,
  type TokenAuthenticator,
} from './authenticator.ts'
import { TtlCache } from '../../base/collections/ttl-cache.ts'

export interface TokenWebhookOptions {
  readonly server: JsonServer
  /** The path and query of the request. */
  readonly target: string
  readonly version: 'v1' | 'v1beta1'
  readonly cacheMs: number
  readonly ownAudiences: readonly string[]
  readonly crypto: CryptoProvider
}

const cachedReviewsMax = 10_000

export function tokenWebhook(options: TokenWebhookOptions): TokenAuthenticator {
  const { server, target, version, cacheMs, ownAudiences, crypto } = options
  const cachedReviews = new TtlCache<Authentication>(server.clock, cachedReviewsMax)
  const ask = async (token: string, audiences: readonly string[], signal: AbortSignal): Promise<Authentication> => {
    const review = { apiVersion: `authentication.k8s.io/${version}`, kind: 'TokenReview', spec: { token, audiences } }
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const body = JSON.stringify(review)
    const { status, value } = await exchangeJson(server, { method: 'POST', target, headers, body }, signal)
    if (value === undefined) throw new Error(`the webhook responded with ${status}`)
    return read(parseReviewResponse<TokenReview>(tokenReview, version, value), audiences, ownAudiences)
  }
  return {
    name: 'tokenWebhook',
    async authenticateToken(token, audiences, signal) {
      const key = crypto.sha256(JSON.stringify([token, audiences])).toBase64()
      const known = cachedReviews.get(key)
      if (known !== undefined) return known
      try {
        const answer = await ask(token, audiences, signal)
        // As upstream, rejections are not cached: the same token may be accepted later.
        if (answer.kind !== 'rejected') cachedReviews.set(key, answer, cacheMs)
        return answer
      } catch (error) {
        return rejected(`the token webhook failed: ${(error as Error).message}`)
      }
    },
  }
}

function read({ status }: TokenReview, requested: readonly string[], own: readonly string[]): Authentication {
  if (status === undefined) return unknown
  const { authenticated: isKnown = false, user, audiences = [], error = '' } = status
  if (!isKnown) return error === '' ? unknown : rejected(error)
  const { username = '', uid = '', groups = [], extra = {} } = user
  if (username === '') return rejected('the token webhook named no user')
  // A webhook without support for audiences returns none; its users are valid for this server.
  const common = commonAudiences(requested, audiences.length === 0 ? own : audiences)
  if (common.length === 0) return rejected('the token is not meant for these audiences')
  return authenticated({ name: username, uid, groups, extra }, common)
}
