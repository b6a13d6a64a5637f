// Volumes of a CSI driver in real containers, with the driver as a separate process: real mounts and loop devices. The
// driver and the kubelet are killed; data stays, and nothing is left on the machine.
import { deepEqual, equal, match } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { grpcCsiDrivers } from '../../src/machine/csi/grpc-csi-drivers.ts'
import { controllerService } from '../../src/machine/csi/methods.ts'
import { storageConfigDefault } from '../../src/machine/csi/simulated/storage-system.ts'
import { nodeHttp2 } from '../../src/platform/node/http/http2-client.ts'
import { hostMounts } from '../csi/commands.ts'
import { startCsiDriver, type DriverProcess } from '../csi/driver-process.ts'
import { until } from '../until.ts'
import { bind, claim, volume } from './bound-claims.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp, type RealUp } from './up.harness.ts'

const driverName = storageConfigDefault.driverName
const { signal } = new AbortController()
const kubeletFolder = (up: RealUp): string => join(up.podsFolder, '..')

/** A cluster whose node has the driver. */
async function startNode() {
  const stack = new AsyncDisposableStack()
  const up = stack.use(await startRealUp())
  const registrationSocket = join(kubeletFolder(up), 'plugins_registry', 'driver-reg.sock')
  const driver = stack.use(await startCsiDriver({ registrationSocket, config: { mustAttach: false } }))
  await up.apply({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: driverName },
    spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Persistent', 'Ephemeral'] },
  })
  const names = 'jsonpath={.items[*].spec.drivers[*].name}'
  await until(async () => (await up.k(['get', 'csinodes', '-o', names])) === driverName)
  return { up, driver, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Creates a volume of the driver, as its provisioner would, with a claim of the same name. */
async function provide(up: RealUp, driver: DriverProcess, name: string, isBlock = false): Promise<void> {
  const calls = grpcCsiDrivers({ http2: nodeHttp2, clock: realClock }).open(driver.csiSocket)
  const kind = isBlock ? { block: {} } : { mount: {} }
  const volumeCapabilities = [{ ...kind, accessMode: { mode: 'SINGLE_NODE_WRITER' } }] as const
  const capacityRange = { requiredBytes: 8 << 20 }
  const request = { name, volumeCapabilities, capacityRange }
  const created = await calls.call(controllerService.createVolume, request, signal)
  calls.close()
  const mode = isBlock ? { volumeMode: 'Block' } : {}
  const csi = { driver: driverName, volumeHandle: created.volume?.volumeId ?? '', fsType: 'ext4' }
  await up.apply(volume(name, { ...mode, csi }), claim(name, mode))
  await bind(up, name)
}

/** Makes a volume larger, as the driver's resizer would. */
async function grow(up: RealUp, driver: DriverProcess, name: string, mebibytes: number): Promise<void> {
  const calls = grpcCsiDrivers({ http2: nodeHttp2, clock: realClock }).open(driver.csiSocket)
  const volumeId = await up.k(['get', 'pv', name, '-o', 'jsonpath={.spec.csi.volumeHandle}'])
  const request = { volumeId, capacityRange: { requiredBytes: mebibytes << 20 } }
  await calls.call(controllerService.controllerExpandVolume, request, signal)
  calls.close()
  const storage = (size: string) => ({ capacity: { storage: size } })
  const shown = JSON.stringify({ status: storage('8Mi') })
  await up.k(['patch', 'pvc', name, '--subresource=status', '--type=merge', '-p', shown])
  await up.k(['patch', 'pv', name, '--type=merge', '-p', JSON.stringify({ spec: storage(`${mebibytes}Mi`) })])
}

const podOf = (
  up: RealUp,
  name: string,
  source: object,
  use: object = { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    securityContext: { fsGroup: 2000 },
    containers: [{ name: 'c', image: up.image, ...use }],
    volumes: [{ name: 'v', ...source }],
  },
})
const claimed = (claimName: string) => ({ persistentVolumeClaim: { claimName } })

const ready = (up: RealUp, ...pods: readonly string[]) =>
  up
    .k(['wait', ...pods.map((pod) => `pod/${pod}`), '--for=condition=Ready', '--timeout=200s'])
    .catch(async (error: unknown) => {
      throw new Error(await up.k(['get', 'events']), { cause: error })
    })

