// The operations of concurrent clients are linearizable: on every driver, and through kills.
import { equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { realClock } from '../../src/base/time/clock.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { nodeWorkers } from '../../src/platform/node/process/workers.ts'
import { MemoryStore } from '../../src/store/memory-store.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { EtcdCluster, etcds, newestEtcd } from '../etcd.ts'
import { until } from '../until.ts'
import { isLinearizable } from '../histories/linearizable.ts'
import { OperationHistory, register, type RegisterAction, type RegisterOperation } from './register-history.ts'
import { registerLoad } from './register-load.ts'

const { signal } = new AbortController()
const kills = process.env['COXSWAIN_LONG'] === '1' ? 40 : 4
const operationsPerRunMax = 300
const program = fileURLToPath(new URL('./register-writer.ts', import.meta.url))

const operation = (
  invoked: number,
  returned: number,
  action: RegisterAction,
  uncertain = false,
): RegisterOperation => ({ invoked, returned, action, uncertain })
const write = (value: string) => ({ kind: 'write', value }) as const
const read = (value: string) => ({ kind: 'read', value }) as const

const histories: readonly [name: string, possible: boolean, history: RegisterOperation[]][] = [
  ['reads what was written', true, [operation(0, 1, write('x')), operation(2, 3, read('x'))]],
  ['reads something older', false, [operation(0, 1, write('x')), operation(2, 3, read('-'))]],
  ['reads either while it is written', true, [operation(0, 3, write('x')), operation(1, 2, read('-'))]],
  ['reads new, then old', false, [operation(0, 5, write('x')), operation(1, 2, read('x')), operation(3, 4, read('-'))]],
  [
    'two swaps of one value succeed',
    false,
    [
      operation(0, 2, { kind: 'swap', from: '-', to: 'x', swapped: true }),
      operation(1, 3, { kind: 'swap', from: '-', to: 'y', swapped: true }),
    ],
  ],
  ['a killed write happened', true, [operation(0, 1, write('x'), true), operation(2, 3, read('x'))]],
  ['a killed write did not happen', true, [operation(0, 1, write('x'), true), operation(2, 3, read('-'))]],
  [
    'a killed write happens after the restart',
    false,
    [operation(0, 1, write('x'), true), operation(2, 3, read('-')), operation(4, 5, read('x'))],
  ],
  [
    'a write without a result happens late',
    true,
    [operation(0, Infinity, write('x'), true), operation(2, 3, read('-')), operation(4, 5, read('x'))],
  ],
  [
    'a write without a result happens and is undone',
    false,
    [operation(0, Infinity, write('x'), true), operation(2, 3, read('x')), operation(4, 5, read('-'))],
  ],
]
for (const [name, possible, history] of histories)
  test(`the checker: ${name}: ${possible ? 'possible' : 'impossible'}`, () =>
    equal(isLinearizable(history, register), possible))

function check({ histories: byKey }: OperationHistory): void {
  ok(byKey.size > 0)
  for (const [key, history] of byKey) ok(isLinearizable(history, register), `${key} is not linearizable`)
}

async function checkInProcess(store: Store): Promise<void> {
  const record = new OperationHistory()
  const say = (line: string) => record.add(line)
  await registerLoad({ store, random: seededRandom(7), run: '0', operationsPerClient: 200, say })
  check(record)
  await store.close()
}

test('memory is linearizable', () => checkInProcess(new MemoryStore(new VirtualClock())))

test('sqlite is linearizable', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-linear-'))
  await checkInProcess(
    await SqliteStore.open({ path: join(directory, 'store.db'), clock: realClock, workers: nodeWorkers }, signal),
  )
  await rm(directory, { recursive: true })
})

test(`sqlite is linearizable through ${kills} kills`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-linear-'))
  const random = seededRandom(kills)
  const record = new OperationHistory()
  for (let run = 0; run < kills; run++) {
    const target = record.ended + 1 + random.below(operationsPerRunMax)
    const args = [program, join(directory, 'store.db'), String(run)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    for await (const line of createInterface({ input: child.stdout })) {
      record.add(line)
      if (record.ended === target) child.kill('SIGKILL')
    }
    await exited
    ok(record.ended >= target, 'the clients ended by themselves')
    record.kill()
  }
  check(record)
  await rm(directory, { recursive: true })
})

for (const etcd of etcds())
  test(`etcd ${etcd.version} is linearizable`, async () => {
    await using cluster = await EtcdCluster.start(etcd, 1)
    await checkInProcess(await cluster.openStore())
  })

// Two stores on three members that are killed one after the other; the operations of both form one history. Each round
// has its own history: ambiguous operations make a long one too expensive to check.
const killsPerRound = 4
for (let round = 0; round < kills / killsPerRound; round++)
  test(`etcd is linearizable through ${killsPerRound} kills of members, round ${round}`, async () => {
    await using cluster = await EtcdCluster.start(newestEtcd(), 3)
    await using closing = new AsyncDisposableStack()
    const stores = await Promise.all([cluster.openStore(), cluster.openStore()])
    for (const store of stores) closing.defer(() => store.close())
    const record = new OperationHistory()
    const load = (store: Store, index: number) =>
      registerLoad({
        store,
        random: seededRandom(round * 2 + index),
        run: String(index),
        operationsPerClient: killsPerRound * 60,
        say: (line) => record.add(`${index}${line}`),
        pause: () => realClock.sleep(50, signal),
      })
    const done = new AbortController()
    const loading = Promise.all(stores.map(load)).finally(() => done.abort())
    const random = seededRandom(round + killsPerRound)
    let killed = 0
    for (; !done.signal.aborted && killed < killsPerRound; killed++) {
      const target = record.ended + 1 + random.below(operationsPerRunMax)
      await until(() => done.signal.aborted || record.ended >= target)
      const victim = random.below(2) === 0 ? await cluster.leader() : random.below(3)
      await cluster.signal(victim, 'SIGKILL')
      const survived = record.ended + 20
      await until(() => done.signal.aborted || record.ended >= survived)
      cluster.run(victim)
      await cluster.ready()
    }
    await loading
    ok(killed > 0, 'no member was killed while clients worked')
    check(record)
  })
