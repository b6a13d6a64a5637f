// ServiceAccount tokens: JWTs that are signed with the cluster's key and bound to a pod, a node or a Secret. Signatures are
// verified once and cached; that the bound objects exist is checked at each use.
import type { Clock } from '../../base/time/clock.ts'
import { newUid } from '../../base/random/ids.ts'
import type { Random } from '../../base/random/random.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import type { CryptoProvider, PublicKey } from '../../platform/crypto/crypto.ts'
import { isJsonObject } from '../../schema/json/json-value.ts'
import type { CredentialMetrics } from '../metrics/credential-metrics.ts'
import type { User } from '../request/request.ts'
import { serviceAccountGroups, serviceAccountUser } from '../request/user-names.ts'
import {
  authenticated,
  commonAudiences,
  rejected,
  unknown,
  type Authentication,
  type TokenAuthenticator,
} from './authenticator.ts'
import { RecentMap } from '../../base/collections/recent-map.ts'
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import { ownText } from '../../base/text/own-text.ts'
import type { AccountKeys } from './account-keys.ts'
import { credentialIdKey } from './credential-id.ts'
import { audiencesOf, isSignedBy, parseToken, signToken, type Claims } from './json-web-token.ts'
import type { ObjectCaches } from '../watch-cache/object-caches.ts'

export interface ServiceAccountTokenOptions {
  readonly issuer: string
  /** The audiences of the API server, by default its issuer. */
  readonly audiences: readonly string[]
  readonly keys: AccountKeys
  readonly clock: Clock
  readonly random: Random
  readonly crypto: CryptoProvider
  readonly metrics: CredentialMetrics
}

export interface Reference {
  readonly name: string
  readonly uid: string
}

/** The ServiceAccount and the bound objects of a token. */
export interface Holder {
  readonly namespace: string
  readonly account: Reference
  readonly pod?: Reference
  readonly node?: Reference
  readonly secret?: Reference
}

export interface TokenRequest {
  readonly holder: Holder
  readonly audiences: readonly string[]
  readonly seconds: number
  /** The use of the token is warned about after this time; undefined: never. */
  readonly warnAfterSeconds?: number
}

interface Verified {
  readonly holder: Holder
  /** All requests with the token share one user object, so that values cached by user are found. */
  readonly user: User
  readonly audiences: readonly string[]
  readonly notBeforeMs: number
  readonly expiresMs: number
  /** When the token becomes stale; undefined for tokens that were not extended. */
  readonly warnAfterMs: number | undefined
}

const verifiedTokensMax = 10_000
/** Tokens that are kept with their digests: computing one takes longer than the rest of the authentication. */
const recentTokensMax = 256
/** As upstream, the token of a terminating pod remains valid for this long. */
const deletionLeewayMs = 60_000
const privateClaim = 'kubernetes.io'

export class ServiceAccountTokens {
  readonly issuer: string
  readonly #options: ServiceAccountTokenOptions
  /** By the digest of the token. */
  #verified: TtlCache<Verified>
  /** The keys with which they were verified. */
  #verifiedWith: ReadonlyMap<string, PublicKey>
  readonly #recentDigests = new RecentMap<string, string>(recentTokensMax)

  constructor(options: ServiceAccountTokenOptions) {
    this.#options = options
    this.issuer = options.issuer
    this.#verified = new TtlCache(options.clock, verifiedTokensMax)
    this.#verifiedWith = options.keys.accepted
  }

  get audiences(): readonly string[] {
    return this.#options.audiences
  }

  issue({ holder, audiences, seconds, warnAfterSeconds }: TokenRequest): string {
    const { clock, random, keys } = this.#options
    const now = Math.floor(clock.nowMs() / 1000)
    const { namespace, account, ...bound } = holder
    const claims = {
      aud: audiences,
      exp: now + seconds,
      iat: now,
      iss: this.issuer,
      jti: newUid(random),
      [privateClaim]: {
        namespace,
        ...bound,
        serviceaccount: account,
        ...(warnAfterSeconds === undefined ? {} : { warnafter: now + warnAfterSeconds }),
      },
      nbf: now,
      sub: serviceAccountUser(namespace, account.name),
    }
    return signToken(claims, keys.signingId, keys.signing)
  }

  /** The authenticator; it uses the caches to check whether the bound objects exist. */
  authenticator(caches: ObjectCaches): TokenAuthenticator {
    return {
      name: 'serviceAccounts',
      authenticateToken: (token, audiences) => this.#authenticate(token, audiences, caches),
    }
  }

