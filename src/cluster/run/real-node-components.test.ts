// The components that a real node adds to a cluster. The node itself is scripted: real ones are in test/containers.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import type { NodeServices } from '../node/node-services.ts'
import type { RealNode } from '../node/real-node.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { Cluster } from './cluster.ts'

/** Nothing is started: kubelets of real nodes need a runtime. */
function newCluster(services: NodeServices): Cluster {
  const options = { clock: realClock, random: systemRandom, log: silentLog, nodes: 0 }
  const certificates = temporaryCertificates({ ...options, platform: nodePlatform, hosts: ['127.0.0.1'] })
  const { policies } = buildRequestPolicies({ ...options, ...certificates, platform: nodePlatform })
  const cluster = new Cluster({ ...options, policies, store: new MemoryStore(realClock) })
  const scripted = { description: { name: 'machine' }, network: undefined, services: () => services }
  cluster.addRealNode(scripted as unknown as RealNode)
  return cluster
}

test('a real node adds a proxy, a DNS server and a kubelet', async () => {
  const ranges: unknown[] = []
  const cluster = newCluster({
    startProxy: ({ podCidrs, serviceCidrs }) => void ranges.push(podCidrs, serviceCidrs),
    startDns: ({ serviceRange }) => Promise.resolve(void ranges.push(serviceRange)),
  })
  deepEqual([...cluster.components.keys()].slice(3), ['proxy/machine', 'dns', 'kubelet/machine'])
  for (const name of ['proxy/machine', 'dns']) cluster.component(name).start()
  await cluster.stop()
  deepEqual(ranges, [['10.244.0.0/16'], ['10.96.0.0/12'], '10.96.0.0/12'])
})

test('with the network of another CNI plugin there is no DNS server', () => {
  const { components } = newCluster({ startProxy: () => {} })
  equal(components.has('proxy/machine'), true)
  equal(components.has('dns'), false)
})