/** Waits until nothing of any volume is on the machine. */
async function untilClean(up: RealUp): Promise<void> {
  const folder = kubeletFolder(up)
  const staged = join(folder, 'plugins', 'kubernetes.io', 'csi', driverName)
  await until(() =>
    Promise.resolve(
      hostMounts().every(({ path }) => !path.startsWith(`${folder}/p`)) &&
        readdirSync(up.podsFolder).length === 0 &&
        (!existsSync(staged) || readdirSync(staged).length === 0),
    ),
  )
}

inNamespaces(import.meta.url, () => {
  test('data of a volume survives pods, the driver and the kubelet, and nothing is left of its mounts', async () => {
    await using node = await startNode()
    const { up, driver } = node
    await provide(up, driver, 'data')
    await up.apply(podOf(up, 'writer', claimed('data')), podOf(up, 'reader', claimed('data')))
    await ready(up, 'writer', 'reader')
    const content = 'x'.repeat(100_000)
    const sum = createHash('md5').update(content).digest('hex')
    await up.sh('writer', `/bin/busybox yes x | /bin/busybox head -n 100000 | /bin/busybox tr -d '\\n' > /v/file`)
    match(await up.sh('reader', '/bin/busybox md5sum /v/file'), new RegExp(`^${sum} `))
    equal(await up.sh('reader', '/bin/busybox stat -c %g /v'), '2000\n')

    await driver.kill()
    await up.crash()
    match(await up.sh('reader', '/bin/busybox md5sum /v/file'), new RegExp(`^${sum} `))
    await up.endContainer('reader')
    await until(async () => {
      const count = 'jsonpath={.status.containerStatuses[0].restartCount}'
      return Number(await up.k(['get', 'pod', 'reader', '-o', count])) > 0
    })
    await ready(up, 'reader')
    match(await up.sh('reader', '/bin/busybox md5sum /v/file'), new RegExp(`^${sum} `))

    await up.k(['delete', 'pod', '--all', '--timeout=200s'])
    await untilClean(up)

    // The volume grows before the next pod starts, so that its file system is expanded before the pod uses it.
    await grow(up, driver, 'data', 16)
    await up.apply(podOf(up, 'later', claimed('data')))
    await ready(up, 'later')
    equal(await up.k(['get', 'pvc', 'data', '-o', 'jsonpath={.status.capacity.storage}']), '16Mi')
    match(await up.k(['get', 'events']), /FileSystemResizeSuccessful/)
    match(await up.sh('later', '/bin/busybox md5sum /v/file'), new RegExp(`^${sum} `))
    await up.k(['delete', 'pod', 'later', '--timeout=200s'])
    await untilClean(up)
    const records = driver.records()
    deepEqual([records.staged, records.published], [[], []])
  })

  test('the driver exits before and after each call: the pod runs, and nothing is left', async () => {
    await using node = await startNode()
    const { up, driver } = node
    await provide(up, driver, 'data')
    const methods = ['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume']
    for (const method of methods)
      for (const when of ['before', 'after'] as const) {
        driver.inject({ method, when, action: { kind: 'exit' }, times: 1 })
        await up.apply(podOf(up, 'p', claimed('data')))
        await ready(up, 'p')
        await up.sh('p', `echo ${method} >> /v/log`)
        await up.k(['delete', 'pod', 'p', '--timeout=200s'])
        await untilClean(up)
      }
    await up.apply(podOf(up, 'p', claimed('data')))
    await ready(up, 'p')
    equal((await up.sh('p', 'cat /v/log')).trim().split('\n').length, 8, 'every pod has used the same volume')
  })

  test('a volume of a pod and a raw block volume', async () => {
    await using node = await startNode()
    const { up, driver } = node
    await provide(up, driver, 'raw', true)
    await up.apply(
      podOf(up, 'inline', { csi: { driver: driverName } }),
      podOf(up, 'block', claimed('raw'), { volumeDevices: [{ name: 'v', devicePath: '/dev/xvda' }] }),
    )
    await ready(up, 'inline', 'block')
    equal(await up.sh('inline', 'echo fine > /v/file && cat /v/file'), 'fine\n')
    await up.sh('block', 'echo written | /bin/busybox dd of=/dev/xvda conv=notrunc 2>/dev/null')
    equal(await up.sh('block', '/bin/busybox head -c 8 /dev/xvda'), 'written\n')
    await up.k(['delete', 'pod', '--all', '--timeout=200s'])
    await untilClean(up)
  })
})
