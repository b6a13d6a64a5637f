// What clients observe through three API servers on one etcd is linearizable, and no watch has a gap or a duplicate, while
// processes are killed and hang. COXSWAIN_LONG=1: 50,000 calls with three members of etcd; COXSWAIN_SEED repeats a
// run's choices; COXSWAIN_HISTORIES=<folder> keeps the histories, in the formats of docs/histories.md.
import { test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { seededRandom, systemRandom, type Random } from '../../src/base/random/random.ts'
import { ApiServers } from '../api-servers.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { checkRounds, type Fault } from './check-rounds.ts'
import { ServerCalls } from './server-calls.ts'

const isLong = process.env['COXSWAIN_LONG'] === '1'
const rounds = isLong ? 25 : 1
const callsPerRound = 2_000
const members = isLong ? 3 : 1
const hangMsMax = isLong ? 20_000 : 1_000
const seed = Number(process.env['COXSWAIN_SEED'] ?? systemRandom.below(2 ** 31))

const { signal } = new AbortController()

/** Each kills one process, or makes it hang, and ends the fault. */
function faultsOf(etcd: EtcdCluster, servers: ApiServers): readonly Fault[] {
  const hang = (random: Random) => realClock.sleep(random.below(hangMsMax), signal)
  return [
    async (random) => {
      const server = random.below(servers.size)
      await servers.end(server, 'SIGKILL')
      await servers.run(server)
    },
    async (random) => {
      const server = random.below(servers.size)
      servers.signal(server, 'SIGSTOP')
      await hang(random)
      servers.signal(server, 'SIGCONT')
    },
    async (random) => {
      const member = random.below(members)
      await etcd.signal(member, 'SIGKILL')
      etcd.run(member)
      await etcd.ready()
    },
    async (random) => {
      const member = random.below(members)
      await etcd.signal(member, 'SIGSTOP')
      await hang(random)
      await etcd.signal(member, 'SIGCONT')
    },
  ]
}

test(
  `${rounds * callsPerRound} calls through three API servers are linearizable, seed ${seed}`,
  { timeout: isLong ? 3_600_000 : 600_000 },
  async () => {
    await using etcd = await EtcdCluster.start(newestEtcd(), members)
    await using servers = await ApiServers.start(etcd, 3)
    await using stack = new AsyncDisposableStack()
    const calls = Array.from({ length: servers.size }, (_, index) =>
      stack.use(new ServerCalls(servers.kubeconfig(index))),
    )
    await checkRounds({
      servers: calls,
      seed,
      random: seededRandom(seed),
      faults: faultsOf(etcd, servers),
      clients: 12,
      callsPerRound,
      partsPerRound: 5,
      continues: (completed) => completed < rounds,
    })
  },
)
