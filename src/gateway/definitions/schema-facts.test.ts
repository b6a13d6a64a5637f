// Facts about the published definitions of the Gateway API, standard channel, as a table: the lists and their kinds, limits,
// defaults and enumerations. A definition that differs from them accepts other objects than those of other clusters.
import { deepEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { lookup } from '../../base/collections/lookup.ts'
import { gatewayDefinitions } from './gateway-definitions.ts'
import type { Schema } from './schema-parts.ts'

/** The schema at a path of properties; `[]` stands for the items of a list, `{}` for the values of a map. */
function schemaAt(plural: string, path: string): Schema {
  const [version] = gatewayDefinitions.find(({ spec }) => spec.names.plural === plural)?.spec.versions ?? []
  let schema: Schema | undefined = version?.schema?.openAPIV3Schema
  for (const step of path.split(/\.|(?=\[\]|\{\})/)) {
    if (step === '[]') schema = schema?.items as Schema | undefined
    else if (step === '{}') schema = schema?.additionalProperties as Schema | undefined
    else schema = lookup(schema?.properties, step)
  }
  if (schema === undefined) throw new Error(`${plural} has no ${path}`)
  return schema
}

const atomic = { 'x-kubernetes-list-type': 'atomic' }
const byName = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }
const byType = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }
const portRange = { minimum: 1, maximum: 65_535 }

