// What provisions volumes, as components: the sidecars of a CSI driver, the snapshot controller, the local-path provisioner.
import { context } from '../../base/observability/context.ts'
import { Informers } from '../../client/informer/informers.ts'
import type { SimulatedStorage } from '../../machine/csi/simulated/simulated-csi-driver.ts'
import { startCsiSidecars, startSnapshotController } from '../../storage/csi/csi-sidecars.ts'
import { startLocalPathProvisioner } from '../../storage/local-path/local-path-provisioner.ts'
import type { NodeVolumes } from '../../storage/local-path/node-volumes.ts'
import { publishLocalPath } from '../bootstrap/local-path-storage.ts'
import { apiServerUser, csiSidecarsUser, localPathUser, snapshotControllerUser } from '../client/component-users.ts'
import { Component } from './component.ts'
import type { ComponentContext } from './component-context.ts'

export function csiSidecarsComponent(cluster: ComponentContext, storage: SimulatedStorage): Component {
  const { options, flow } = cluster
  const { clock, log, hasVolumeSnapshots: hasSnapshots = false } = options
  const random = options.random.fork('csi-sidecars')
  return new Component('csi-sidecars', options, (tasks) => {
    const client = cluster.client('csi-sidecars', csiSidecarsUser)
    const informers = new Informers(client, { clock, random, log }, tasks)
    const driver = storage.driverOf({ id: 'controller' })
    tasks.start('csi sidecars', () =>
      startCsiSidecars(driver, { hasSnapshots }, { client, informers, clock, random, log, flow }, tasks),
    )
  })
}

export function snapshotControllerComponent(cluster: ComponentContext): Component {
  const { options, flow } = cluster
  const { clock, log } = options
  const random = options.random.fork('snapshot-controller')
  return new Component('snapshot-controller', options, (tasks) => {
    const client = cluster.client('snapshot-controller', snapshotControllerUser)
    const informers = new Informers(client, { clock, random, log }, tasks)
    startSnapshotController({ client, informers, clock, random, log, flow }, tasks)
  })
}

/** The provisioner of volumes on these nodes. */
export function localPathComponent(
  cluster: ComponentContext,
  host: string,
  nodes: ReadonlyMap<string, NodeVolumes>,
): Component {
  const { options } = cluster
  const { clock, log } = options
  const name = `local-path/${host}`
  const random = options.random.fork(name)
  return new Component(name, options, (tasks) => {
    const client = cluster.client(name, localPathUser)
    tasks.start('storage class', async (signal) => {
      const areLimited = await Promise.all(Array.from(nodes.values(), (volumes) => volumes.areLimited(signal)))
      const publisher = cluster.client('apiserver', apiServerUser)
      await publishLocalPath(publisher, localPathUser.name, areLimited.every(Boolean), context(signal))
      startLocalPathProvisioner({ client, clock, random, log, nodes, host }, tasks)
    })
  })
}
