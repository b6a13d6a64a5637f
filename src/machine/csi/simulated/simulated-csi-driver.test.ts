// The contract on the simulated driver, and what only several simulated nodes show.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../../base/time/clock.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { controllerService, identityService } from '../methods.ts'
import { csiDriverContract } from '../contract/csi-driver-contract.suite.ts'
import { SimulatedStorage } from './simulated-csi-driver.ts'
import type { SimulatedMount } from './simulated-mounts.ts'

const { signal } = new AbortController()

csiDriverContract('simulated', ({ config = {}, ...node } = {}) => {
  const storage = new SimulatedStorage({ clock: realClock, ...config })
  const table = new Map<string, SimulatedMount>()
  const driver = storage.driverOf({ id: 'node-1', ...node, mounts: table, endpoint: '/csi.sock' })
  const mountAt = (path: string) => {
    const found = table.get(path)
    if (found === undefined) throw new Error(`nothing is mounted at ${path}`)
    return found
  }
  return Promise.resolve({
    driver,
    registrar: driver,
    pathOf: (name) => `/${name}`,
    write(path, name, text) {
      const { root, isReadOnly } = mountAt(path)
      if (isReadOnly) return Promise.reject(new Error(`${path} is read-only`))
      const content = new TextEncoder().encode(text)
      if (root.kind === 'file') root.content = content
      else root.entries.set(name, { kind: 'file', mode: 0o644, content })
      return Promise.resolve()
    },
    read(path, name) {
      const { root } = mountAt(path)
      const file = root.kind === 'file' ? root : root.entries.get(name)
      return Promise.resolve(file?.kind === 'file' ? new TextDecoder().decode(file.content as Uint8Array) : undefined)
    },
    inject: (...faults) => storage.inject(...faults),
    calls: () => storage.calls,
    restarted: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(driver.close()),
  })
})

const capability = (mode: 'SINGLE_NODE_WRITER' | 'MULTI_NODE_MULTI_WRITER') => ({ mount: {}, accessMode: { mode } })

test('a volume is attached to one node at a time unless it is shared', async () => {
  const storage = new SimulatedStorage({ clock: realClock })
  const [driver] = ['a', 'b'].map((id) => storage.driverOf({ id }))
  if (driver === undefined) return
  const attach = (volumeId: string, nodeId: string, mode: Parameters<typeof capability>[0]) =>
    driver.call(
      controllerService.controllerPublishVolume,
      { volumeId, nodeId, volumeCapability: capability(mode) },
      signal,
    )
  for (const name of ['own', 'shared'])
    await driver.call(
      controllerService.createVolume,
      { name, volumeCapabilities: [capability('SINGLE_NODE_WRITER')] },
      signal,
    )
  await attach('own', 'a', 'SINGLE_NODE_WRITER')
  await rejects(attach('own', 'b', 'SINGLE_NODE_WRITER'), /FAILED_PRECONDITION: volume own is attached to node a/)
  for (const node of ['a', 'b']) await attach('shared', node, 'MULTI_NODE_MULTI_WRITER')
  await rejects(attach('shared', 'c', 'MULTI_NODE_MULTI_WRITER'), /NOT_FOUND/)
  deepEqual(Object.keys(storage.records.volumes.get('shared')?.attachments ?? {}), ['a', 'b'])
  await driver.call(controllerService.controllerUnpublishVolume, { volumeId: 'shared' }, signal)
  deepEqual(storage.records.volumes.get('shared')?.attachments, {})
})

test('a volume is not attached to a node from which it is not accessible', async () => {
  const storage = new SimulatedStorage({ clock: realClock })
  const [driver] = ['a', 'b'].map((id) => storage.driverOf({ id, topology: { zone: id } }))
  await driver?.call(
    controllerService.createVolume,
    { name: 'v', volumeCapabilities: [capability('SINGLE_NODE_WRITER')] },
    signal,
  )
  const request = { volumeId: 'v', nodeId: 'b', volumeCapability: capability('SINGLE_NODE_WRITER') }
  await rejects(
    driver?.call(controllerService.controllerPublishVolume, request, signal) ?? Promise.resolve(),
    /FAILED_PRECONDITION: volume v is not accessible from node b/,
  )
})

test('calls take time, a driver that exited is unavailable for a while, and a snapshot becomes ready', async () => {
  const clock = new VirtualClock()
  const storage = new SimulatedStorage({ clock, callMs: 100, restartMs: 5_000, snapshotReadyMs: 60_000 })
  const driver = storage.driverOf({ id: 'a' })
  const outcome = async (call: Promise<unknown>) => {
    const settled = call.then(
      () => 'OK',
      (error: unknown) => String(error),
    )
    await clock.advance(100)
    return settled
  }
  const probe = () => driver.call(identityService.probe, {}, signal)
  const startMs = clock.nowMs()
  equal(await outcome(probe()), 'OK')
  equal(clock.nowMs() - startMs, 100)
  storage.inject({ method: 'Probe', when: 'before', action: { kind: 'exit' }, times: 1 })
  const first = outcome(probe())
  const second = probe().catch(String)
  equal(await first, 'GrpcError: /csi.v1.Identity/Probe: UNAVAILABLE: the driver exited')
  equal(await second, 'GrpcError: /csi.v1.Identity/Probe: UNAVAILABLE: the driver exited')
  equal(await outcome(probe()), 'GrpcError: /csi.v1.Identity/Probe: UNAVAILABLE: the driver is not running')
  await clock.advance(5_000)
  equal(await outcome(probe()), 'OK')
  const create = { name: 'v', volumeCapabilities: [capability('SINGLE_NODE_WRITER')] }
  equal(await outcome(driver.call(controllerService.createVolume, create, signal)), 'OK')
  const isReady = async () => {
    const call = driver.call(controllerService.createSnapshot, { name: 's', sourceVolumeId: 'v' }, signal)
    await clock.advance(100)
    return (await call).snapshot?.readyToUse
  }
  equal(await isReady(), false)
  await clock.advance(60_000)
  equal(await isReady(), true)
  storage.inject({ method: '*', when: 'before', action: { kind: 'hang' } })
  storage.removeFaults()
  equal(await outcome(probe()), 'OK')
})
