// This machine as a node of the cluster: its kubelet, proxy and DNS server, and the announcer of load balancers, as components.
import { serviceRangesDefault } from '../../apiserver/strategies/service/service-ranges.ts'
import { Informers } from '../../client/informer/informers.ts'
import { AddressAnnouncer } from '../../cloud/address-pool/address-announcer.ts'
import { AddressPool } from '../../cloud/address-pool/address-pool.ts'
import type { ControllerSettings } from '../../controllers/runtime/controller-settings.ts'
import { apiServerUser, dnsUser, nodeUser, proxyUser } from '../client/component-users.ts'
import { thisMachinesAddresses } from '../node/announced-addresses.ts'
import { configz } from '../node/configz.ts'
import { startRealKubelet } from '../node/kubelet-node.ts'
import type { RealNode } from '../node/real-node.ts'
import { Component } from './component.ts'
import type { ComponentContext } from './component-context.ts'
import { serveKubelet, type KubeletsContext } from './kubelet-access.ts'

export function realKubeletComponent(cluster: KubeletsContext, real: RealNode): Component {
  const { options, flow } = cluster
  const { clock, log, random } = options
  const { name } = real.description
  return new Component(`kubelet/${name}`, options, (tasks) => {
    const client = cluster.client(`kubelet/${name}`, nodeUser(name))
    const kubelet = startRealKubelet(real, { client, clock, random, flow, log }, tasks)
    const configuration = configz(real.settings)
    serveKubelet(cluster, { ...real, configuration, nodeName: name, kubelet }, client, tasks, real.server)
  })
}

/** The proxy, and a DNS server, which pods of all nodes reach at the address of this machine in the pod network. */
export function nodeServiceComponents(
  cluster: ComponentContext,
  real: RealNode,
  { nodeRanges }: ControllerSettings,
): readonly Component[] {
  const { options, flow } = cluster
  const { clock, log, random, serviceRanges = serviceRangesDefault } = options
  const { name } = real.description
  const { startProxy, startDns } = real.services(real.network, cluster.metrics)
  const podCidrs = (nodeRanges?.ranges ?? []).map(({ cidr }) => cidr)
  const proxy = new Component(`proxy/${name}`, options, (tasks) =>
    startProxy(
      {
        ...{ clock, log, random, podCidrs, clusterCidrs: podCidrs, flow, serviceCidrs: serviceRanges.clusterCidrs },
        client: cluster.client(`proxy/${name}`, proxyUser),
        nodeClient: cluster.client(`kubelet/${name}`, nodeUser(name)),
      },
      tasks,
    ),
  )
  if (startDns === undefined) return [proxy]
  const dns = new Component('dns', options, (tasks) =>
    tasks.start('DNS', () => {
      const publisher = cluster.client('apiserver', apiServerUser)
      const client = cluster.client('dns', dnsUser)
      return startDns({ clock, log, random, client, publisher, serviceRange: serviceRanges.clusterCidrs[0] }, tasks)
    }),
  )
  return [proxy, dns]
}

/** Makes this machine respond for addresses of load balancers. */
export function announcerComponent(cluster: ComponentContext, nodeName: string, addresses: string): Component {
  const { options, flow } = cluster
  const { clock, log } = options
  const name = `announcer/${nodeName}`
  const random = options.random.fork(name)
  const [pool, machine] = [AddressPool.parse(addresses), thisMachinesAddresses()]
  return new Component(name, options, (tasks) => {
    const client = cluster.client(name, proxyUser)
    const informers = new Informers(client, { clock, random, log }, tasks)
    const deps = { informers, client, pool, nodeName, machine, clock, random, log, flow }
    tasks.start('announcer', (signal) => new AddressAnnouncer(deps).run(signal))
  })
}
