// A containerd for tests, with a bridge network of its own.
import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { Containerd } from '../../src/machine/cri/containerd.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { architecture, sha256 } from './busybox.ts'

export interface TestContainerd extends AsyncDisposable {
  readonly containerd: Containerd
  readonly folder: string
}

export async function startContainerd(signal: AbortSignal): Promise<TestContainerd> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-containerd-'))
  const networkFolder = join(folder, 'net.d')
  await mkdir(networkFolder)
  await writeFile(join(networkFolder, '10-test.conflist'), JSON.stringify(network(folder)))
  const containerd = await Containerd.start(
    {
      folder: join(folder, 'containerd'),
      architecture,
      networkFolder,
      networkPluginsFolder: '/usr/lib/cni',
      mayLowerOomScore: false,
      snapshotter: 'native',
    },
    { ...nodePlatform, clock: realClock, log: silentLog, sha256 },
    signal,
  )
  return {
    containerd,
    folder,
    async [Symbol.asyncDispose]() {
      await containerd.stop()
      await rm(folder, { recursive: true, force: true })
    },
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
