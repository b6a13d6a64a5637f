// BackendTls: the BackendTLSPolicies and the ports of Services to which they apply. The older of two policies for one target
// wins; one for a port of a Service precedes one for the whole Service. Pure.
import type { ConfigMap } from '../../api/core/v1/config-map.ts'
import { keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { olderFirst } from '../../ingress/routing/older-first.ts'
import type { AlternativeName, ServerIdentity } from '../../platform/http/server-identity.ts'
import { met, unmet, type Outcome } from '../attachment/outcome.ts'
import type { OnUnservable } from '../attachment/unservable.ts'
import type { BackendTlsPolicy } from '../kinds/policy-kinds.ts'

export interface BackendTlsSources {
  configMap(key: ObjectKey): ConfigMap | undefined
  /** Whether the text is one certificate or several. */
  isCertificates(text: string): boolean
}

export interface PolicyVerdict {
  readonly policy: BackendTlsPolicy
  readonly accepted: Outcome
  readonly resolvedRefs: Outcome
  /** The Services that it names. */
  readonly services: readonly ObjectKey[]
}

/** How the endpoints of a port are verified. `invalid`: requests fail, because the policy is not valid. */
export type PortTls = { readonly kind: 'verified'; readonly identity: ServerIdentity } | { readonly kind: 'invalid' }

interface EvaluatedPolicy {
  readonly resolvedRefs: Outcome
  readonly accepted: Outcome
  readonly tls: PortTls
  /** What it was evaluated from. */
  readonly configMaps: readonly (readonly [ObjectKey, ConfigMap | undefined])[]
}

/** A handshake compares with all of them. */
export const authorityCharactersMax = 100_000
const invalidTls: PortTls = { kind: 'invalid' }

export class BackendTls {
  /** Reading certificates takes a while, and an identity is the same object while its policy is the same. */
  readonly #evaluated = new WeakMap<BackendTlsPolicy, EvaluatedPolicy>()
  #byTarget = new Map<string, PortTls>()
  #verdicts: readonly PolicyVerdict[] = []

  get verdicts(): readonly PolicyVerdict[] {
    return this.#verdicts
  }

  /** Undefined: the port has no policy. */
  of(service: ObjectKey, portName: string): PortTls | undefined {
    return this.#byTarget.get(targetKey(service, portName)) ?? this.#byTarget.get(targetKey(service))
  }

  replace(policies: readonly BackendTlsPolicy[], sources: BackendTlsSources, onUnservable: OnUnservable): void {
    const byTarget = new Map<string, PortTls>()
    const verdicts: PolicyVerdict[] = []
    for (const policy of policies.toSorted(olderFirst)) {
      try {
        verdicts.push(this.#verdictOf(policy, sources, byTarget))
      } catch (error) {
        const failed = unmet('Invalid', onUnservable('BackendTLSPolicy', policy, error))
        verdicts.push({ policy, accepted: failed, resolvedRefs: failed, services: [] })
      }
    }
    this.#byTarget = byTarget
    this.#verdicts = verdicts
  }

  #verdictOf(policy: BackendTlsPolicy, sources: BackendTlsSources, byTarget: Map<string, PortTls>): PolicyVerdict {
    const { accepted, resolvedRefs, tls } = this.#evaluate(policy, sources)
    const targets = policy.spec.targetRefs.filter(({ group, kind }) => group === '' && kind === 'Service')
    const services = targets.map(({ name }) => objectKey(namespaceOf(policy), name))
    const keys = targets.map(({ name, sectionName }) => targetKey(objectKey(namespaceOf(policy), name), sectionName))
    const taken = keys.some((key) => byTarget.has(key))
    for (const key of keys) if (!byTarget.has(key)) byTarget.set(key, tls)
    return {
      policy,
      accepted: taken ? unmet('Conflicted', 'an older policy has the same target') : accepted,
      resolvedRefs,
      services: [...new Set(services)],
    }
  }

  #evaluate(policy: BackendTlsPolicy, sources: BackendTlsSources): EvaluatedPolicy {
    const known = this.#evaluated.get(policy)
    if (known?.configMaps.every(([key, configMap]) => sources.configMap(key) === configMap) === true) return known
    const evaluated = evaluatePolicy(policy, sources)
    this.#evaluated.set(policy, evaluated)
    return evaluated
  }
}

const targetKey = (service: ObjectKey, portName = ''): string => `${service} ${portName}`

/** It becomes the server name in the first message of TLS. */
const isHostname = (hostname: string): boolean => /^[-.\dA-Za-z]{1,253}$/.test(hostname)

function evaluatePolicy(policy: BackendTlsPolicy, { configMap, isCertificates }: BackendTlsSources): EvaluatedPolicy {
  const { caCertificateRefs = [], wellKnownCACertificates, hostname } = policy.spec.validation
  const resolved = met('ResolvedRefs', 'all references are resolved')
  if (caCertificateRefs.length === 0) {
    const message = `well-known certificates ${wellKnownCACertificates ?? ''} are not supported`
    return { accepted: unmet('Invalid', message), resolvedRefs: resolved, tls: invalidTls, configMaps: [] }
  }
  if (!isHostname(hostname)) {
    const message = 'a hostname consists of letters, digits, dashes and dots'
    return { accepted: unmet('Invalid', message), resolvedRefs: resolved, tls: invalidTls, configMaps: [] }
  }
  const configMaps: (readonly [ObjectKey, ConfigMap | undefined])[] = []
  const certificates: string[] = []
  const problems: Outcome[] = []
  for (const { group, kind, name } of caCertificateRefs) {
    if (group !== '' || kind !== 'ConfigMap') {
      problems.push(unmet('InvalidKind', `${kind} ${name} is not a ConfigMap`))
      continue
    }
    const key = objectKey(namespaceOf(policy), name)
    const found = configMap(key)
    configMaps.push([key, found])
    const text = lookup(found?.data, 'ca.crt') ?? ''
    if (found === undefined) problems.push(unmet('InvalidCACertificateRef', `ConfigMap ${key} does not exist`))
    else if (text.length > authorityCharactersMax || !isCertificates(text))
      problems.push(unmet('InvalidCACertificateRef', `ConfigMap ${key} has no certificates in its key ca.crt`))
    else certificates.push(text)
  }
  const [problem] = problems
  return {
    accepted:
      certificates.length > 0
        ? met('Accepted', 'the policy is accepted')
        : unmet('NoValidCACertificate', problem?.message ?? 'there is no certificate'),
    resolvedRefs: problem ?? resolved,
    tls:
      problem === undefined ? { kind: 'verified', identity: identityOf(policy, certificates, configMaps) } : invalidTls,
    configMaps,
  }
}

function identityOf(
  policy: BackendTlsPolicy,
  certificates: readonly string[],
  configMaps: EvaluatedPolicy['configMaps'],
): ServerIdentity {
  const { hostname, subjectAltNames = [] } = policy.spec.validation
  const versions = configMaps.map(([, configMap]) => configMap?.metadata.resourceVersion)
  return {
    id: [keyOf(policy), policy.metadata.uid, policy.metadata.generation, ...versions].join(' '),
    authority: certificates.join('\n'),
    serverName: hostname,
    names:
      subjectAltNames.length === 0
        ? [{ kind: 'dns', name: hostname }]
        : subjectAltNames.map(({ type, hostname: name = '', uri = '' }): AlternativeName =>
            type === 'URI' ? { kind: 'uri', uri } : { kind: 'dns', name },
          ),
  }
}
