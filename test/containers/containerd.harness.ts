// A containerd for tests, with its own bridge network.
import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { Containerd } from '../../src/machine/cri/containerd.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { architecture, sha256 } from './busybox.ts'

export interface TestContainerd extends AsyncDisposable {
  readonly containerd: Containerd
  readonly folder: string
  /** Cgroups belong to the machine, whatever namespaces the test uses: this one is removed with the test. */
  readonly cgroupParent: string
}

export async function startContainerd(signal: AbortSignal): Promise<TestContainerd> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-containerd-'))
  const networkFolder = join(folder, 'net.d')
  await mkdir(networkFolder)
  await writeFile(join(networkFolder, '10-test.conflist'), JSON.stringify(network(folder)))
  const containerd = await Containerd.start(
    {
      directory: join(folder, 'containerd'),
      architecture,
      networkDirectory: networkFolder,
      networkPluginsDirectory: '/usr/lib/cni',
      mayLowerOomScore: false,
      snapshotter: 'native',
    },
    { ...nodePlatform, clock: realClock, log: silentLog, sha256 },
    signal,
  )
  const cgroupParent = `/${basename(folder)}`
  return {
    containerd,
    folder,
    cgroupParent,
    async [Symbol.asyncDispose]() {
      await removeAll(containerd)
      await containerd.stop()
      await (await NodeCgroups.open()).remove(cgroupParent)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Containers that a test has left running. */
async function removeAll({ runtime }: Containerd): Promise<void> {
  const { signal } = new AbortController()
  for (const uid of await runtime.podUids(signal)) {
    const found = await runtime.inspect(uid, signal)
    if (found !== undefined) await runtime.removeSandbox(found.sandboxId, signal)
  }
}

const network = (folder: string) => ({
  cniVersion: '1.0.0',
  name: 'test',
  plugins: [
    {
      type: 'bridge',
      bridge: 'test0',
      isGateway: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.88.7.0/24' }]], dataDir: join(folder, 'addresses') },
    },
  ],
})
