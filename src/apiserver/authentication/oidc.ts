// OpenID Connect: verifies tokens of the configured issuers and maps their claims to users and groups.
import { lookup } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { CryptoProvider, SignatureAlgorithm } from '../../platform/crypto/crypto.ts'
import type { JsonServer } from '../outbound/outbound-json.ts'
import type { User } from '../request/request.ts'
import {
  authenticated,
  commonAudiences,
  rejected,
  unknown,
  type Authentication,
  type TokenAuthenticator,
} from './authenticator.ts'
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import { mappedUser, type ClaimExpressions } from './claim-expressions.ts'
import { credentialIdKey } from './credential-id.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { audiencesOf, isSignedBy, parseToken, type Claims } from './json-web-token.ts'

export interface ClaimMapping {
  readonly claim: string
  readonly prefix: string
}

/** An issuer and the mapping of its claims. */
export interface JwtIssuer {
  readonly url: string
  readonly discoveryUrl: string
  /** PEM; empty: the platform's trusted CAs. */
  readonly certificateAuthority: string
  /** A token must have one of these audiences. */
  readonly audiences: readonly string[]
  readonly algorithms: readonly SignatureAlgorithm[]
  readonly requiredClaims: readonly { readonly claim: string; readonly value: string }[]
  readonly username: ClaimMapping
  readonly groups: ClaimMapping | undefined
  readonly uidClaim: string
  /** Mappings and rules that use expressions. */
  readonly expressions?: ClaimExpressions
}

export interface OidcDeps {
  readonly ownAudiences: readonly string[]
  readonly clock: Clock
  readonly crypto: CryptoProvider
  readonly serverAt: (origin: string) => JsonServer
}

const verifiedMs = 10_000
const verifiedTokensMax = 10_000

export function oidc(issuer: JwtIssuer, { ownAudiences, clock, crypto, serverAt }: OidcDeps): TokenAuthenticator {
  const keys = new IssuerKeys(issuer.url, issuer.discoveryUrl, serverAt, crypto)
  const verified = new TtlCache<User>(clock, verifiedTokensMax)
  return {
    name: `oidc ${issuer.url}`,
    async authenticateToken(token, audiences) {
      const parsed = parseToken(token)
      if (parsed === undefined || parsed.claims['iss'] !== issuer.url) return unknown
      const common = commonAudiences(audiences, ownAudiences)
      if (common.length === 0) return rejected('the token is not meant for these audiences')
      const wrong = timeClaimsError(parsed.claims, clock.nowMs())
      if (wrong !== undefined) return rejected(`oidc: verify token: ${wrong}`)
      const digest = crypto.sha256(token).toBase64()
      const known = verified.get(digest)
      if (known !== undefined) return authenticated(known, common)
      if (!issuer.algorithms.includes(parsed.algorithm))
        return rejected(`oidc: verify token: signed with the unexpected algorithm ${parsed.algorithm}`)
      try {
        const candidates = await keys.keysFor(parsed.keyId)
        if (!isSignedBy(parsed, candidates)) return rejected('oidc: verify token: failed to verify signature')
      } catch (error) {
        return rejected(`oidc: the keys of the issuer are not available: ${(error as Error).message}`)
      }
      const answer = userOf(parsed.claims, issuer, common)
      if (answer.kind === 'authenticated') verified.set(digest, answer.user, verifiedMs)
      return answer
    },
  }
}

/** As upstream, a token is accepted this long before its `nbf`, because clocks differ. */
const notBeforeLeewayMs = 60_000

function timeClaimsError({ exp, nbf, iat }: Claims, nowMs: number): string | undefined {
  const expiryMs = timeMs(exp)
  const notBeforeMs = timeMs(nbf ?? 0)
  const issuedMs = timeMs(iat ?? 0)
  if (exp === undefined) return 'token is expired'
  if (expiryMs === undefined || notBeforeMs === undefined || issuedMs === undefined)
    return 'failed to unmarshal claims: exp, nbf and iat must be seconds'
  if (expiryMs <= nowMs) return 'token is expired'
  return notBeforeMs > nowMs + notBeforeLeewayMs ? 'token is not valid yet' : undefined
}

/** Converts seconds since 1970, a number or a numeric string; undefined if it is neither or out of range. */
function timeMs(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  return typeof seconds === 'number' && Math.abs(seconds) <= secondsMax ? seconds * 1000 : undefined
}
const secondsMax = Number.MAX_SAFE_INTEGER / 1000

function userOf(claims: Claims, issuer: JwtIssuer, common: readonly string[]): Authentication {
  const { username, groups, requiredClaims, audiences, uidClaim, expressions } = issuer
  const malformed = malformedClaim(claims)
  if (malformed !== undefined) return rejected(`oidc: verify token: failed to unmarshal claims: ${malformed}`)
  const meantFor = audiencesOf(claims)
  if (!audiences.some((audience) => meantFor.includes(audience)))
    return rejected(`oidc: expected audience in ${JSON.stringify(audiences)} got ${JSON.stringify(meantFor)}`)
  for (const { claim, value } of requiredClaims) {
    const found = claimAt(claims, claim)
    if (found === undefined) return rejected(`oidc: required claim ${claim} not present in ID token`)
    if (found !== value)
      return rejected(
        `oidc: required claim ${claim} value does not match. Got = ${JSON.stringify(found)}, want = ${JSON.stringify(value)}`,
      )
  }
  const name = expressions?.username === undefined ? claimAt(claims, username.claim) : ''
  if (typeof name !== 'string' || (name === '' && expressions?.username === undefined))
    return rejected(`oidc: parse username claims ${JSON.stringify(username.claim)}: claim not present`)
  // A missing claim counts as verified, but null does not.
  const { email_verified: isVerified = true } = claims
  if (username.claim === 'email' && isVerified !== true) return rejected('oidc: email not verified')
  const named = groups === undefined ? [] : namesIn(claimAt(claims, groups.claim))
  if (named === undefined)
    return rejected(`oidc: parse groups claim ${JSON.stringify(groups?.claim)}: not a list of names`)
  const uid = uidClaim === '' ? '' : claimAt(claims, uidClaim)
  if (typeof uid !== 'string') return rejected(`oidc: parse uid claim ${JSON.stringify(uidClaim)}: claim not present`)
  const { jti } = claims
  const user = {
    name: username.prefix + name,
    uid,
    groups: named.map((group) => (groups?.prefix ?? '') + group),
    extra: typeof jti === 'string' && jti !== '' ? { [credentialIdKey]: [`JTI=${jti}`] } : {},
  }
  const mapped = expressions === undefined ? user : mappedUser(claims, user, expressions)
  return typeof mapped === 'string' ? rejected(mapped) : authenticated(mapped, common)
}

/** The error if `sub` or `aud` have a wrong type. */
function malformedClaim({ aud = [], sub = '' }: Claims): string | undefined {
  if (typeof sub !== 'string') return 'sub must be a string'
  const isNames = typeof aud === 'string' || (Array.isArray(aud) && aud.every((each) => typeof each === 'string'))
  return isNames ? undefined : 'aud must be a string or a list of strings'
}

const claimAt = (claims: Claims, name: string): unknown => lookup(claims, name)

/** A string or a list of strings; empty if there is none, undefined for other types. */
function namesIn(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [value]
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined
}
