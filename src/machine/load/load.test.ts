import { equal } from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { hostLoadContract } from './host-load-contract.suite.ts'
import { NodeHostLoad } from './node-host-load.ts'
import { SimulatedHostLoad } from './simulated-host-load.ts'

hostLoadContract('simulated', new SimulatedHostLoad(), '/')
hostLoadContract('host', new NodeHostLoad(), tmpdir())

test('a simulated machine has the load that was set', async () => {
  const load = new SimulatedHostLoad()
  load.set({ memoryAvailableBytes: 5 })
  equal((await load.memory()).availableBytes, 5)
})
