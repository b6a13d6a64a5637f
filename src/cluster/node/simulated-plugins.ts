// The storage driver of a simulated node. Its sockets and mounts outlive the kubelet, as the process of a real driver does.
import { nodeCrypto } from '../../platform/node/crypto.ts'
import type { NodePlugins } from '../../kubelet/node/node-host.ts'
import { diskMounts } from '../../machine/csi/simulated/disk-mounts.ts'
import type { SimulatedStorage } from '../../machine/csi/simulated/simulated-csi-driver.ts'
import type { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { SimulatedPluginSockets } from '../../machine/plugin-sockets/simulated-plugin-sockets.ts'

export function simulatedPlugins(storage: SimulatedStorage, nodeName: string, disk: SimulatedDisk): NodePlugins {
  const { driverName } = storage.config
  const endpoint = `/plugins/${driverName}/csi.sock`
  const sockets = new SimulatedPluginSockets()
  sockets.add(`/plugins_registry/${driverName}-reg.sock`)
  const mounts = diskMounts(disk)
  return {
    sockets,
    // The driver and its registrar are one.
    drivers: { open: () => storage.driverOf({ id: nodeName, mounts, endpoint }) },
    sha256: (text) => nodeCrypto.sha256(text).toHex(),
  }
}
