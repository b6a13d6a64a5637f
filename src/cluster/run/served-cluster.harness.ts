// A cluster with an HTTPS port for components in other processes; it stops with the test.
import { realClock } from '../../base/time/clock.ts'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { ClusterOptions } from '../components/cluster-options.ts'
import { Cluster } from './cluster.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { serve } from './serve.ts'

type Own = Pick<ClusterOptions, 'nodes' | 'controllerManagers' | 'loadBalancers' | 'serviceRanges' | 'hasGatewayApi'>

/** `host` is the address of the port. */
export async function serveCluster(own: Partial<Own> = {}, host = '127.0.0.1') {
  const options = { clock: realClock, random: systemRandom, log: silentLog, nodes: 1, ...own }
  const certificates = temporaryCertificates({ ...options, platform: nodePlatform, hosts: [host] })
  const { policies } = buildRequestPolicies({ ...options, ...certificates, platform: nodePlatform })
  const controllerSettings = { certificateAuthority: () => certificates.authority }
  const cluster = new Cluster({ ...options, policies, store: new MemoryStore(realClock), controllerSettings })
  cluster.start()
  const server = await serve(cluster, { ...options, host, port: 0, certificates, platform: nodePlatform })
  await cluster.ready
  return {
    cluster,
    certificates,
    kubeconfig: server.kubeconfig,
    async [Symbol.asyncDispose]() {
      await server.close(0)
      await cluster.stop()
    },
  }
}
