// Three API servers and three members of etcd on machines of their own, which are killed, hang, are cut off (fully and one way)
// and have a slow link, one after the other: clients lose nothing, watches have no gap and no duplicate. With two members down,
// writes fail with a clear error and cached reads continue, and all is back when one returns. COXSWAIN_LONG=1: for 30 minutes;
// COXSWAIN_SEED repeats a run's choices.
import { equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { seededRandom, systemRandom, type Random } from '../../src/base/random/random.ts'
import { ApiServers } from '../api-servers.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { until } from '../until.ts'
import { checkRounds, type Fault } from './check-rounds.ts'
import { Machines, type Cut, type Machine } from './machines.ts'
import { ServerCalls } from './server-calls.ts'

const isLong = process.env['COXSWAIN_LONG'] === '1'
const durationMs = 30 * 60_000
const testMsMax = isLong ? 2 * durationMs : 600_000
const members = 3
const servers = 3
const faultMs = isLong ? { min: 1_000, spread: 20_000 } : { min: 500, spread: 1_500 }
const seed = Number(process.env['COXSWAIN_SEED'] ?? systemRandom.below(2 ** 31))
/** The address of the clients. */
const clientAddress = '10.99.0.1'

const { signal } = new AbortController()

interface World {
  readonly etcd: EtcdCluster
  readonly apiServers: ApiServers
  readonly calls: readonly ServerCalls[]
  readonly memberMachines: readonly Machine[]
  readonly serverMachines: readonly Machine[]
}

const pick = <T>(items: readonly T[], random: Random): T => items[random.below(items.length)] as T
const lasting = (random: Random) => realClock.sleep(faultMs.min + random.below(faultMs.spread), signal)

function faultsOf({ etcd, apiServers, calls, memberMachines, serverMachines }: World): readonly Fault[] {
  const all = [clientAddress, ...[...memberMachines, ...serverMachines].map(({ address }) => address)]
  const cutOff = (machines: readonly Machine[], how: Cut): Fault => {
    return async (random) => {
      const machine = pick(machines, random)
      await machine.cut(
        how,
        all.filter((address) => address !== machine.address),
      )
      await lasting(random)
      notEqual(await machine.dropped(), 0)
      await machine.heal()
    }
  }
  return [
    async (random) => {
      const server = random.below(servers)
      await apiServers.end(server, 'SIGKILL')
      await apiServers.run(server)
    },
    async (random) => {
      const server = random.below(servers)
      apiServers.signal(server, 'SIGSTOP')
      await lasting(random)
      apiServers.signal(server, 'SIGCONT')
    },
    async (random) => {
      const member = random.below(members)
      await etcd.signal(member, 'SIGSTOP')
      await lasting(random)
      await etcd.signal(member, 'SIGCONT')
    },
    cutOff(memberMachines, 'full'),
    cutOff(memberMachines, 'one way'),
    cutOff(serverMachines, 'full'),
    cutOff(serverMachines, 'one way'),
    async (random) => {
      const machine = pick([...memberMachines, ...serverMachines], random)
      await machine.slow()
      await lasting(random)
      await machine.heal()
    },
    async (random) => {
      const survivor = random.below(members)
      const down = Array.from({ length: members }, (_, member) => member).filter((member) => member !== survivor)
      for (const member of down) await etcd.signal(member, 'SIGKILL')
      for (const server of calls) await failsClearly(server)
      const [first, ...rest] = down as [number, ...number[]]
      etcd.run(first)
      for (const server of calls) await until(() => server.isWritable())
      for (const member of rest) etcd.run(member)
      await etcd.ready()
    },
  ]
}

/** Writes get a response that says why they failed; cached reads are served. */
async function failsClearly(server: ServerCalls): Promise<void> {
  let message = ''
  await until(async () => {
    const response = await server.probe()
    notEqual(response, 'lost', 'a write had no response within its deadline')
    if (typeof response === 'string' || response.status !== 503) return false
    message = (response.body as { readonly message: string }).message
    return true
  })
  match(message, /etcd/)
  equal(await server.cachedListStatus(), 200)
}

inNamespaces(
  import.meta.url,
  () =>
    void test(
      `members, servers and the network between them fail in turns, seed ${seed}`,
      { timeout: testMsMax },
      async () => {
        await using machines = await Machines.start(members + servers)
        const memberMachines = machines.all.slice(0, members)
        const serverMachines = machines.all.slice(members)
        await using etcd = await EtcdCluster.start(newestEtcd(), members, memberMachines)
        await using apiServers = await ApiServers.start(etcd, servers, serverMachines)
        await using stack = new AsyncDisposableStack()
        const calls = Array.from({ length: servers }, (_, index) =>
          stack.use(new ServerCalls(apiServers.kubeconfig(index))),
        )
        const faults = faultsOf({ etcd, apiServers, calls, memberMachines, serverMachines })
        const endMs = realClock.monotonicMs() + durationMs
        await checkRounds({
          servers: calls,
          seed,
          random: seededRandom(seed),
          faults,
          clients: 12,
          callsPerRound: 900,
          partsPerRound: faults.length,
          continues: (completed) => (isLong ? realClock.monotonicMs() < endMs : completed < 1),
        })
      },
    ),
  testMsMax,
)
