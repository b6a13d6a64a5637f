// AuthenticationConfiguration: trusted issuers, the mapping of their claims, and the paths for anonymous requests.
import { ConfigReader } from '../config/config-reader.ts'
import type { AnonymousRules } from './anonymous.ts'
import { claimExpression, claimRule, userRule, type ClaimExpressions } from './claim-expressions.ts'
import type { ClaimMapping, JwtIssuer } from './oidc.ts'

export interface AuthenticationSettings {
  readonly issuers: readonly JwtIssuer[]
  /** Undefined if the file does not configure it. */
  readonly anonymous: AnonymousRules | undefined
}

const versions = ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1beta1'] as const
/** The algorithms that upstream accepts by default. */
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
  config.rejectUnknownFields()
  const urls = issuers.map(({ url }) => url)
  if (new Set(urls).size !== urls.length) throw config.error('jwt', 'names an issuer twice')
  return { issuers, anonymous: anonymous === undefined ? undefined : anonymousOf(anonymous) }
}

function anonymousOf(config: ConfigReader): AnonymousRules {
  const enabled = config.boolean('enabled', false)
  const conditions = config.objects('conditions').map((condition) => {
    const path = condition.string('path')
    condition.rejectUnknownFields()
    return path
  })
  config.rejectUnknownFields()
  if (!enabled && conditions.length > 0) throw config.error('conditions', 'may be set only when enabled is true')
  return { enabled, paths: conditions.length === 0 ? undefined : conditions }
}

function issuerOf(config: ConfigReader): JwtIssuer {
  const issuer = config.object('issuer')
  if (issuer === undefined) throw config.error('issuer', 'is required')
  const url = issuer.string('url')
  if (!url.startsWith('https://')) throw issuer.error('url', 'must begin with https://')
  const discoveryUrl = issuer.string('discoveryURL', '')
  const audiences = issuer.strings('audiences')
  if (audiences.length === 0) throw issuer.error('audiences', 'must name at least one')
  const policy = issuer.oneOf('audienceMatchPolicy', ['', 'MatchAny'], '')
  if (audiences.length > 1 && policy !== 'MatchAny')
    throw issuer.error('audienceMatchPolicy', 'must be MatchAny when there are several audiences')
  const certificateAuthority = issuer.string('certificateAuthority', '')
  if (issuer.string('egressSelectorType', '') !== '') throw issuer.error('egressSelectorType', 'is not supported yet')
  issuer.rejectUnknownFields()
  const rules = config.objects('claimValidationRules').map(claimRuleOf)
  const userRules = config.objects('userValidationRules').map((each) => {
    const found = userRule(each)
    if (found === undefined) throw each.error('expression', 'is required')
    each.rejectUnknownFields()
    return found
  })
  const mappings = config.object('claimMappings')
  if (mappings === undefined) throw config.error('claimMappings', 'is required')
  const { username, groups, uidClaim, expressions: mapped } = mappingsOf(mappings)
  config.rejectUnknownFields()
  const requiredClaims = rules.flatMap((each) => (each.required === undefined ? [] : [each.required]))
  const claimRules = rules.flatMap((each) => (each.rule === undefined ? [] : [each.rule]))
  const expressions: ClaimExpressions = { ...mapped, claimRules, userRules }
  checkEmail(config, expressions)
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
    expressions,
  }
}

function claimRuleOf(config: ConfigReader) {
  const rule = claimRule(config)
  const claim = config.string('claim', '')
  const value = config.string('requiredValue', '')
  if (rule !== undefined && claim !== '') throw config.error('claim', 'and expression cannot both be set')
  if (rule === undefined && claim === '') throw config.error('claim', 'or expression is required')
  config.rejectUnknownFields()
  return { rule, required: claim === '' ? undefined : { claim, value } }
}

/** An expression that uses `claims.email` must also use `claims.email_verified`, because an unverified address is not an identity. */
function checkEmail(config: ConfigReader, { username, extra, claimRules }: ClaimExpressions): void {
  if (username === undefined || !/\bclaims\.email\b/.test(username.text)) return
  const all = [username, ...extra.map(({ value }) => value), ...claimRules]
  if (!all.some(({ text }) => /\bclaims\.\??email_verified\b/.test(text)))
    throw config.error(
      'claimMappings.username.expression',
      'uses claims.email: claims.email_verified must be used in it, in claimMappings.extra[*].valueExpression or in claimValidationRules[*].expression',
    )
}

type Mappings = Pick<JwtIssuer, 'username' | 'groups' | 'uidClaim'> & {
  readonly expressions: Omit<ClaimExpressions, 'claimRules' | 'userRules'>
}

function mappingsOf(config: ConfigReader): Mappings {
  const username = config.object('username')
  if (username === undefined) throw config.error('username', 'is required')
  const groups = config.object('groups')
  const uid = config.object('uid')
  const extra = config.objects('extra').map((each) => {
    const key = each.string('key')
    const value = claimExpression(each, 'valueExpression')
    if (value === undefined) throw each.error('valueExpression', 'is required')
    each.rejectUnknownFields()
    return { key, value }
  })
  config.rejectUnknownFields()
  const name = mappingOf(username)
  const named = groups && mappingOf(groups)
  const id = uid && uidOf(uid)
  return {
    username: name.mapping ?? { claim: '', prefix: '' },
    groups: named?.mapping,
    uidClaim: id?.claim ?? '',
    expressions: { username: name.expression, groups: named?.expression, uid: id?.expression, extra },
  }
}

/** A claim with a prefix, or an expression. */
function mappingOf(config: ConfigReader) {
  const expression = claimExpression(config)
  if (expression !== undefined) {
    if (config.string('claim', '') !== '') throw config.error('claim', 'and expression cannot both be set')
    config.rejectUnknownFields()
    return { expression, mapping: undefined }
  }
  const mapping: ClaimMapping = { claim: config.string('claim'), prefix: config.string('prefix') }
  config.rejectUnknownFields()
  return { expression, mapping }
}

function uidOf(config: ConfigReader) {
  const expression = claimExpression(config)
  const claim = expression === undefined ? config.string('claim') : ''
  config.rejectUnknownFields()
  return { expression, claim }
}
