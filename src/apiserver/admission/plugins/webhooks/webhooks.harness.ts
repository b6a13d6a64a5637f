// Webhooks for tests: real HTTPS servers on loopback, and an API server that calls them.
import { equal } from 'node:assert/strict'
import { realClock } from '../../../../base/time/clock.ts'
import { Metrics } from '../../../../base/observability/metrics.ts'
import { systemRandom } from '../../../../base/random/random.ts'
import { VirtualClock } from '../../../../base/time/virtual-clock.ts'
import { Authority } from '../../../../pki/authority.ts'
import { nodeCrypto } from '../../../../platform/node/crypto.ts'
import { nodeListeners } from '../../../../platform/node/http/listener.ts'
import type { WireResponse } from '../../../../platform/http/listener.ts'
import { nodeOutbound } from '../../../../platform/node/http/outbound.ts'
import { type Policies } from '../../../filters/policies.ts'
import { serviceAddress } from '../../../outbound/service-address.ts'
import { WebhookConnections } from '../../../outbound/webhook-connections.ts'
import { startServer, type Harness, type HarnessOptions } from '../../../server.harness.ts'
import { defaultAdmissionPlugins } from '../../plugins.ts'
import { WebhookClient } from './webhook-client.ts'
import { mutatingWebhooks } from './mutating-webhooks.ts'
import { validatingWebhooks } from './validating-webhooks.ts'
import { WebhookMetrics } from './webhook-metrics.ts'
import { openPolicies } from '../../../open-policies.ts'

export const authorityOf = (name: string) =>
  Authority.create(name, { clock: realClock, random: systemRandom, crypto: nodeCrypto })
export const base64 = (text: string): string => new TextEncoder().encode(text).toBase64()

export interface Asked {
  readonly path: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into reviews of every shape
  readonly request: any
}

/** A raw response that is not an AdmissionReview in JSON. */
export interface Wired {
  readonly wire: Pick<WireResponse, 'status' | 'headers'> & { readonly body: string }
}

export type Handle = (asked: Asked) => object | string | Wired | Promise<object | string | Wired>

/** A webhook server; the result of `handle` is the response, or the whole body when it is a string. */
export async function webhookServer(handle: Handle) {
  const authority = authorityOf('webhook-ca')
  const identity = authority.issue({
    subject: { commonName: 'webhook', organizations: [] },
    uses: ['server'],
    addresses: ['127.0.0.1'],
    dnsNames: ['hook.default.svc'],
  })
  const asked: Asked[] = []
  const listener = await nodeListeners.listen({
    host: '127.0.0.1',
    port: 0,
    tls: { ...identity, clientAuthorities: {} },
    async handle(sent) {
      const review = JSON.parse(new TextDecoder().decode(await sent.body(1 << 20)))
      const one = { path: sent.target, request: review.request }
      asked.push(one)
      const response = await handle(one)
      if (typeof response === 'object' && 'wire' in response) return response.wire
      const { apiVersion, kind, request } = review
      const body =
        typeof response === 'string'
          ? response
          : JSON.stringify({ apiVersion, kind, response: { uid: request.uid, allowed: true, ...response } })
      return { status: 200, headers: { 'content-type': 'application/json' }, body }
    },
  })
  return {
    asked,
    port: listener.port,
    url: `https://127.0.0.1:${listener.port}`,
    caBundle: base64(authority.certificate),
    [Symbol.asyncDispose]: () => listener.close(0),
  }
}

export type Hooks = Awaited<ReturnType<typeof webhookServer>>

export async function startHooked(
  address = serviceAddress,
  policies: Partial<Policies> = {},
  options: HarnessOptions = {},
  metrics: Metrics = new Metrics(),
): Promise<Harness> {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const connections = new WebhookConnections({ outbound: nodeOutbound, clock, serviceAddress: address })
  const webhookMetrics = new WebhookMetrics(metrics)
  const caller = new WebhookClient({ connections, clock, random: systemRandom, metrics: webhookMetrics })
  const admission = [...defaultAdmissionPlugins, mutatingWebhooks(caller), validatingWebhooks(caller)]
  const server = await startServer(
    { ...openPolicies, admission, webhooks: connections, ...policies },
    { clock, ...options },
  )
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await connections.close()
    },
  }
}

export const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }
export const webhook = (hooks: Pick<Hooks, 'url' | 'caBundle'>, more: object = {}) => ({
  name: 'w.example.com',
  clientConfig: { url: `${hooks.url}/judge`, caBundle: hooks.caBundle },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  timeoutSeconds: 2,
  ...more,
})
export const registration = '/apis/admissionregistration.k8s.io/v1'
export async function register(server: Harness, kind: 'mutating' | 'validating', ...webhooks: object[]): Promise<void> {
  const path = `${registration}/${kind}webhookconfigurations`
  const { status, body } = await server.call('POST', path, { metadata: { name: kind }, webhooks })
  equal(status, 201, JSON.stringify(body))
}
export const patchWith = (...operations: object[]) => ({
  patchType: 'JSONPatch',
  patch: base64(JSON.stringify(operations)),
})