/** By definition and path: what the schema has. */
const facts: readonly (readonly [plural: string, path: string, fact: object])[] = [
  ['gatewayclasses', 'spec.description', { maxLength: 64 }],
  ['gatewayclasses', 'spec.parametersRef', { required: ['group', 'kind', 'name'] }],
  ['gatewayclasses', 'status.conditions', { maxItems: 8, ...byType }],
  ['gatewayclasses', 'status.supportedFeatures', { maxItems: 64, ...byName }],
  ['gateways', 'spec', { required: ['gatewayClassName', 'listeners'] }],
  ['gateways', 'spec.gatewayClassName', { minLength: 1, maxLength: 253 }],
  ['gateways', 'spec.addresses', { maxItems: 16, ...atomic }],
  ['gateways', 'spec.addresses[].type', { minLength: 1, maxLength: 253, default: 'IPAddress' }],
  ['gateways', 'spec.addresses[].value', { maxLength: 253 }],
  ['gateways', 'spec.infrastructure.annotations{}', { maxLength: 4_096 }],
  ['gateways', 'spec.infrastructure.labels', { maxProperties: 8 }],
  ['gateways', 'spec.infrastructure.labels{}', { maxLength: 63, pattern: '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$' }],
  ['gateways', 'spec.infrastructure.parametersRef', { required: ['group', 'kind', 'name'] }],
  ['gateways', 'spec.listeners', { minItems: 1, maxItems: 64, ...byName }],
  ['gateways', 'spec.listeners[]', { required: ['name', 'port', 'protocol'] }],
  ['gateways', 'spec.listeners[].port', portRange],
  ['gateways', 'spec.allowedListeners.namespaces', { default: { from: 'None' } }],
  ['gateways', 'spec.allowedListeners.namespaces.from', { enum: ['All', 'Selector', 'Same', 'None'], default: 'None' }],
  ['listenersets', 'spec', { required: ['listeners', 'parentRef'] }],
  ['listenersets', 'spec.parentRef', { required: ['name'] }],
  ['listenersets', 'spec.parentRef.kind', { default: 'Gateway' }],
  ['listenersets', 'spec.listeners', { minItems: 1, maxItems: 64, ...byName }],
  ['listenersets', 'status.listeners', { maxItems: 64, ...byName }],
  ['gateways', 'spec.listeners[].protocol', { minLength: 1, maxLength: 255 }],
  ['gateways', 'spec.listeners[].hostname', { minLength: 1, maxLength: 253 }],
  ['gateways', 'spec.listeners[].allowedRoutes', { default: { namespaces: { from: 'Same' } } }],
  ['gateways', 'spec.listeners[].allowedRoutes.kinds', { maxItems: 8, ...atomic }],
  ['gateways', 'spec.listeners[].allowedRoutes.namespaces.from', { enum: ['All', 'Selector', 'Same'], default: 'Same' }],
  ['gateways', 'spec.listeners[].allowedRoutes.namespaces.selector', { 'x-kubernetes-map-type': 'atomic' }],
  ['gateways', 'spec.listeners[].allowedRoutes.namespaces.selector.matchExpressions', { maxItems: undefined, ...atomic }],
  ['gateways', 'spec.listeners[].tls.mode', { enum: ['Terminate', 'Passthrough'], default: 'Terminate' }],
  ['gateways', 'spec.listeners[].tls.certificateRefs', { maxItems: 64, ...atomic }],
  ['gateways', 'spec.listeners[].tls.certificateRefs[].kind', { default: 'Secret', maxLength: 63 }],
  ['gateways', 'spec.listeners[].tls.options', { maxProperties: 16 }],
  ['gateways', 'status.listeners', { maxItems: 64, ...byName }],
  ['httproutes', 'spec.rules', { minItems: 1, maxItems: 16, ...atomic, default: [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }] }] }],
  ['httproutes', 'spec.rules[].matches', { maxItems: 64, ...atomic, default: [{ path: { type: 'PathPrefix', value: '/' } }] }],
  ['httproutes', 'spec.rules[].matches[].path', { default: { type: 'PathPrefix', value: '/' } }],
  ['httproutes', 'spec.rules[].matches[].path.type', { enum: ['Exact', 'PathPrefix', 'RegularExpression'], default: 'PathPrefix' }],
  ['httproutes', 'spec.rules[].matches[].path.value', { maxLength: 1_024, default: '/' }],
  ['httproutes', 'spec.rules[].matches[].headers', { maxItems: 16, ...byName }],
  ['httproutes', 'spec.rules[].matches[].headers[].type', { enum: ['Exact', 'RegularExpression'], default: 'Exact' }],
  ['httproutes', 'spec.rules[].matches[].headers[].value', { minLength: 1, maxLength: 4_096 }],
  ['httproutes', 'spec.rules[].matches[].queryParams', { maxItems: 16, ...byName }],
  ['httproutes', 'spec.rules[].matches[].queryParams[].value', { minLength: 1, maxLength: 1_024 }],
  ['httproutes', 'spec.rules[].matches[].method', { enum: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'] }],
  ['httproutes', 'spec.rules[].filters', { maxItems: 16, ...atomic }],
  ['httproutes', 'spec.rules[].filters[].requestHeaderModifier.set', { maxItems: 16, ...byName }],
  ['httproutes', 'spec.rules[].filters[].requestHeaderModifier.add', { maxItems: 16, ...byName }],
  ['httproutes', 'spec.rules[].filters[].requestHeaderModifier.remove', { maxItems: 16, 'x-kubernetes-list-type': 'set' }],
  ['httproutes', 'spec.rules[].filters[].requestRedirect.scheme', { enum: ['http', 'https'] }],
  ['httproutes', 'spec.rules[].filters[].requestRedirect.port', portRange],
  ['httproutes', 'spec.rules[].filters[].requestRedirect.statusCode', { enum: [301, 302, 303, 307, 308], default: 302 }],
  ['httproutes', 'spec.rules[].filters[].urlRewrite.path.type', { enum: ['ReplaceFullPath', 'ReplacePrefixMatch'] }],
  ['httproutes', 'spec.rules[].filters[].urlRewrite.path.replacePrefixMatch', { maxLength: 1_024 }],
  ['httproutes', 'spec.rules[].filters[].requestMirror.percent', { minimum: 0, maximum: 100 }],
  ['httproutes', 'spec.rules[].filters[].requestMirror.fraction.denominator', { minimum: 1, default: 100 }],
  ['httproutes', 'spec.rules[].backendRefs', { maxItems: 16, ...atomic }],
  ['httproutes', 'spec.rules[].backendRefs[].weight', { minimum: 0, maximum: 1_000_000, default: 1 }],
  ...['httproutes', 'grpcroutes'].flatMap((plural): readonly (readonly [string, string, object])[] => [
    [plural, 'spec.hostnames', { maxItems: 16, ...atomic }],
    [plural, 'spec.parentRefs', { maxItems: 32, ...atomic }],
    [plural, 'spec.parentRefs[].kind', { default: 'Gateway' }],
    [plural, 'spec.parentRefs[].group', { default: 'gateway.networking.k8s.io' }],
    [plural, 'spec.rules[].name', { minLength: 1, maxLength: 253 }],
    [plural, 'status.parents', { maxItems: 32, ...atomic }],
    [plural, 'status.parents[].conditions', { minItems: 1, maxItems: 8, ...byType }],
  ]),
  ['grpcroutes', 'spec.rules', { maxItems: 16, ...atomic }],
  ['grpcroutes', 'spec.rules[].matches', { maxItems: 64, ...atomic }],
  ['grpcroutes', 'spec.rules[].matches[].method.type', { enum: ['Exact', 'RegularExpression'], default: 'Exact' }],
  ['grpcroutes', 'spec.rules[].matches[].method.service', { maxLength: 1_024 }],
  ['grpcroutes', 'spec.rules[].matches[].headers', { maxItems: 16, ...byName }],
  ['referencegrants', 'spec', { required: ['from', 'to'] }],
  ['referencegrants', 'spec.from', { minItems: 1, maxItems: 16, ...atomic }],
  ['referencegrants', 'spec.from[]', { required: ['group', 'kind', 'namespace'] }],
  ['referencegrants', 'spec.to', { minItems: 1, maxItems: 16, ...atomic }],
  ['referencegrants', 'spec.to[]', { required: ['group', 'kind'] }],
] // prettier-ignore

const served: readonly (readonly [plural: string, versions: string])[] = [
  ['gateways', 'v1 v1beta1'],
  ['listenersets', 'v1'],
  ['referencegrants', 'v1beta1 v1'],
  ['tlsroutes', 'v1'],
]

suite('the served versions, of which the first is stored, are the published ones', () => {
  for (const [plural, expected] of served)
    test(plural, () => {
      const found = gatewayDefinitions.find(({ spec }) => spec.names.plural === plural)?.spec.versions ?? []
      deepEqual(found.map(({ name }) => name).join(' '), expected)
      deepEqual(
        found.map(({ storage }) => storage),
        found.map((_, index) => index === 0),
      )
    })
})

suite('the definitions have the published facts', () => {
  for (const [plural, path, fact] of facts)
    test(`${plural} ${path}`, () => {
      const schema = schemaAt(plural, path) as Readonly<Record<string, unknown>>
      deepEqual(Object.fromEntries(Object.keys(fact).map((name) => [name, lookup(schema, name)])), fact)
    })
})
