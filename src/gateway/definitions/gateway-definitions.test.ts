// The limits and rules of the definitions: for each, an object that the API server accepts, and one that it refuses, with the
// message.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { define } from '../../apiserver/custom-resources/custom-resource.harness.ts'
import { startServer, type Harness, type HarnessResponse } from '../../apiserver/server.harness.ts'
import { gatewayDefinitions } from './gateway-definitions.ts'
import { gatewayGroup, type Schema } from './schema-parts.ts'

const times = <T>(count: number, of: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => of(at))

/** An accepted spec, a refused spec, and what the first message contains. */
type Row = readonly [accepted: object, refused: object, message: string]

const controllerName = 'example.com/a'
const classes: readonly Row[] = [
  [{ controllerName: 'example.com/a/b' }, { controllerName: 'example.com' }, "spec.controllerName: Invalid value: \"example.com\": spec.controllerName in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$'"],
  [{ controllerName, description: 'x'.repeat(64) }, { controllerName, description: 'x'.repeat(65) }, 'spec.description: Too long: may not be more than 64 bytes'],
  [{ controllerName, parametersRef: { group: '', kind: 'X', name: 'x' } }, { controllerName, parametersRef: { kind: 'X', name: 'x' } }, 'spec.parametersRef.group: Required value'],
] // prettier-ignore

const plain = { name: 'a', port: 80, protocol: 'HTTP' }
const tls = { certificateRefs: [{ name: 'tls' }] }
const secure = { name: 's', port: 443, protocol: 'HTTPS', tls }
const gatewaySpec = (more: object) => ({ gatewayClassName: 'x', listeners: [plain], ...more })
const listeners = (...list: readonly object[]) => gatewaySpec({ listeners: list })
const addresses = (...list: readonly object[]) => gatewaySpec({ addresses: list })