  /** The public keys as a JSON Web Key Set. */
  get keySet(): object {
    return {
      keys: [...this.#options.keys.accepted].map(([kid, { jwk }]) => ({
        use: 'sig',
        kid,
        alg: jwk.kty === 'EC' ? 'ES256' : 'RS256',
        ...jwk,
      })),
    }
  }

  get discovery(): object {
    return {
      issuer: this.issuer,
      jwks_uri: `${this.issuer}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [
        ...new Set([...this.#options.keys.accepted.values()].map(({ jwk }) => (jwk.kty === 'EC' ? 'ES256' : 'RS256'))),
      ],
    }
  }

  #authenticate(token: string, requested: readonly string[], caches: ObjectCaches): Authentication {
    const recent = this.#recentDigests.get(token)
    const digest = recent ?? this.#options.crypto.sha256(token).toBase64()
    const { accepted } = this.#options.keys
    if (accepted !== this.#verifiedWith) this.#forgetVerified(accepted)
    const known = this.#verified.get(digest)
    const verified = known ?? this.#verify(token)
    if ('kind' in verified) return verified
    const nowMs = this.#options.clock.nowMs()
    if (nowMs >= verified.expiresMs) return rejected('service account token has expired')
    if (nowMs < verified.notBeforeMs) return rejected('service account token is not valid yet')
    if (known === undefined) this.#verified.set(digest, verified, verified.expiresMs - nowMs)
    // Only valid tokens, so that others do not displace them.
    if (recent === undefined) this.#recentDigests.set(ownText(token), digest)
    const audiences = commonAudiences(requested, verified.audiences)
    if (audiences.length === 0)
      return rejected(
        `token audiences ${JSON.stringify(verified.audiences)} is invalid for the target audiences ${JSON.stringify(requested)}`,
      )
    const gone = invalidReason(verified.holder, caches, nowMs)
    if (gone !== undefined) return rejected(gone)
    const { warnAfterMs } = verified
    if (warnAfterMs !== undefined) this.#options.metrics.projectedTokenUsed(nowMs > warnAfterMs)
    return authenticated(verified.user, audiences)
  }

  #forgetVerified(accepted: ReadonlyMap<string, PublicKey>): void {
    this.#verified = new TtlCache(this.#options.clock, verifiedTokensMax)
    this.#verifiedWith = accepted
  }

  #verify(token: string): Verified | Authentication {
    const parsed = parseToken(token)
    if (parsed === undefined || parsed.claims['iss'] !== this.issuer) return unknown
    const { accepted } = this.#options.keys
    const named = accepted.get(parsed.keyId)
    if (!isSignedBy(parsed, named === undefined ? accepted.values() : [named]))
      return rejected('the signature of the service account token is not valid')
    const holder = holderOf(parsed.claims)
    const { exp, nbf, jti } = parsed.claims
    if (holder === undefined || typeof exp !== 'number')
      return rejected('the service account token has no valid claims')
    return {
      holder,
      user: userOf(holder, typeof jti === 'string' ? jti : ''),
      audiences: audiencesOf(parsed.claims),
      notBeforeMs: typeof nbf === 'number' ? nbf * 1000 : 0,
      expiresMs: exp * 1000,
      warnAfterMs: warnAfterMsOf(parsed.claims),
    }
  }
}

function warnAfterMsOf(claims: Claims): number | undefined {
  const own = claims[privateClaim]
  const seconds = isJsonObject(own) ? own['warnafter'] : undefined
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined
}

function holderOf(claims: Claims): Holder | undefined {
  const own = claims[privateClaim]
  if (!isJsonObject(own)) return undefined
  const reference = (value: unknown): Reference | undefined =>
    isJsonObject(value) && typeof value['name'] === 'string'
      ? { name: value['name'], uid: typeof value['uid'] === 'string' ? value['uid'] : '' }
      : undefined
  const { namespace } = own
  const account = reference(own['serviceaccount'])
  if (typeof namespace !== 'string' || account === undefined) return undefined
  if (claims['sub'] !== serviceAccountUser(namespace, account.name)) return undefined
  const bound = Object.fromEntries(
    (['pod', 'node', 'secret'] as const).flatMap((key) => {
      const found = reference(own[key])
      return found === undefined ? [] : [[key, found]]
    }),
  )
  return { namespace, account, ...bound }
}

/** Why the token is invalid. The node of a token that is bound to a pod need not exist. */
function invalidReason(
  { namespace, account, pod: ofPod, node: ofNode, secret: ofSecret }: Holder,
  caches: ObjectCaches,
  nowMs: number,
): string | undefined {
  const isThere = (kind: Kind, where: string, { name, uid }: Reference): boolean => {
    const metadata = caches.get(kind, where, name)?.metadata
    if (metadata === undefined || metadata.uid !== uid) return false
    const { deletionTimestamp } = metadata
    return deletionTimestamp === undefined || Date.parse(deletionTimestamp) + deletionLeewayMs > nowMs
  }
  if (!isThere(serviceAccount, namespace, account)) return 'service account token has been invalidated'
  if (ofSecret !== undefined && !isThere(secret, namespace, ofSecret))
    return 'service account token has been invalidated'
  if (ofPod !== undefined)
    return isThere(pod, namespace, ofPod) ? undefined : 'service account token has been invalidated'
  if (ofNode !== undefined && !isThere(node, '', ofNode)) return 'service account token has been invalidated'
  return undefined
}

function userOf({ namespace, account, pod: ofPod, node: ofNode }: Holder, tokenId: string): User {
  const extra = (key: string, reference: Reference | undefined) =>
    reference === undefined
      ? {}
      : {
          [`authentication.kubernetes.io/${key}-name`]: [reference.name],
          [`authentication.kubernetes.io/${key}-uid`]: [reference.uid],
        }
  return {
    name: serviceAccountUser(namespace, account.name),
    uid: account.uid,
    groups: serviceAccountGroups(namespace),
    extra: {
      ...(tokenId === '' ? {} : { [credentialIdKey]: [`JTI=${tokenId}`] }),
      ...extra('node', ofNode),
      ...extra('pod', ofPod),
    },
  }
}
