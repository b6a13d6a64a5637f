// The removal of what a node has changed, with programs that only record what they are asked to do.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { recordedPrograms } from './recorded-programs.harness.ts'
import { removeNetworkThrough } from './remove-node-network.ts'

const called = context(new AbortController().signal)

test('the removal covers the rules of Services, the paths to other nodes and the bridge', async () => {
  const programs = recordedPrograms()
  await removeNetworkThrough(programs.processes, new VirtualClock(), called.signal)
  match(programs.transactions[0] ?? '', /delete table inet coxswain-proxy/)
  match(programs.transactions[1] ?? '', /delete table inet coxswain-policy/)
  match(programs.transactions[2] ?? '', /delete table inet coxswain-host-ports/)
  match(programs.transactions[3] ?? '', /delete table inet coxswain-node/)
  const deleted = programs.commands.filter((command) => command.startsWith('ip link delete'))
  deepEqual(deleted, ['ip link delete coxswain-vx', 'ip link delete coxswain0'])
  equal(programs.running(), 0)
})

test('a failure to remove the rules is an error, and nft ends', async () => {
  const programs = recordedPrograms(['Error: Operation not permitted'])
  const removed = removeNetworkThrough(programs.processes, new VirtualClock(), called.signal)
  await rejects(removed, /cannot remove the rules of Services: Operation not permitted/)
  deepEqual(programs.commands, [])
  equal(programs.running(), 0)
})