const gateways: readonly Row[] = [
  [listeners(...times(64, (at) => ({ ...plain, name: `a${at}`, port: at + 1 }))), listeners(...times(65, (at) => ({ ...plain, name: `a${at}`, port: at + 1 }))), 'spec.listeners: Too many: 65: must have at most 64 items'],
  [listeners(plain), listeners(), 'spec.listeners: Invalid value: 0: spec.listeners in body should have at least 1 items'],
  [listeners({ ...plain, port: 65_535 }), listeners({ ...plain, port: 65_536 }), 'spec.listeners[0].port: Invalid value: 65536: spec.listeners[0].port in body should be less than or equal to 65535'],
  [listeners({ ...plain, port: 1 }), listeners({ ...plain, port: 0 }), 'spec.listeners[0].port: Invalid value: 0: spec.listeners[0].port in body should be greater than or equal to 1'],
  [listeners({ ...plain, hostname: '*.a.com' }), listeners({ ...plain, hostname: 'a.*.com' }), "spec.listeners[0].hostname in body should match '^(\\*\\.)?[a-z0-9]"],
  [listeners({ ...plain, protocol: 'example.com/bar' }), listeners({ ...plain, protocol: 'example.com' }), 'spec.listeners[0].protocol in body should match'],
  [listeners(secure), listeners({ ...plain, tls }), "spec.listeners: Invalid value: tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']"],
  [listeners({ ...secure, protocol: 'TLS', tls: { mode: 'Passthrough' } }), listeners({ ...secure, tls: { mode: 'Passthrough' } }), 'spec.listeners: Invalid value: tls mode must be Terminate for protocol HTTPS'],
  [listeners({ ...plain, hostname: 'a.com' }), listeners({ ...plain, protocol: 'TCP', hostname: 'a.com' }), "spec.listeners: Invalid value: hostname must not be specified for protocols ['TCP', 'UDP']"],
  [listeners({ ...secure, tls: { options: { a: 'b' } } }), listeners({ ...secure, tls: {} }), 'spec.listeners[0].tls: Invalid value: certificateRefs or options must be specified when mode is Terminate'],
  [listeners(plain, { ...plain, name: 'b', hostname: 'a.com' }), listeners(plain, { ...plain, name: 'b' }), 'spec.listeners: Invalid value: Combination of port, protocol and hostname must be unique for each listener'],
  [addresses({ value: '192.0.2.1' }, {}, {}), addresses({ value: '192.0.2.1' }, { value: '192.0.2.1' }), 'spec.addresses: Invalid value: IPAddress values must be unique'],
  [addresses({ type: 'Hostname', value: 'a.com' }, { type: 'Hostname', value: 'b.com' }), addresses({ type: 'Hostname', value: 'a.com' }, { type: 'Hostname', value: 'a.com' }), 'spec.addresses: Invalid value: Hostname values must be unique'],
  [addresses(...times(16, (at) => ({ value: `192.0.2.${at}` }))), addresses(...times(17, (at) => ({ value: `192.0.2.${at}` }))), 'spec.addresses: Too many: 17: must have at most 16 items'],
  [gatewaySpec({ infrastructure: { labels: { a: 'b' } } }), gatewaySpec({ infrastructure: { labels: Object.fromEntries(times(9, (at) => [`a${at}`, ''])) } }), 'spec.infrastructure.labels: Too many: 9: must have at most 8 items'],
  [gatewaySpec({ infrastructure: { labels: { a: 'A_b.c-1', b: '' } } }), gatewaySpec({ infrastructure: { labels: { a: '-b' } } }), "spec.infrastructure.labels.a in body should match '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$'"],
  ...(['labels', 'annotations'] as const).flatMap((field): readonly Row[] => {
    const [singular, noun] = field === 'labels' ? ['label', 'Label'] : ['annotation', 'Annotation']
    const keyed = (key: string) => gatewaySpec({ infrastructure: { [field]: { [key]: 'x' } } })
    return [
      [keyed('example.com/a'), keyed('example.com/a/b'), `spec.infrastructure.${field}: Invalid value: ${noun} keys must be in the form of an optional DNS subdomain prefix followed by a required name segment of up to 63 characters.`],
      [keyed(`${'a'.repeat(252)}/a`), keyed(`${'a'.repeat(253)}/a`), `spec.infrastructure.${field}: Invalid value: If specified, the ${singular} key's prefix must be a DNS subdomain not longer than 253 characters in total.`],
    ]
  }),
  [addresses({ type: 'Hostname', value: '*.a.com' }, { type: 'Hostname' }), addresses({ type: 'Hostname', value: 'a_b' }), 'spec.addresses[0]: Invalid value: Hostname value must be empty or contain only valid characters (matching ^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$)'],
  [addresses({ value: '2001:db8::1' }, { type: 'NamedAddress', value: 'x' }), addresses({ value: 'a.com' }), 'spec.addresses[0]'],
  [addresses({ type: 'example.com/own', value: 'x' }), addresses({ type: 'Other', value: 'x' }), 'spec.addresses[0].type in body should match'],
] // prettier-ignore

/** Their listeners have the rules of those of Gateways. */
const listenerSets: readonly Row[] = gateways.flatMap(([accepted, refused, message]): Row[] => {
  const setOf = (spec: object) => ({ listeners: [], ...spec, gatewayClassName: undefined, parentRef: { name: 'a' } })
  return Object.keys(refused).length === 2 ? [[setOf(accepted), setOf(refused), message]] : []
})

const parents = (...parentRefs: readonly object[]) => ({ parentRefs })
const ruleWith = (rule: object) => ({ rules: [rule] })
const filtersOf = (...filters: readonly object[]) => ruleWith({ filters })
const backendFilters = (...filters: readonly object[]) =>
  ruleWith({ backendRefs: [{ name: 'web', port: 80, filters }] })
