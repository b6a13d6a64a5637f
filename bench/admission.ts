// Cost of admission for a Pod: every plugin that is enabled by default, without configured webhooks.
import { namespace } from '../src/api/core/v1/namespace.ts'
import { pod } from '../src/api/core/v1/pod/pod.ts'
import { serviceAccount } from '../src/api/core/v1/service-account.ts'
import type { ApiObject } from '../src/api/meta/object.ts'
import { AdmissionMetrics } from '../src/apiserver/metrics/admission-metrics.ts'
import { AdmissionChain } from '../src/apiserver/admission/framework/admission-chain.ts'
import { AdmissionRecorder } from '../src/apiserver/admission/framework/admission-recorder.ts'
import type { AdmissionAttributes } from '../src/apiserver/admission/framework/admission-plugin.ts'
import { defaultAdmissionPlugins } from '../src/apiserver/admission/plugins.ts'
import { ReinvocationContext } from '../src/apiserver/admission/framework/reinvocation.ts'
import { WebhookClient } from '../src/apiserver/admission/plugins/webhooks/webhook-client.ts'
import { mutatingWebhooks } from '../src/apiserver/admission/plugins/webhooks/mutating-webhooks.ts'
import { validatingWebhooks } from '../src/apiserver/admission/plugins/webhooks/validating-webhooks.ts'
import { WebhookMetrics } from '../src/apiserver/admission/plugins/webhooks/webhook-metrics.ts'
import { serviceAddress } from '../src/apiserver/outbound/service-address.ts'
import { WebhookConnections } from '../src/apiserver/outbound/webhook-connections.ts'
import { allowed } from '../src/apiserver/authorization/authorizer.ts'
import { TestCaches } from '../src/apiserver/watch-cache/caches.harness.ts'
import { userWithName } from '../src/apiserver/request/request.ts'
import { decodeObject } from '../src/apiserver/objects/decode-object.ts'
import { realClock } from '../src/base/time/clock.ts'
import { FlowRecorder, noCause } from '../src/base/observability/flow-recorder.ts'
import { runInSlices } from '../src/base/work/work-slice.ts'
import { nameSuffix } from '../src/base/random/ids.ts'
import { Metrics } from '../src/base/observability/metrics.ts'
import { seededRandom } from '../src/base/random/random.ts'
import { nodeOutbound } from '../src/platform/node/http/outbound.ts'
import type { Bench } from './bench.ts'

const random = seededRandom(1)
const caches = new TestCaches()
const named = (name: string, more: object = {}) => ({ metadata: { name, ...more } })
caches.set(namespace, { ...named('shop', { labels: {} }), status: { phase: 'Active' } } as never)
caches.set(serviceAccount, named('default', { namespace: 'shop' }) as never)

const metrics = new WebhookMetrics(new Metrics())
const connections = new WebhookConnections({ outbound: nodeOutbound, clock: realClock, serviceAddress })
const caller = new WebhookClient({ connections, clock: realClock, random, metrics })
const admissionMetrics = new AdmissionMetrics(new Metrics())
const chain = new AdmissionChain(
  [...defaultAdmissionPlugins, mutatingWebhooks(caller), validatingWebhooks(caller)],
  {
    get: (kind, of, name) => caches.get(kind, of, name),
    list: (kind, of) => caches.list(kind, of),
    waitForObject: () => Promise.resolve(undefined),
    readFromStore: () => Promise.resolve(undefined),
    kindNamed: () => undefined,
    versionsOf: (kind) => [kind],
    convert: (each) => each,
    read: () => undefined,
    readAll: () => [],
    isAllowed: () => Promise.resolve(true),
    authorize: () => allowed(),
    nameSuffix: () => nameSuffix(random),
    inSlices: (work, signal) => runInSlices(work, realClock, signal),
    flow: new FlowRecorder(realClock),
    nowMs: () => realClock.nowMs(),
    monotonicMs: () => realClock.monotonicMs(),
    metrics: admissionMetrics,
  },
  { clock: realClock, metrics: admissionMetrics },
)

const container = (name: string) => ({
  name,
  image: 'registry.example.com/shop/web:1.2.3',
  resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
  ports: [{ containerPort: 8080 }],
  env: Array.from({ length: 10 }, (_, index) => ({ name: `NAME_${index}`, value: 'value' })),
})
const { object } = decodeObject(
  pod,
  { metadata: { name: 'web', namespace: 'shop' }, spec: { containers: [container('web'), container('side')] } },
  'Strict',
)
const { signal } = new AbortController()
const query = new URLSearchParams()
const user = userWithName('alice', ['system:authenticated'])

const attributesOf = (sent: ApiObject): AdmissionAttributes => ({
  operation: 'create',
  kind: pod,
  requestKind: pod,
  namespace: 'shop',
  name: 'web',
  subresource: '',
  user,
  dryRun: false,
  subresourceObject: undefined,
  options: query,
  object: sent,
  old: undefined,
  recorder: new AdmissionRecorder(),
  reinvocation: new ReinvocationContext(),
  signal,
  cause: noCause,
})

async function pass(): Promise<void> {
  const attributes = attributesOf(object)
  const admitted = { ...attributes, object: await chain.admit(attributes) }
  await chain.validate(admitted)
  await chain.reserving(admitted, () => Promise.resolve())
}

const passes = 20_000
const rounds = 7

export const admissionBench: Bench = {
  name: 'admission',
  async run() {
    let bestMs = Infinity
    for (let round = 0; round <= rounds; round++) {
      const startMs = performance.now()
      for (let index = 0; index < passes; index++) await pass()
      if (round > 0) bestMs = Math.min(bestMs, performance.now() - startMs)
    }
    return [`admit, validate and charge a Pod of two containers: ${((bestMs * 1000) / passes).toFixed(1)} µs`]
  },
}
