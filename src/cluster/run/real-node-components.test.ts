// The components that a real node adds to a cluster. The node itself is scripted: real ones are in test/containers.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { mustParseIp } from '../../base/net/ip-address.ts'
import { defaultKubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import type { PodNetwork } from '../../machine/pod-network/pod-network.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { nodeProxySettings } from '../components/real-node.ts'
import type { NodeNetwork } from '../node/node-network.ts'
import type { RealNode } from '../node/real-node.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { Cluster } from './cluster.ts'

const network = { podRanges: [], gateways: [mustParseIp('10.244.0.1')], podNetwork: {} as PodNetwork }

/** Nothing is started: kubelets of real nodes need a runtime. */
function newCluster(own: NodeNetwork | undefined): Cluster {
  const options = { clock: realClock, random: systemRandom, log: silentLog, nodes: 0 }
  const certificates = temporaryCertificates({ ...options, platform: nodePlatform, hosts: ['127.0.0.1'] })
  const { policies } = buildRequestPolicies({ ...options, ...certificates, platform: nodePlatform })
  const cluster = new Cluster({ ...options, policies, store: new MemoryStore(realClock) })
  const scripted = {
    description: { name: 'machine', hostIp: '127.0.0.1' },
    settings: defaultKubeletSettings,
    network: own,
  }
  cluster.addRealNode(scripted as unknown as RealNode)
  return cluster
}

test('a real node adds a proxy, a DNS server and a kubelet', () => {
  const { components } = newCluster(network)
  deepEqual([...components.keys()].slice(3), ['proxy/machine', 'dns', 'kubelet/machine'])
})

test('with the network of another CNI plugin there is no DNS server', () => {
  const { components } = newCluster(undefined)
  deepEqual([...components.keys()].slice(3), ['proxy/machine', 'kubelet/machine'])
})

test('the proxy of a real node knows the ranges of the cluster, and opens ports where others can reach them', () => {
  const ranges = { podCidrs: ['10.244.0.0/16'], serviceCidrs: ['10.96.0.0/12'], clusterCidrs: ['10.244.0.0/16'] }
  const nodeWith = (hostIp: string) => ({ description: { name: 'machine', hostIp }, usePolicies: () => {} })
  const { podCidrs, serviceCidrs, ports, network: own } = nodeProxySettings(nodeWith('192.0.2.7'), network, ranges)
  deepEqual([podCidrs, serviceCidrs, own?.clusterCidrs], [['10.244.0.0/16'], ['10.96.0.0/12'], ['10.244.0.0/16']])
  equal(ports.length, 3)
  deepEqual(nodeProxySettings(nodeWith('127.0.0.1'), undefined, ranges).ports, [])
})
