// The contract of CSI drivers on the driver process, with real mounts and loop devices. Mounts are private to the test.
import { deepEqual, equal } from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { grpcCsiDrivers } from '../../src/machine/csi/grpc-csi-drivers.ts'
import { controllerService } from '../../src/machine/csi/methods.ts'
import { csiDriverContract } from '../../src/machine/csi/contract/csi-driver-contract.suite.ts'
import type { DriverUnderTest, UnderTestOptions } from '../../src/machine/csi/contract/driver-under-test.harness.ts'
import { nodeHttp2 } from '../../src/platform/node/http/http2-client.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { startCsiDriver } from './driver-process.ts'

const { signal } = new AbortController()
const drivers = grpcCsiDrivers({ http2: nodeHttp2, clock: realClock })

async function start(options: UnderTestOptions = {}): Promise<DriverUnderTest> {
  const process = await startCsiDriver(options)
  const [driver, registrar] = [process.csiSocket, process.registrationSocket].map((path) => drivers.open(path))
  if (driver === undefined || registrar === undefined) throw new Error('unreachable')
  // A block volume is read and written at its start.
  const fileOf = (path: string, name: string) => (name === '' ? path : join(path, name))
  return {
    driver,
    registrar,
    pathOf: (name) => join(process.folder, name),
    async write(path, name, text) {
      await writeFile(fileOf(path, name), text, { flag: name === '' ? 'r+' : 'w' })
    },
    async read(path, name) {
      const bytes = await readFile(fileOf(path, name))
      const end = bytes.indexOf(0)
      return bytes.subarray(0, end < 0 ? bytes.length : end).toString()
    },
    inject: (...faults) => process.inject(...faults),
    calls: () => process.calls(),
    restarted: () => process.started(2),
    async [Symbol.asyncDispose]() {
      driver.close()
      registrar.close()
      await process[Symbol.asyncDispose]()
    },
  }
}

inNamespaces(import.meta.url, () => {
  csiDriverContract('process', start)

  test('a killed driver is started again with its records, and leaves nothing behind after deletion', async () => {
    await using process = await startCsiDriver()
    const driver = drivers.open(process.csiSocket)
    const volumeCapabilities = [{ mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } }] as const
    await driver.call(controllerService.createVolume, { name: 'v', volumeCapabilities }, signal)
    await process.kill()
    equal(process.starts, 2)
    deepEqual(
      process.records().volumes.map(([id]) => id),
      ['v'],
    )
    await driver.call(controllerService.deleteVolume, { volumeId: 'v' }, signal)
    deepEqual(await process.leftovers(), [])
    driver.close()
  })
})
