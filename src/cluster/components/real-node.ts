// This machine as a node of the cluster: its kubelet, proxy and DNS server, as components.
import { readFileSync } from 'node:fs'
import type { Cidr } from '../../base/net/cidr.ts'
import { isLoopback } from '../../base/net/remote-address.ts'
import { dnsPort } from '../../dns/forwarder/upstream-servers.ts'
import { nodeUser } from '../client/component-users.ts'
import { configz } from '../node/configz.ts'
import { startRealKubelet } from '../node/kubelet-node.ts'
import type { NodeNetwork } from '../node/node-network.ts'
import type { RealNode } from '../node/real-node.ts'
import type { ComponentDefinition } from './component-definition.ts'
import { dnsComponent } from './dns.ts'
import { serveKubelet, type KubeletsContext } from './kubelet-access.ts'
import type { OwnNetwork, ProxySettings } from './proxy.ts'

const healthzPort = 10_256
const metricsPort = 10_249
const loopback = '127.0.0.1'

/** A kubelet that the API server of this process calls without a socket. A process of its own is run/run-kubelet.ts. */
export function realKubeletComponent(cluster: KubeletsContext, real: RealNode): ComponentDefinition {
  const { name } = real.description
  return {
    name: `kubelet/${name}`,
    user: nodeUser(name),
    prepare: ({ clock, random, log, flow, client: clientAs }) => ({
      start(tasks) {
        const client = clientAs(`kubelet/${name}`, nodeUser(name))
        const kubelet = startRealKubelet(real, { client, clock, random, flow, log }, tasks)
        const configuration = configz(real.settings)
        serveKubelet(cluster, { ...real, configuration, nodeName: name, kubelet }, client, tasks, real.server)
      },
    }),
  }
}

export interface ProxiedNode extends Pick<RealNode, 'usePolicies'> {
  readonly description: Pick<RealNode['description'], 'name' | 'hostIp'>
}

export interface NodeProxyRanges
  extends Pick<ProxySettings, 'podCidrs' | 'serviceCidrs' | 'avoidedServers'>, Pick<OwnNetwork, 'clusterCidrs'> {}

/** Of the proxy of a real node, in the process of its kubelet. Other machines reach its ports only at an address of their network. */
export function nodeProxySettings(
  { description: { name: nodeName, hostIp }, usePolicies }: ProxiedNode,
  network: NodeNetwork | undefined,
  { podCidrs, serviceCidrs, avoidedServers, clusterCidrs }: NodeProxyRanges,
): ProxySettings {
  const ports = [
    { healthz: { host: hostIp, port: healthzPort } },
    { healthz: { host: loopback, port: healthzPort } },
    { metricsAt: { host: loopback, port: metricsPort } },
  ]
  return {
    name: `proxy/${nodeName}`,
    nodeName,
    podCidrs,
    healthCheckHost: hostIp,
    ...(serviceCidrs && { serviceCidrs }),
    avoidedServers,
    masqueradesAll: false,
    enforcesPolicies: false,
    arePortsOptional: true,
    ports: isLoopback(hostIp) ? [] : ports,
    network: network && { ...network, clusterCidrs, onPolicyAgent: usePolicies },
  }
}

/** The DNS server of a cluster. Pods of all nodes reach it at the addresses of this machine in the pod network. */
export const nodeDnsComponent = (
  { settings: { dns } }: Pick<RealNode, 'settings'>,
  { gateways }: NodeNetwork,
  serviceRange: Cidr,
): ComponentDefinition =>
  dnsComponent({
    domain: dns.domain,
    hosts: gateways,
    port: dnsPort,
    ownAddresses: gateways,
    serviceRange,
    resolvConf: () => textOf(dns.resolvConfPath),
  })

/** Empty when the file is missing. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
