// Every family of upstream's components has its type, stability, labels and buckets here, or a reason to be absent.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { DataKeyMetrics } from '../../src/apiserver/encryption/kms/data-key-metrics.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { ClientMetrics } from '../../src/client/transport/client-metrics.ts'
import { temporaryCertificates } from '../../src/cluster/certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../../src/cluster/policy/request-policies.ts'
import { Cluster } from '../../src/cluster/run/cluster.ts'
import { countHandshakeErrors } from '../../src/cluster/run/handshake-errors.ts'
import { registerComponentMetrics } from '../../src/cluster/run/component-metrics.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { MeasuredStore } from '../../src/store/measured-store.ts'
import { MemoryStore } from '../../src/store/memory-store.ts'
import { absentFamilies } from './absent-families.ts'
import { upstreamFamilies, type Component } from './upstream-families.ts'

/** What the components of `coxswain up` define, before any of them runs. */
function definedMetrics(): Metrics {
  const metrics = new Metrics()
  const deps = { clock: realClock, random: systemRandom, log: silentLog, metrics, platform: nodePlatform }
  const certificates = temporaryCertificates({ ...deps, hosts: ['127.0.0.1'] })
  const resourceOf = () => ({ group: '', resource: '' })
  void new DataKeyMetrics(metrics, realClock)
  // The commands `controller-manager` and `scheduler` have these.
  void new ClientMetrics(metrics, realClock)
  void countHandshakeErrors(metrics, () => {})
  const store = new MeasuredStore({ store: new MemoryStore(realClock), clock: realClock, metrics, resourceOf })
  const { policies } = buildRequestPolicies({ ...deps, ...certificates })
  const cluster = new Cluster({ ...deps, nodes: 0, policies, store })
  ok(cluster.components.size > 0)
  using stats = nodePlatform.processStats.start()
  registerComponentMetrics(metrics, stats)
  return metrics
}

const patterns = absentFamilies
const isCovered = (pattern: string, name: string) =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern

const described = new Map(
  definedMetrics()
    .descriptions()
    .map((each) => [each.name, each]),
)
const components: readonly Component[] = ['apiserver', 'controller-manager', 'scheduler']

for (const component of components)
  test(`the families of upstream's ${component} are defined with its types, labels and buckets`, () => {
    for (const { name, type, stability, labels, buckets } of upstreamFamilies(component)) {
      const own = described.get(name)
      if (own === undefined) {
        ok(
          patterns.some((pattern) => isCovered(pattern, name)),
          `${name} is neither defined nor listed as absent`,
        )
        continue
      }
      equal(own.type, type, name)
      deepEqual(own.labelNames.toSorted(), labels, name)
      deepEqual(own.bounds, buckets.map(Number), name)
      equal(/^\[(\w+)\]/.exec(own.help)?.[1] ?? '', stability, name)
    }
  })

test('every reason for absence concerns a family of upstream that is not defined', () => {
  const names = components.flatMap((component) => upstreamFamilies(component).map(({ name }) => name))
  for (const pattern of patterns)
    ok(
      names.some((name) => isCovered(pattern, name) && !described.has(name)),
      `${pattern} is defined, or unknown upstream`,
    )
})
