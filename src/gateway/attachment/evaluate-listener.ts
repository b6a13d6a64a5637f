// Decides whether a listener is valid by itself: its protocol, its certificate and the kinds of routes that it allows. Pure.
import type { Secret } from '../../api/core/v1/secret.ts'
import { namespaceOf, objectKey, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import type { KeyPair } from '../../platform/http/listener.ts'
import { gatewayGroup } from '../definitions/schema-parts.ts'
import type { Listener, ReferenceGrant, SecretReference } from '../kinds/gateway-kinds.ts'
import type { RouteKind } from '../kinds/route-kinds.ts'
import type { FrontendScheme } from '../../ingress/data-plane/frontends.ts'
import { met, unmet, type Outcome } from './outcome.ts'
import { isPermitted } from './reference-grants.ts'

export interface ListenerSources {
  secret(key: ObjectKey): Secret | undefined
  grants(namespace: string): readonly ReferenceGrant[]
  /** The certificate in a Secret, if it is valid. */
  keyPair(secret: Secret): KeyPair | undefined
}

export type Scheme = FrontendScheme

export interface ListenerOwner {
  readonly kind: 'Gateway' | 'ListenerSet'
  readonly object: ApiObject
}

export interface EvaluatedListener {
  readonly listener: Listener
  /** Undefined: the protocol is not supported. */
  readonly scheme: Scheme | undefined
  readonly supportedKinds: readonly RouteKind[]
  readonly accepted: Outcome
  readonly resolvedRefs: Outcome
  /** It needs a certificate. */
  readonly isDecrypted: boolean
  readonly certificate: KeyPair | undefined
}

export function evaluateListener(
  owner: ListenerOwner,
  listener: Listener,
  sources: ListenerSources,
): EvaluatedListener {
  const scheme = schemeOf(listener)
  const accepted =
    scheme === undefined
      ? unmet('UnsupportedProtocol', `protocol ${listener.protocol} is not supported; HTTP, HTTPS and TLS are`)
      : met('Accepted', 'the listener is valid')
  const kinds = scheme === undefined ? { supportedKinds: [], problem: undefined } : allowedKinds(listener, scheme)
  const isDecrypted = scheme === 'https' || (scheme === 'tls' && listener.tls?.mode !== 'Passthrough')
  const tls = isDecrypted ? certificateOf(owner, listener, sources) : { certificate: undefined }
  const resolvedRefs = tls.problem ?? kinds.problem ?? met('ResolvedRefs', 'all references are resolved')
  return {
    listener,
    scheme,
    supportedKinds: kinds.supportedKinds,
    accepted,
    resolvedRefs,
    isDecrypted,
    certificate: tls.certificate,
  }
}

const schemes: ReadonlyMap<string, Scheme> = new Map([
  ['HTTP', 'http'],
  ['HTTPS', 'https'],
  ['TLS', 'tls'],
])

const kindsOfSchemes: Readonly<Record<Scheme, readonly RouteKind[]>> = {
  http: ['GRPCRoute', 'HTTPRoute'],
  https: ['GRPCRoute', 'HTTPRoute'],
  tls: ['TLSRoute'],
}

/** Names of protocols are compared without regard to case. */
const schemeOf = ({ protocol }: Listener): Scheme | undefined => schemes.get(protocol.toUpperCase())

function allowedKinds({ allowedRoutes }: Listener, scheme: Scheme) {
  const named = allowedRoutes?.kinds ?? []
  const routeKinds = kindsOfSchemes[scheme]
  if (named.length === 0) return { supportedKinds: routeKinds, problem: undefined }
  const isSupported = ({ group = gatewayGroup, kind }: (typeof named)[number]): boolean =>
    group === gatewayGroup && routeKinds.some((each) => each === kind)
  const invalid = named.filter((each) => !isSupported(each)).map(({ kind }) => kind)
  const supportedKinds = routeKinds.filter((kind) => named.some((each) => each.kind === kind && isSupported(each)))
  const problem =
    invalid.length === 0
      ? undefined
      : unmet('InvalidRouteKinds', `routes of kind ${invalid.join(', ')} are not supported by this protocol`)
  return { supportedKinds, problem }
}

interface FoundCertificate {
  readonly certificate: KeyPair | undefined
  readonly problem?: Outcome
}

/** The first valid certificate is used. */
function certificateOf(owner: ListenerOwner, { tls }: Listener, sources: ListenerSources): FoundCertificate {
  const refs = tls?.certificateRefs ?? []
  if (refs.length === 0)
    return { certificate: undefined, problem: unmet('InvalidCertificateRef', 'the listener names no certificate') }
  const found = refs.map((ref) => referencedCertificate(owner, ref, sources))
  const { certificate } = found.find((each) => each.certificate !== undefined) ?? { certificate: undefined }
  const problem = found.find((each) => each.problem !== undefined)?.problem
  return { certificate, ...(problem === undefined ? {} : { problem }) }
}

function referencedCertificate(owner: ListenerOwner, ref: SecretReference, sources: ListenerSources): FoundCertificate {
  const { group = '', kind = 'Secret', name } = ref
  const home = namespaceOf(owner.object)
  const namespace = ref.namespace ?? home
  const failed = (reason: string, message: string) => ({ certificate: undefined, problem: unmet(reason, message) })
  const place = objectKey(namespace, name)
  if (group !== '' || kind !== 'Secret') return failed('InvalidCertificateRef', `${kind} ${place} is not a Secret`)
  const from = { group: gatewayGroup, kind: owner.kind, namespace: home }
  if (!isPermitted((each) => sources.grants(each), from, { group, kind, namespace, name }))
    return failed('RefNotPermitted', `no ReferenceGrant in namespace ${namespace} permits the use of Secret ${name}`)
  const secret = sources.secret(place)
  if (secret === undefined) return failed('InvalidCertificateRef', `Secret ${place} does not exist`)
  const pair = sources.keyPair(secret)
  return pair !== undefined
    ? { certificate: pair }
    : failed('InvalidCertificateRef', `Secret ${place} does not contain a certificate and its key`)
}
