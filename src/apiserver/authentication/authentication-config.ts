// AuthenticationConfiguration: which issuers are trusted, how their claims are read, and where anonymous is let in.
import { ConfigReader } from '../config-reader.ts'
import type { AnonymousRules } from './anonymous.ts'
import type { ClaimMapping, JwtIssuer } from './oidc.ts'

export interface AuthenticationSettings {
  readonly issuers: readonly JwtIssuer[]
  /** Undefined: the file says nothing of it. */
  readonly anonymous: AnonymousRules | undefined
}

const versions = ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1beta1'] as const
/** As upstream: what issuers are required to know. */
export const oidcAlgorithmsDefault = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const

export function authenticationConfig(value: unknown): AuthenticationSettings {
  const config = new ConfigReader(value)
  config.oneOf('apiVersion', versions)
  config.oneOf('kind', ['AuthenticationConfiguration'])
  const issuers = config.objects('jwt').map(issuerOf)
  const anonymous = config.object('anonymous')
  config.end()
  const urls = issuers.map(({ url }) => url)
  if (new Set(urls).size !== urls.length) throw config.error('jwt', 'names an issuer twice')
  return { issuers, anonymous: anonymous === undefined ? undefined : anonymousOf(anonymous) }
}

function anonymousOf(config: ConfigReader): AnonymousRules {
  const enabled = config.flag('enabled', false)
  const conditions = config.objects('conditions').map((condition) => {
    const path = condition.text('path')
    condition.end()
    return path
  })
  config.end()
  if (!enabled && conditions.length > 0) throw config.error('conditions', 'may be set only when enabled is true')
  return { enabled, paths: conditions.length === 0 ? undefined : conditions }
}

function issuerOf(config: ConfigReader): JwtIssuer {
  const issuer = config.object('issuer')
  if (issuer === undefined) throw config.error('issuer', 'is required')
  const url = issuer.text('url')
  if (!url.startsWith('https://')) throw issuer.error('url', 'must begin with https://')
  const discoveryUrl = issuer.text('discoveryURL', '')
  const audiences = issuer.texts('audiences')
  if (audiences.length === 0) throw issuer.error('audiences', 'must name at least one')
  const policy = issuer.oneOf('audienceMatchPolicy', ['', 'MatchAny'], '')
  if (audiences.length > 1 && policy !== 'MatchAny')
    throw issuer.error('audienceMatchPolicy', 'must be MatchAny when there are several audiences')
  const certificateAuthority = issuer.text('certificateAuthority', '')
  issuer.notYet('egressSelectorType')
  issuer.end()
  const requiredClaims = config.objects('claimValidationRules').map((rule) => {
    rule.notYet('expression')
    rule.notYet('message')
    const required = { claim: rule.text('claim'), value: rule.text('requiredValue', '') }
    rule.end()
    return required
  })
  config.notYet('userValidationRules')
  const mappings = config.object('claimMappings')
  if (mappings === undefined) throw config.error('claimMappings', 'is required')
  const { username, groups, uidClaim } = mappingsOf(mappings)
  config.end()
  return {
    url,
    discoveryUrl: discoveryUrl === '' ? `${url.replace(/\/$/, '')}/.well-known/openid-configuration` : discoveryUrl,
    certificateAuthority,
    audiences,
    algorithms: oidcAlgorithmsDefault,
    requiredClaims,
    username,
    groups,
    uidClaim,
  }
}

function mappingsOf(config: ConfigReader): Pick<JwtIssuer, 'username' | 'groups' | 'uidClaim'> {
  const username = config.object('username')
  if (username === undefined) throw config.error('username', 'is required')
  const groups = config.object('groups')
  const uid = config.object('uid')
  config.notYet('extra')
  const mappings = {
    username: mappingOf(username),
    groups: groups === undefined ? undefined : mappingOf(groups),
    uidClaim: uid === undefined ? '' : uidOf(uid),
  }
  config.end()
  return mappings
}

function mappingOf(config: ConfigReader): ClaimMapping {
  config.notYet('expression')
  const mapping = { claim: config.text('claim'), prefix: config.text('prefix') }
  config.end()
  return mapping
}

function uidOf(config: ConfigReader): string {
  config.notYet('expression')
  const claim = config.text('claim')
  config.end()
  return claim
}
