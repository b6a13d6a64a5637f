import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { createLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { TransactionResult } from './nftables.ts'
import { SimulatedNftables } from './simulated-nftables.ts'
import { removeTable, TableSync } from './table-sync.ts'

const applied: TransactionResult = { kind: 'applied' }
const failed: TransactionResult = { kind: 'failed', messages: ['busy'] }
const presenceCommands = [commandText`presence`]
const probeCommands = [commandText`probe one`, commandText`probe two`]
const intact: TransactionResult = { kind: 'failed', messages: ['busy', 'busy'] }

/** A table whose content is the number of changes. */
function newSync() {
  const clock = new VirtualClock()
  const nftables = new SimulatedNftables()
  /** What the kernel responds to content, to the check of presence and to the probe. */
  const kernel = { content: applied, presence: applied, probe: intact, learned: [] as readonly CommandText[] }
  nftables.respond = (commands) =>
    commands === presenceCommands ? kernel.presence : commands === probeCommands ? kernel.probe : kernel.content
  const lines: string[] = []
  const log = createLog({
    clock,
    write: (line) => lines.push((JSON.parse(line) as { message: string }).message),
    format: 'json',
    level: 'info',
  })
  const finished: string[] = []
  let changes = 0
  let checks = 0
  const sync = new TableSync(
    {
      subject: 'tests',
      presenceCommands,
      probeCommands,
      next: (isFull) => ({
        commands: isFull ? [commandText`all ${changes}`] : changes === 0 ? [] : [commandText`changed ${changes}`],
        isFull,
        learned: () => Promise.resolve(kernel.learned),
        finish: (result, needsFullSync) =>
          void finished.push(`${result.kind}${needsFullSync ? ', needs a full sync' : ''}`),
      }),
      beforeCheck: () => Promise.resolve(void checks++),
    },
    { nftables, clock, log },
  )
  const tasks = new TaskGroup()
  tasks.start('sync', (signal) => sync.run(signal))
  const change = () => {
    changes++
    sync.queue()
  }
  const content = () =>
    nftables.transactions.filter((commands) => commands !== presenceCommands && commands !== probeCommands).flat()
  return { clock, kernel, lines, finished, sync, tasks, change, content, checks: () => checks }
}

test('all content is applied first, then changes; those of one turn together', async () => {
  const { clock, sync, tasks, change, content, finished } = newSync()
  await using _tasks = tasks
  await clock.settle()
  await sync.synced
  change()
  change()
  await clock.settle()
  deepEqual(content(), ['all 0', 'changed 2'])
  deepEqual(finished, ['applied', 'applied'])
})

test('after a failure all content is applied, with a growing delay', async () => {
  const { clock, kernel, tasks, change, content, lines, finished } = newSync()
  await using _tasks = tasks
  await clock.settle()
  kernel.content = failed
  change()
  await clock.settle()
  await clock.advance(250)
  deepEqual(content(), ['all 0'])
  kernel.content = applied
  await clock.advance(100)
  deepEqual(content(), ['all 0', 'all 1'])
  deepEqual(finished, ['applied', 'failed, needs a full sync', 'failed, needs a full sync', 'applied'])
  deepEqual(lines, ['cannot apply the rules of tests', 'cannot apply the rules of tests'])
})

for (const [what, lost] of [
  ['is missing', { presence: failed }],
  ['is incomplete', { probe: applied }],
  ['is incomplete in part', { probe: failed }],
] as const)
  test(`a table that ${what} is restored`, async () => {
    const { clock, kernel, tasks, content, lines, checks } = newSync()
    await using _tasks = tasks
    await clock.advance(6_000)
    equal(content().length, 1)
    equal(checks() > 10, true)
    Object.assign(kernel, lost)
    await clock.advance(5_000)
    equal(content().includes('all 0', 1), true)
    equal(lines[0], 'the rules of tests were changed by another program; they are restored')
  })

test('what the kernel has learned is part of all content, unless that has failed', async () => {
  const { clock, kernel, tasks, change, content, sync } = newSync()
  await using _tasks = tasks
  await clock.settle()
  kernel.learned = [commandText`client 1`]
  sync.queueAll()
  await clock.settle()
  change()
  await clock.settle()
  deepEqual(content(), ['all 0', 'all 0', 'client 1', 'changed 1'])
  kernel.content = failed
  sync.queueAll()
  await clock.settle()
  kernel.content = applied
  await clock.advance(1_000)
  deepEqual(content().slice(4), ['all 1'])
})

test('a full sync that is requested while changes are applied follows them', async () => {
  const { clock, sync, tasks, change, content } = newSync()
  await using _tasks = tasks
  await clock.settle()
  change()
  sync.queueAll()
  await clock.settle()
  deepEqual(content(), ['all 0', 'all 1'])
})

test('a check that cannot be made ends the work with its error', async () => {
  const { clock, sync, tasks, kernel } = newSync()
  await clock.settle()
  await sync.synced
  Object.defineProperty(kernel, 'presence', {
    get: () => {
      throw new Error('nft was stopped')
    },
  })
  await clock.advance(1_000)
  await rejects(tasks.join(), /nft was stopped/)
})

test('a stop while changes are applied is no unhandled rejection', async () => {
  const { clock, sync, tasks, change } = newSync()
  await clock.settle()
  await sync.synced
  change()
  tasks.stop()
  await tasks.join()
})

test('a table is removed, or the failure names whose rules remain', async () => {
  const nftables = new SimulatedNftables()
  nftables.respond = () => applied
  await removeTable(nftables, 'tests', [commandText`delete table inet tests`])
  deepEqual(nftables.transactions, [['delete table inet tests']])
  nftables.respond = () => failed
  await rejects(removeTable(nftables, 'tests', []), /cannot remove the rules of tests: busy/)
})