const headers = { type: 'RequestHeaderModifier', requestHeaderModifier: {} }
const responseHeaders = { type: 'ResponseHeaderModifier', responseHeaderModifier: {} }
const mirror = (more: object = {}) => ({
  type: 'RequestMirror',
  requestMirror: { backendRef: { name: 'web', port: 80 }, ...more },
})
const extension = { type: 'ExtensionRef', extensionRef: { group: '', kind: 'X', name: 'x' } }
const commonFilters = [
  ['RequestHeaderModifier', headers],
  ['ResponseHeaderModifier', responseHeaders],
  ['RequestMirror', mirror()],
  ['ExtensionRef', extension],
] as const

const fieldOf = (filter: object) => Object.keys(filter).find((key) => key !== 'type') ?? ''
/** The two rules of a member of the union of filters. */
const unionRows = ([type, filter]: readonly [string, object]): readonly Row[] => {
  const field = fieldOf(filter)
  const other = type === 'ExtensionRef' ? headers : extension
  return [
    [
      filtersOf(filter),
      filtersOf({ ...other, ...filter, type: other.type }),
      `filter.${field} must be nil if the filter.type is not ${type}`,
    ],
    [
      filtersOf(filter),
      filtersOf({ type }),
      `spec.rules[0].filters[0]: Invalid value: filter.${field} must be specified for ${type} filter.type`,
    ],
  ]
}

/** What HTTPRoute and GRPCRoute share. */
const routes: readonly Row[] = [
  [parents({ name: 'a', sectionName: 'x' }, { name: 'a', sectionName: 'y' }), parents({ name: 'a', sectionName: 'x' }, { name: 'a' }), 'spec.parentRefs: Invalid value: sectionName must be specified when parentRefs includes 2 or more references to the same parent'],
  [parents({ name: 'a' }, { name: 'a', namespace: 'b' }), parents({ name: 'a', sectionName: 'x' }, { name: 'a', sectionName: 'x' }), 'spec.parentRefs: Invalid value: sectionName must be unique when parentRefs includes 2 or more references to the same parent'],
  [parents(...times(32, (at) => ({ name: `a${at}` }))), parents(...times(33, (at) => ({ name: `a${at}` }))), 'spec.parentRefs: Too many: 33: must have at most 32 items'],
  [{ hostnames: ['*.a.com', 'b.com'] }, { hostnames: times(17, (at) => `a${at}.com`) }, 'spec.hostnames: Too many: 17: must have at most 16 items'],
  [ruleWith({ backendRefs: [{ group: 'example.com', kind: 'X', name: 'x' }] }), ruleWith({ backendRefs: [{ name: 'web' }] }), 'spec.rules[0].backendRefs[0]: Invalid value: Must have port for Service reference'],
  [ruleWith({ backendRefs: [{ name: 'web', port: 80, weight: 1_000_000 }] }), ruleWith({ backendRefs: [{ name: 'web', port: 80, weight: 1_000_001 }] }), 'weight in body should be less than or equal to 1000000'],
  [filtersOf(mirror()), filtersOf(mirror({ backendRef: { name: 'web' } })), 'Must have port for Service reference'],
  [filtersOf(mirror({ percent: 100 })), filtersOf(mirror({ percent: 101 })), 'percent in body should be less than or equal to 100'],
  [filtersOf(mirror({ fraction: { numerator: 100 } })), filtersOf(mirror({ fraction: { numerator: 101 } })), 'numerator must be less than or equal to denominator'],
  [filtersOf(mirror({ percent: 1 })), filtersOf(mirror({ percent: 1, fraction: { numerator: 1 } })), 'Only one of percent or fraction may be specified in HTTPRequestMirrorFilter'],
  ...commonFilters.flatMap(unionRows),
  [filtersOf(headers, responseHeaders, mirror(), mirror(), extension, extension), filtersOf(headers, headers), 'spec.rules[0].filters: Invalid value: RequestHeaderModifier filter cannot be repeated'],
  [filtersOf(responseHeaders), filtersOf(responseHeaders, responseHeaders), 'spec.rules[0].filters: Invalid value: ResponseHeaderModifier filter cannot be repeated'],
  [backendFilters(headers), backendFilters(headers, headers), 'spec.rules[0].backendRefs[0].filters: Invalid value: RequestHeaderModifier filter cannot be repeated'],
  [ruleWith({ matches: times(64, () => ({})) }), ruleWith({ matches: times(65, () => ({})) }), 'spec.rules[0].matches: Too many: 65: must have at most 64 items'],
  [{ rules: times(2, () => ({ matches: times(64, () => ({})) })) }, { rules: times(3, () => ({ matches: times(43, () => ({})) })) }, 'spec.rules: Invalid value: While 16 rules and 64 matches per rule are allowed, the total number of matches across all rules in a route must be less than 128'],
  [{ rules: [{ name: 'a' }, { name: 'b' }, {}, {}] }, { rules: [{ name: 'a' }, { name: 'a' }] }, 'spec.rules: Invalid value: Rule name must be unique within the route'],
  [{ rules: times(16, () => ({})) }, { rules: times(17, () => ({})) }, 'spec.rules: Too many: 17: must have at most 16 items'],
] // prettier-ignore

