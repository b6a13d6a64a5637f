import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../base/async/task-group.ts'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { CSIDriver } from '../../api/storage/v1/csi-driver.ts'
import type { CsiDriver } from '../../machine/csi/csi-driver.ts'
import { withLimit } from './csi-node-entries.ts'
import { CsiRegistry } from './csi-registry.ts'
import { DriverLimits } from './driver-limits.ts'

function startLimits() {
  const clock = new VirtualClock()
  const registry = new CsiRegistry()
  const tasks = new TaskGroup()
  const written: number[] = []
  const seen = { period: undefined as bigint | undefined, limit: 5, calls: 0, isBroken: false }
  const driver = {
    call: () => {
      seen.calls++
      if (seen.isBroken) return Promise.reject(new Error('no answer'))
      return Promise.resolve({ nodeId: 'n', maxVolumesPerNode: seen.limit })
    },
    close: () => {},
  } as unknown as CsiDriver
  const csiDriver = () =>
    Promise.resolve({ spec: { nodeAllocatableUpdatePeriodSeconds: seen.period } } as unknown as CSIDriver)
  const csiNode = { setLimit: (_: string, limit: number) => Promise.resolve(void written.push(limit)) }
  const limits = new DriverLimits({ registry, csiNode, csiDriver, clock, log: silentLog })
  tasks.start('limits', (signal) => limits.run(signal))
  const register = () => registry.add({ name: 'd', endpoint: '/e', version: '1.0.0', driver })
  return { clock, registry, written, seen, register, [Symbol.asyncDispose]: () => tasks[Symbol.asyncDispose]() }
}

test('the limit of a driver is read again in its period', async () => {
  await using found = startLimits()
  found.seen.period = 30n
  await found.clock.settle()
  found.register()
  await found.clock.advance('29s')
  deepEqual(found.written, [], 'the registration has read the limit')
  await found.clock.advance('1s')
  found.seen.limit = 7
  await found.clock.advance('30s')
  deepEqual(found.written, [5, 7])
})

test('a driver without a period is not asked, until it has one', async () => {
  await using found = startLimits()
  await found.clock.settle()
  found.register()
  await found.clock.advance('5m')
  equal(found.seen.calls, 0)
  found.seen.period = 10n
  await found.clock.advance('70s')
  deepEqual(found.written, [5])
})

test('a driver that does not answer is asked again, and one that is gone is not', async () => {
  await using found = startLimits()
  Object.assign(found.seen, { period: 10n, isBroken: true })
  await found.clock.settle()
  found.register()
  found.register()
  await found.clock.advance('10s')
  equal(found.seen.calls, 1, 'a driver that registers twice is asked once')
  found.seen.isBroken = false
  await found.clock.advance('70s')
  deepEqual(found.written, [5])
  found.registry.remove('d')
  await found.clock.advance('5m')
  deepEqual(found.written, [5])
  found.register()
  await found.clock.advance('10s')
  deepEqual(found.written, [5, 5])
})

test('a limit changes only the entry of its driver', () => {
  const drivers = [
    { name: 'd', nodeID: 'n', allocatable: { count: 3 } },
    { name: 'e', nodeID: 'n' },
  ]
  deepEqual(withLimit(drivers, 'd', 0), [{ name: 'd', nodeID: 'n' }, drivers[1]])
  deepEqual(withLimit(drivers, 'e', 2), [drivers[0], { name: 'e', nodeID: 'n', allocatable: { count: 2 } }])
  deepEqual(withLimit(drivers, 'other', 2), drivers)
})
