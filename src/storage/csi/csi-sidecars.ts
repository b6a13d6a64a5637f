// The sidecars of a CSI driver in this process: provisioner, capacity publisher, attacher, resizer and snapshotter. Real
// deployments run upstream's programs beside the driver; these serve tests, simulated clusters and drivers without them.
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { CsiDriver } from '../../machine/csi/csi-driver.ts'
import { attacher } from './attacher/attacher.ts'
import { capacityPublisher, type CapacityOptions } from './provisioner/capacity-publisher.ts'
import { provisioner, type ProvisionerOptions } from './provisioner/provisioner.ts'
import { resizer } from './resizer/resizer.ts'
import { connectDriver } from './sidecar/driver-connection.ts'
import { startSidecar, type ControllerDeps, type Sidecar, type SidecarTools } from './sidecar/sidecar.ts'
import { snapshotController } from './snapshots/snapshot-controller.ts'
import { snapshotter } from './snapshots/snapshotter.ts'

export interface CsiSidecarOptions extends ProvisionerOptions {
  /** Publishes capacities, if given. */
  readonly capacity?: CapacityOptions
  /** Whether the kinds of snapshots are installed. */
  readonly hasSnapshots?: boolean
}

/** Starts the sidecars that the driver's capabilities need, when the driver is ready. */
export async function startCsiSidecars(
  driver: CsiDriver,
  { capacity, hasSnapshots = false, ...options }: CsiSidecarOptions,
  deps: ControllerDeps,
  tasks: TaskGroup,
): Promise<void> {
  const connection = await connectDriver(driver, deps, tasks.signal)
  const sidecarDeps = { ...deps, driver: connection }
  const { capabilities, name } = connection
  const start = (define: (tools: SidecarTools) => Sidecar, ...needed: readonly string[]) => {
    if (needed.length === 0 || needed.some((each) => capabilities.has(each)))
      startSidecar(define, name, sidecarDeps, tasks)
  }
  start(provisioner(options), 'CREATE_DELETE_VOLUME')
  if (capacity !== undefined) start(capacityPublisher(capacity), 'GET_CAPACITY')
  start(attacher)
  start(resizer, 'EXPAND_VOLUME', 'MODIFY_VOLUME')
  if (hasSnapshots) start(snapshotter, 'CREATE_DELETE_SNAPSHOT')
}

/** Starts the controller of snapshots, of which a cluster has one. */
export const startSnapshotController = (deps: ControllerDeps, tasks: TaskGroup): void =>
  startSidecar(snapshotController, 'snapshot-controller', deps, tasks)