const path = (value: string, type = 'PathPrefix') => ruleWith({ matches: [{ path: { type, value } }] })
const at = (message: string) =>
  `spec.rules[0].matches[0].path: Invalid value: ${message} when type one of ['Exact', 'PathPrefix']`
const replacePrefix = { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/b' } }
const replaceFull = { path: { type: 'ReplaceFullPath', replaceFullPath: '/b' } }
const cors = (more: object = {}) => ({ type: 'CORS', cors: more })
const redirect = (more: object = {}) => ({ type: 'RequestRedirect', requestRedirect: more })
const rewrite = (more: object = {}) => ({ type: 'URLRewrite', urlRewrite: more })
const exact = [{ path: { type: 'Exact', value: '/a' } }]
const toWeb = { backendRefs: [{ name: 'web', port: 80 }] }
const modifier = 'spec.rules[0].filters[0].urlRewrite.path: Invalid value: '

const httpRoutes: readonly Row[] = [
  ...routes,
  [path('/a'), path('a'), at("value must be an absolute path and start with '/'")],
  ...['//', '/./', '/../', '%2f', '%2F'].map((part): Row => [path(`/a${part}b`, 'RegularExpression'), path(`/a${part}b`), at(`must not contain '${part}'`)]),
  [path('/a#b', 'RegularExpression'), path('/a#b'), at("must not contain '#'")],
  [path('/a/..', 'RegularExpression'), path('/a/..'), at("must not end with '/..'")],
  [path('/a/.', 'RegularExpression'), path('/a/.', 'Exact'), at("must not end with '/.'")],
  [path('/a%20b'), path('/a b'), "must only contain valid characters (matching ^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$) for types ['Exact', 'PathPrefix']"],
  [path(`/${'a'.repeat(1_023)}`), path(`/${'a'.repeat(1_024)}`), 'Too long: may not be more than 1024 bytes'],
  [ruleWith({ matches: [{ method: 'GET' }] }), ruleWith({ matches: [{ method: 'get' }] }), 'supported values: "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"'],
  ...([['CORS', cors()], ['RequestRedirect', redirect()], ['URLRewrite', rewrite()]] as const).flatMap(unionRows),
  [filtersOf(cors()), filtersOf(cors(), cors()), 'spec.rules[0].filters: Invalid value: CORS filter cannot be repeated'],
  [filtersOf(cors({ allowOrigins: ['*'] })), filtersOf(cors({ allowOrigins: ['*', 'https://a.com'] })), "AllowOrigins cannot contain '*' alongside other origins"],
  [filtersOf(cors({ allowOrigins: ['https://a.com', 'http://*.b.com:80', 'https://*'] })), filtersOf(cors({ allowOrigins: ['ftp://a.com'] })), 'allowOrigins[0] in body should match'],
  [filtersOf(cors({ allowMethods: ['*'] })), filtersOf(cors({ allowMethods: ['*', 'GET'] })), "allowMethods: Invalid value: AllowMethods cannot contain '*' alongside other methods"],
  [filtersOf(cors({ allowHeaders: ['*'] })), filtersOf(cors({ allowHeaders: ['*', 'x'] })), "allowHeaders: Invalid value: AllowHeaders cannot contain '*' alongside other methods"],
  [filtersOf(cors({ maxAge: 1 })), filtersOf(cors({ maxAge: 0 })), 'maxAge in body should be greater than or equal to 1'],
  [filtersOf(redirect()), filtersOf(redirect(), redirect()), 'spec.rules[0].filters: Invalid value: RequestRedirect filter cannot be repeated'],
  [filtersOf(rewrite()), filtersOf(rewrite(), rewrite()), 'spec.rules[0].filters: Invalid value: URLRewrite filter cannot be repeated'],
  [filtersOf(rewrite(), headers), filtersOf(rewrite(), redirect()), 'spec.rules[0].filters: Invalid value: May specify either httpRouteFilterRequestRedirect or httpRouteFilterRequestRewrite, but not both'],
  [backendFilters(rewrite()), backendFilters(rewrite(), redirect()), 'spec.rules[0].backendRefs[0].filters: Invalid value: May specify either httpRouteFilterRequestRedirect or httpRouteFilterRequestRewrite, but not both'],
  [filtersOf(redirect({ statusCode: 308 })), filtersOf(redirect({ statusCode: 304 })), 'Unsupported value: 304: supported values: "301", "302", "303", "307", "308"'],
  [filtersOf(redirect({ hostname: 'a.com' })), filtersOf(redirect({ hostname: '*.a.com' })), 'hostname in body should match'],
  [filtersOf(rewrite(replaceFull)), filtersOf(rewrite({ path: { type: 'ReplaceFullPath' } })), `${modifier}replaceFullPath must be specified when type is set to 'ReplaceFullPath'`],
  [filtersOf(rewrite(replaceFull)), filtersOf(rewrite({ path: { ...replaceFull.path, ...replacePrefix.path } })), `${modifier}type must be 'ReplaceFullPath' when replaceFullPath is set`],
  [filtersOf(rewrite(replacePrefix)), filtersOf(rewrite({ path: { type: 'ReplacePrefixMatch' } })), `${modifier}replacePrefixMatch must be specified when type is set to 'ReplacePrefixMatch'`],
  [filtersOf(rewrite(replacePrefix)), filtersOf(rewrite({ path: { ...replacePrefix.path, ...replaceFull.path } })), `${modifier}type must be 'ReplacePrefixMatch' when replacePrefixMatch is set`],
  [ruleWith({ ...toWeb, filters: [headers] }), ruleWith({ ...toWeb, filters: [redirect()] }), 'spec.rules[0]: Invalid value: RequestRedirect filter must not be used together with backendRefs'],
  [filtersOf(redirect(replacePrefix)), ruleWith({ matches: exact, filters: [redirect(replacePrefix)] }), 'spec.rules[0]: Invalid value: When using RequestRedirect filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified'],
  [filtersOf(rewrite(replacePrefix)), ruleWith({ matches: [{}, {}], filters: [rewrite(replacePrefix)] }), 'spec.rules[0]: Invalid value: When using URLRewrite filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified'],
  [backendFilters(redirect(replacePrefix)), ruleWith({ ...backendFilters(redirect(replacePrefix)).rules[0], matches: exact }), 'spec.rules[0]: Invalid value: Within backendRefs, when using RequestRedirect filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified'],
  [backendFilters(rewrite(replacePrefix)), ruleWith({ ...backendFilters(rewrite(replacePrefix)).rules[0], matches: exact }), 'spec.rules[0]: Invalid value: Within backendRefs, When using URLRewrite filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified'],
  [ruleWith({ timeouts: { request: '0s', backendRequest: '1h' } }), ruleWith({ timeouts: { request: '1s', backendRequest: '1001ms' } }), 'spec.rules[0].timeouts: Invalid value: backendRequest timeout cannot be longer than request timeout'],
  [ruleWith({ timeouts: { request: '1h1m1s1ms' } }), ruleWith({ timeouts: { request: '1.5s' } }), "should match '^([0-9]{1,5}(h|m|s|ms)){1,4}$'"],
] // prettier-ignore

const method = (value: object) => ruleWith({ matches: [{ method: value }] })
const grpcRoutes: readonly Row[] = [
  ...routes,
  [method({ service: 'a.B' }), method({}), "spec.rules[0].matches[0].method: Invalid value: One or both of 'service' or 'method' must be specified"],
  [method({ service: 'a.B', method: 'C' }), method({ service: 'a/B' }), 'spec.rules[0].matches[0].method: Invalid value: service must only contain valid characters (matching ^(?i)\\.?[a-z_][a-z_0-9]*(\\.[a-z_][a-z_0-9]*)*$)'],
  [method({ type: 'RegularExpression', method: 'C.*' }), method({ method: 'C.*' }), 'spec.rules[0].matches[0].method: Invalid value: method must only contain valid characters (matching ^[A-Za-z_][A-Za-z_0-9]*$)'],
] // prettier-ignore

const tlsSpec = (more: object = {}) => ({ hostnames: ['a.com'], rules: [{ backendRefs: [{ name: 'web', port: 443 }] }], ...more }) // prettier-ignore
const tlsRule = (backendRefs: readonly object[]) => tlsSpec({ rules: [{ backendRefs }] })
const tlsRoutes: readonly Row[] = [
  [tlsSpec({ hostnames: ['a.com', '*.b.com'] }), tlsSpec({ hostnames: [] }), 'spec.hostnames: Invalid value: 0: spec.hostnames in body should have at least 1 items'],
  [tlsSpec(), tlsSpec({ hostnames: ['10.0.0.1'] }), 'spec.hostnames: Invalid value: Hostnames cannot contain an IP'],
  [tlsSpec(), tlsSpec({ rules: [] }), 'spec.rules: Invalid value: 0: spec.rules in body should have at least 1 items'],
  [tlsSpec(), tlsSpec({ rules: times(2, () => tlsSpec().rules[0]) }), 'spec.rules: Too many: 2: must have at most 1 item'],
  [tlsRule([{ name: 'web', port: 443, weight: 3 }]), tlsRule([]), 'spec.rules[0].backendRefs: Invalid value: 0: spec.rules[0].backendRefs in body should have at least 1 items'],
  [tlsRule([{ group: 'example.com', kind: 'X', name: 'x' }]), tlsRule([{ name: 'web' }]), 'spec.rules[0].backendRefs[0]: Invalid value: Must have port for Service reference'],
  [tlsSpec(parents({ name: 'a', sectionName: 'x' }, { name: 'a', sectionName: 'y' })), tlsSpec(parents({ name: 'a', sectionName: 'x' }, { name: 'a' })), 'spec.parentRefs: Invalid value: sectionName must be specified when parentRefs includes 2 or more references to the same parent'],
  [tlsSpec(parents({ name: 'a' })), tlsSpec(parents({ name: 'a', sectionName: 'x' }, { name: 'a', sectionName: 'x' })), 'spec.parentRefs: Invalid value: sectionName must be unique when parentRefs includes 2 or more references to the same parent'],
] // prettier-ignore

const from = { group: gatewayGroup, kind: 'HTTPRoute', namespace: 'shop' }
const to = { group: '', kind: 'Service' }
const grants: readonly Row[] = [
  [{ from: [from], to: [to] }, { from: [], to: [to] }, 'spec.from: Invalid value: 0: spec.from in body should have at least 1 items'],
  [{ from: times(16, () => from), to: [to] }, { from: [from], to: times(17, () => to) }, 'spec.to: Too many: 17: must have at most 16 items'],
  [{ from: [from], to: [{ ...to, name: 'web' }] }, { from: [{ group: '', kind: 'X' }], to: [to] }, 'spec.from[0].namespace: Required value'],
] // prettier-ignore

const policyTarget = { group: '', kind: 'Service', name: 'web' }
const caRef = { group: '', kind: 'ConfigMap', name: 'ca' }
const policySpec = (validation: object, targetRefs: readonly object[] = [policyTarget]) => ({ targetRefs, validation: { hostname: 'a.com', ...validation } }) // prettier-ignore
const withRefs = { caCertificateRefs: [caRef] }
const altName = (subjectAltName: object) => policySpec({ ...withRefs, subjectAltNames: [subjectAltName] })
const dnsName = { type: 'Hostname', hostname: '*.a.com' }
const uriName = { type: 'URI', uri: 'spiffe://a.com/b' }
const sections = (...names: readonly (string | undefined)[]) => policySpec(withRefs, names.map((sectionName) => ({ ...policyTarget, ...(sectionName && { sectionName }) }))) // prettier-ignore
const policies: readonly Row[] = [
  [policySpec(withRefs), policySpec(withRefs, []), 'spec.targetRefs: Invalid value: 0: spec.targetRefs in body should have at least 1 items'],
  [sections('a', 'b'), sections('a', undefined), 'spec.targetRefs: Invalid value: sectionName must be specified when targetRefs includes 2 or more references to the same target'],
  [sections('a', 'b'), sections('a', 'a'), 'spec.targetRefs: Invalid value: sectionName must be unique when targetRefs includes 2 or more references to the same target'],
  [policySpec({ wellKnownCACertificates: 'System' }), policySpec({ ...withRefs, wellKnownCACertificates: 'System' }), 'spec.validation: Invalid value: must not contain both CACertificateRefs and WellKnownCACertificates'],
  [policySpec({ wellKnownCACertificates: 'a.com/b' }), policySpec({ caCertificateRefs: [] }), 'spec.validation: Invalid value: must specify either CACertificateRefs or WellKnownCACertificates'],
  [policySpec(withRefs), policySpec({ caCertificateRefs: times(9, () => caRef) }), 'spec.validation.caCertificateRefs: Too many: 9: must have at most 8 items'],
  [policySpec(withRefs), policySpec({ ...withRefs, hostname: '*.a.com' }), 'spec.validation.hostname in body should match'],
  [altName(dnsName), altName({ type: 'Hostname' }), 'SubjectAltName element must contain Hostname, if Type is set to Hostname'],
  [altName(uriName), altName({ ...uriName, hostname: 'a.com' }), 'SubjectAltName element must not contain Hostname, if Type is not set to Hostname'],
  [altName(uriName), altName({ type: 'URI' }), 'SubjectAltName element must contain URI, if Type is set to URI'],
  [altName(dnsName), altName({ ...dnsName, uri: 'spiffe://a.com/b' }), 'SubjectAltName element must not contain URI, if Type is not set to URI'],
] // prettier-ignore

const tables: ReadonlyMap<string, readonly Row[]> = new Map([
  ['backendtlspolicies', policies],
  ['gatewayclasses', classes],
  ['gateways', gateways],
  ['grpcroutes', grpcRoutes],
  ['httproutes', httpRoutes],
  ['listenersets', listenerSets],
  ['referencegrants', grants],
  ['tlsroutes', tlsRoutes],
])

/** The messages of all rules of a schema. */
const ruleMessages = (schema: Schema): readonly string[] => [
  ...(schema['x-kubernetes-validations'] ?? []).map(({ message = '' }) => message),
  ...Object.values(schema.properties ?? {}).flatMap((each) => ruleMessages(each)),
  ...(schema.items === undefined ? [] : ruleMessages(schema.items as Schema)),
]

/** Rules of updates and of statuses, and one whose error follows that of the keys of the list. */
const testedBelow = [
  // The pattern of hostnames says the same.
  'Hostnames must be valid based on RFC-1123',
  'Wildcards on hostnames must be the first label, and the rest of hostname must be valid based on RFC-1123',
  'Value is immutable',
  'Listener name must be unique within the Gateway',
  'Hostname value must only contain valid characters (matching ^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$)',
]

test('the tables have a row for each rule', () => {
  const untested = gatewayDefinitions.flatMap(({ spec: { names, versions } }) => {
    const rows = tables.get(names.plural) ?? []
    const messages = ruleMessages(versions[0]?.schema?.openAPIV3Schema ?? {})
    return messages.filter(
      (message) => !testedBelow.includes(message) && !rows.some(([, , expected]) => expected.includes(message)),
    )
  })
  deepEqual(untested, [])
})

suite('the API server', () => {
  let server: Harness
  before(async () => {
    server = await startServer()
    for (const each of gatewayDefinitions) await define(server, each as Parameters<typeof define>[1])
  })
  after(() => server[Symbol.asyncDispose]())

  const typeOf = (plural: string) => {
    const found = gatewayDefinitions.find(({ spec }) => spec.names.plural === plural)?.spec
    const apiVersion = `${gatewayGroup}/${found?.versions?.[0]?.name}`
    const place = found?.scope === 'Cluster' ? '' : 'namespaces/default/'
    return { apiVersion, kind: found?.names.kind, path: `/apis/${apiVersion}/${place}${plural}` }
  }
  const pathOf = (plural: string) => typeOf(plural).path
  const create = (plural: string, name: string, spec: object) => {
    const { apiVersion, kind, path: target } = typeOf(plural)
    return server.call('POST', target, { apiVersion, kind, metadata: { name }, spec })
  }
  const causesOf = ({ status, body }: HarnessResponse): readonly string[] => {
    equal(status, 422, JSON.stringify(body))
    return body.details.causes.map((cause: { field: string; message: string }) => `${cause.field}: ${cause.message}`)
  }

  for (const [plural, rows] of tables)
    for (const [index, [accepted, refused, message]] of rows.entries())
      test(`refuses ${plural}: ${message}`, async () => {
        const good = await create(plural, `good-${index}`, accepted)
        equal(good.status, 201, good.body.message)
        const [cause = ''] = causesOf(await create(plural, `bad-${index}`, refused))
        ok(cause.includes(message), cause)
      })

  test('refuses listeners with the same name', async () => {
    const causes = causesOf(await create('gateways', 'twice', listeners(plain, { ...plain, port: 81 })))
    deepEqual(causes, [
      'spec.listeners[1]: Duplicate value: {"name":"a"}',
      'spec.listeners: Invalid value: Listener name must be unique within the Gateway',
    ])
  })

  test('refuses another controller for a class', async () => {
    const { body } = await create('gatewayclasses', 'fixed', { controllerName })
    const change = (spec: object) => server.call('PUT', `${pathOf('gatewayclasses')}/fixed`, { ...body, spec })
    deepEqual(causesOf(await change({ controllerName: 'example.com/b' })), [
      'spec.controllerName: Invalid value: "example.com/b": Value is immutable',
    ])
    equal((await change({ controllerName, description: 'new' })).status, 200)
  })

  test('refuses a hostname with other characters in the status of a Gateway', async () => {
    const { body } = await create('gateways', 'reported', listeners(plain))
    const report = (value: string) =>
      server.call('PUT', `${pathOf('gateways')}/reported/status`, {
        ...body,
        status: { ...body.status, addresses: [{ type: 'Hostname', value }] },
      })
    const [cause = ''] = causesOf(await report('a_b'))
    ok(cause.startsWith('status.addresses[0]: Invalid value: Hostname value must only contain valid characters'), cause)
    equal((await report('a.com')).status, 200)
  })

  test('gives new objects the conditions that wait for a controller', async () => {
    await create('gateways', 'new', listeners(plain))
    const { body } = await server.call('GET', `${pathOf('gateways')}/new`)
    const found = body.status.conditions.map(({ type, reason }: { type: string; reason: string }) => [type, reason])
    deepEqual(found, [
      ['Accepted', 'Pending'],
      ['Programmed', 'Pending'],
    ])
  })
})
